"""An If whose condition data decide: a graph for each branch, of which one is run. For converting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.ir import Block, Region, SSAValue

from tilework.dialects.graph import IfOp, YieldOp
from tilework.frontends.onnx.bodies import close
from tilework.frontends.onnx.emitter import DataRequirement
from tilework.frontends.onnx.joints import Joint
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.same_sizes import SameSizes
from tilework.frontends.onnx.values import AnyValue, Known, OptionalValue, Value, ValueSequence

BRANCHES = ("then_branch", "else_branch")


def choose(node: Node, condition: SSAValue, count: int) -> list[AnyValue]:
    """What the branch makes that is taken, so many values; the other one is not run.

    Where the branches make tensors of different sizes, data tell those of the result. What a branch asks of data has
    to hold where it is taken. Raises TileworkError for branches of different types.
    """
    sides = [node.inside(node.emitter.inside(Block())) for _ in BRANCHES]
    made = [_made(side, name, count) for side, name in zip(sides, BRANCHES, strict=True)]
    for first, second in zip(*made, strict=True):
        _require_alike(node, first, second)
    tensors = [[t for value in values for t in _tensors_of(value)] for values in made]
    joints = [Joint.of(node, sides, pair) for pair in zip(*tensors, strict=True)]
    asked = [side.emitter.asked_of_data for side in sides]
    for i, (side, values) in enumerate(zip(sides, tensors, strict=True)):
        yielded = [v for joint, value in zip(joints, values, strict=True) for v in joint.yielded(side, value)]
        holds = [_held(side, i == j, requirement) for j in range(2) for requirement in asked[j]]
        side.emitter.block.add_op(YieldOp([side.emitter.tensor(v) for v in (*yielded, *holds)]))
    bodies = [side.emitter.block for side in sides]
    constants = close(bodies)
    last = bodies[0].last_op
    assert isinstance(last, YieldOp)
    choice = IfOp(condition, constants, list(last.values.types), Region(bodies[0]), Region(bodies[1]))
    node.emitter.insert(choice, node.title)
    outputs = iter(choice.outputs)
    results = iter([joint.result(node, outputs) for joint in joints])
    for holds, requirement in zip(outputs, [*asked[0], *asked[1]], strict=True):
        node.emitter.ask_of_data(holds, requirement.text)
    return [_rebuilt(value, results) for value in made[0]]


def _made(side: Node, name: str, count: int) -> list[AnyValue]:
    """What a branch makes that may not be taken: what it needs of a symbol says nothing of sizes for the other one."""
    try:
        return side.graph(name, [], count)
    except SameSizes as found:
        if isinstance(found.other, str):
            raise
        raise side.error(f"its {name} is for {found.one} = {found.other}") from found


def _held(side: Node, is_own: bool, requirement: DataRequirement) -> Value:
    """What a branch yields for a requirement: of the other one, nothing is required."""
    return requirement.holds if is_own else Known(np.array(True), side.title)


def _require_alike(node: Node, first: AnyValue, second: AnyValue) -> None:
    match first, second:
        case ValueSequence(), ValueSequence() if len(first.values) == len(second.values):
            return
        case OptionalValue(value=None), OptionalValue(value=None):
            return
        case OptionalValue(value=held), OptionalValue(value=other) if held is not None and other is not None:
            _require_alike(node, held, other)
        case (SSAValue() | Known(), SSAValue() | Known()):
            return
        case _:
            alike = "tensors, sequences of one length, or optionals with an element or without"
            raise node.error(f"which branch it takes depends on data, so both have to make {alike}")


def _tensors_of(value: AnyValue | None) -> Sequence[Value]:
    """The tensors that a value is made of."""
    match value:
        case None:
            return []
        case ValueSequence():
            return value.values
        case OptionalValue():
            return _tensors_of(value.value)
        case _:
            return [value]


def _rebuilt(like: AnyValue, tensors: Iterator[Value]) -> AnyValue:
    """A value made of other tensors than one that it is like."""
    match like:
        case ValueSequence():
            return ValueSequence(tuple(next(tensors) for _ in like.values), like.element)
        case OptionalValue(value=None):
            return like
        case OptionalValue(value=held) if held is not None:
            inside = _rebuilt(held, tensors)
            assert not isinstance(inside, OptionalValue)
            return OptionalValue(inside, like.holds)
        case _:
            return next(tensors)
