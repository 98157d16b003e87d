"""Steps over sequences, whose body may use whatever there is outside. For converting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph import ScanOp, YieldOp
from tilework.dialects.graph.control import element_of, sequence_of
from tilework.dialects.support.shapes import dims_of
from tilework.frontends.onnx.bodies import close
from tilework.frontends.onnx.data_requirements import every
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.values import Value

MOST_UNROLLED = 16
"""Steps. More, or as many as is not known beforehand, become a scan."""

Step: TypeAlias = "Callable[[Node, Sequence[SSAValue], Sequence[SSAValue]], tuple[Sequence[Value], Sequence[Value]]]"
"""Makes the next states and new elements of the node, which emits inside, the states, and an element of each
sequence."""


def scan(
    node: Node, states: Sequence[Value], sequences: Sequence[Value], step: Step, *, reverse: bool = False
) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    """The states after the last step, and the new sequences."""
    first, over = ([node.emitter.tensor(v) for v in values] for values in (states, sequences))
    body = Block(arg_types=[*(v.type for v in first), *(element_of(v.type) for v in over)])
    inside = node.emitter.inside(body)
    stepping = node.inside(inside)
    made, elements = step(stepping, body.args[: len(first)], body.args[len(first) :])
    following = [as_before(stepping, i, v, after) for i, (v, after) in enumerate(zip(first, made, strict=True))]
    elements = [settled(v, made, following) for v in elements]
    required = [requirement.holds for requirement in inside.asked_of_data]
    end = YieldOp([inside.tensor(v) for v in (*following, *elements, *required)])
    for i, (before, after) in enumerate(zip(first, end.values, strict=False)):
        if before.type != after.type:
            raise node.error(f"state {i} is {before.type} before a step and {after.type} behind it")
    body.add_op(end)
    constants = close([body])
    steps = dims_of(over[0].type)[0]
    new = [sequence_of(v.type, steps) for v in end.values[len(first) :]]
    scan = ScanOp(first, over, constants, [*(v.type for v in first), *new], Region(body), reverse)
    try:
        scan.verify()
    except VerifyException as error:
        raise node.error(f"its body does not fit its inputs: {error}") from error
    node.emitter.insert(scan, node.title)
    sequences = scan.new_sequences[: len(elements)]
    for holds, requirement in zip(scan.new_sequences[len(elements) :], inside.asked_of_data, strict=True):
        node.emitter.ask_of_data(every(node, holds), requirement.text)
    return scan.end_states, sequences


def as_before(node: Node, i: int, state: SSAValue, following: Value) -> Value:
    """State `i` behind a step, which has the dimensions of the one before; where that is open, it is required."""
    before, after = dims_of(state.type), value_dims(following)
    if len(before) != len(after):
        return following
    what = f"its state {i} is of [{_listed(before)}] before a step and of [{_listed(after)}] behind it"
    return node.of_dims(following, before, what)


def settled(value: Value, made: Sequence[Value], following: Sequence[Value]) -> Value:
    """A value as the next state, whose sizes are known outside of the body, where it is what a state is made of."""
    return next((state for v, state in zip(made, following, strict=False) if v is value), value)


def _listed(dims: Sequence[Expr]) -> str:
    return ", ".join(map(str, dims))
