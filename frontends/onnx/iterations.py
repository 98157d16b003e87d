"""A Loop that goes on as long as data say so: a graph that is run again and again. For converting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, product
from tilework.dialects.graph import AddOp, AndOp, LessOp, WhileOp, YieldOp
from tilework.dialects.graph.control import sequence_of
from tilework.dialects.support.shapes import tensor_type
from tilework.frontends.onnx.bodies import close
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.scans import as_before, settled
from tilework.frontends.onnx.told_sizes import size_told
from tilework.frontends.onnx.values import AnyValue, Known, Value

_NUMBER = tensor_type([], i64)


class DataDecide(Exception):
    """Whether a loop goes on, or how often, is not known while importing."""


def repeat(node: Node, limit: Expr | SSAValue | None, goes_on: Value, states: Sequence[Value]) -> Sequence[Value]:
    """The last states of a Loop, and what else its body makes one after the other.

    limit: how often it runs at most: known, a number that data tell, or as often as its condition says. goes_on: its
    first condition. A loop without a known limit that makes sequences runs twice: first to count how often. Raises
    TileworkError for a body that does not fit.
    """
    if limit is None and len(node.proto.output) > len(states):
        [runs, *_] = _run(node, None, goes_on, states, makes_sequences=False)
        limit = size_told(node.emitter, runs, None, node.title)
    [_, *results] = _run(node, limit, goes_on, states)
    return results


def _run(
    node: Node,
    limit: Expr | SSAValue | None,
    goes_on: Value,
    states: Sequence[Value],
    *,
    makes_sequences: bool = True,
) -> Sequence[Value]:
    """How often a Loop ran, its last states, and the sequences that it makes."""
    goes_on, first = _truth(node, goes_on), [node.emitter.tensor(v) for v in states]
    body = Block(arg_types=[_NUMBER, *(v.type for v in first)])
    inside = node.inside(node.emitter.inside(body))
    number, *now = body.args
    again, *made = inside.graph("body", [number, Known(np.array(True), node.title), *now], len(node.proto.output) + 1)
    tensors = [inside.one_tensor(v, "what its body makes") for v in made]
    following = [as_before(inside, i, v, made) for i, (v, made) in enumerate(zip(first, tensors, strict=False))]
    new = tensors[len(first) :] if makes_sequences else []
    elements = [inside.emitter.tensor(settled(v, tensors, following)) for v in new]
    next_number = inside.emit(AddOp, number, _integer(inside, 1))
    again = _truth(inside, again)
    if isinstance(limit, SSAValue):
        again = inside.emit(AndOp, again, inside.emit(LessOp, next_number, limit))
        goes_on = node.emit(AndOp, goes_on, node.emit(LessOp, _integer(node, 0), limit))
    asked = inside.emitter.asked_of_data
    held = [body.insert_arg(tensor_type([], i1), len(body.args)) for _ in asked]
    still = [inside.emit(AndOp, before, one.holds) for before, one in zip(held, asked, strict=True)]
    end = YieldOp([inside.emitter.tensor(v) for v in (again, next_number, *following, *still, *elements)])
    body.add_op(end)
    constants = close([body])
    begun = [_integer(node, 0), *first, *(Known(np.array(True), node.title) for _ in asked)]
    loop = _loop(node, limit if isinstance(limit, Expr) else None, goes_on, begun, constants, elements, body)
    for holds, requirement in zip(loop.end_states[1 + len(first) :], asked, strict=True):
        node.emitter.ask_of_data(holds, requirement.text)
    return [*loop.end_states[: 1 + len(first)], *loop.new_sequences]


def _loop(
    node: Node,
    limit: Expr | None,
    goes_on: Value,
    states: Sequence[Value],
    constants: Sequence[SSAValue],
    elements: Sequence[SSAValue],
    body: Block,
) -> WhileOp:
    """The operator, emitted; what it makes of elements are sequences of as many as a new symbol says."""
    count, new = None, []
    if elements:
        count = node.emitter.fresh_symbol(node.title)
        new = [sequence_of(v.type, count) for v in elements]
    first = [node.emitter.tensor(v) for v in states]
    types = [*(v.type for v in first), *new]
    name = None if count is None else str(count)
    loop = WhileOp(node.emitter.tensor(goes_on), first, constants, types, Region(body), limit, name)
    try:
        loop.verify()
    except VerifyException as error:
        raise node.error(f"its body does not fit its inputs: {error}") from error
    node.emitter.insert(loop, node.title)
    if count is not None:
        node.emitter.bind(count, loop.new_sequences[0])
    return loop


def _integer(node: Node, number: int) -> Value:
    return Known(np.array(number), node.title)


def _truth(node: Node, condition: AnyValue) -> Value:
    """A condition as one truth value without dimensions."""
    value = node.one_tensor(condition, "its condition")
    if product(value_dims(value)) != 1:
        raise node.error(f"its condition is one truth value, not {product(value_dims(value))}")
    return node.reshape(value, [])
