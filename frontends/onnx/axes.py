"""Axes and ranges along them as ONNX writes them: counted from either end, and clamped. For converting and folding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import SliceOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.value_names import is_integer
from tilework.frontends.onnx.values import Value, known

SLICE_INPUTS = ("starts", "ends", "axes", "steps")
"""Inputs 1 to 4 of a Slice; before opset 10 the first three are attributes."""


def from_front(node: Node, axes: Sequence[int], rank: int) -> list[int]:
    """The axes counted from the front. Raises TileworkError for one that there is not."""
    if wrong := [axis for axis in axes if not -rank <= axis < rank]:
        raise node.error(f"a tensor of rank {rank} has no axis {wrong[0]}")
    return [axis % rank for axis in axes]


def axis_from_front(node: Node, default: int) -> int:
    """The attribute `axis`, an axis of input 0, counted from the front."""
    return from_front(node, [node.attribute("axis", default)], len(node.dims(0)))[0]


def right_operand(node: Node) -> Value:
    """Input 1 as one that broadcasts to input 0, aligned at the last axis.

    Before opset 7 it does so only on request, and `axis` says where its dimensions stand.
    """
    if node.opset >= 7:
        return node.value(1)
    left, right = node.dims(0), node.dims(1)
    if not node.attribute("broadcast", 0):
        if left != right:
            raise node.error("operands differ in shape and the node does not ask to broadcast them")
        return node.value(1)
    axis = node.attribute("axis", len(left) - len(right))
    behind = len(left) - (axis % len(left) if left else 0) - len(right)
    if behind < 0:
        raise node.error(f"the right operand does not fit at axis {axis}")
    return node.reshape(node.value(1), [*right, *[const(1)] * behind])


def given_axes(node: Node) -> list[int] | None:
    """Axes from the attribute (before opset 13 or 18) or from input 1; None where there are neither."""
    given = node.attribute("axes")
    if given is not None:
        return list(given)
    return node.integers(1, "list of axes") if node.has(1) else None


def reduced_axes(node: Node, rank: int) -> list[int]:
    """The axes that a reduction is over, ascending: all where none is named, unless the node says otherwise."""
    axes = from_front(node, given_axes(node) or [], rank)
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        return list(range(rank))
    return sorted(set(axes))


def slice_range(start: int, end: int, step: int, extent: int) -> range:
    """The indices that a Slice keeps. Bounds below zero count from the end; then they are clamped to what there is.

    Unlike in Python, a start in front of the first element is the first element also for a negative step.
    """
    start, end = (bound + extent if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(start, 0), extent), min(max(end, 0), extent), step)
    return range(min(max(start, 0), extent - 1), min(max(end, -1), extent - 1), step)


Bound: TypeAlias = "int | Expr | SSAValue"
"""A bound of a Slice: a number, one that depends on symbolic dimensions, or an i64 that data tell."""


def slice_bounds(node: Node) -> list[tuple[int, Bound, Bound, int]]:
    """Axis, start, end and step of every axis that a Slice cuts, from attributes (before opset 10) or inputs."""
    starts, ends = (_slice_ends(node, i) for i in (0, 1))
    axes, steps = (_slice_input(node, i) for i in (2, 3))
    assert starts is not None and ends is not None  # the standard requires them
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if len({len(starts), len(ends), len(axes), len(steps)}) > 1:
        raise node.error("starts, ends, axes and steps differ in number")
    if 0 in steps:
        raise node.error("a step is 0")
    axes = from_front(node, axes, len(node.dims(0)))
    if len(set(axes)) < len(axes):
        raise node.error(f"axes {axes} name one axis twice")
    return list(zip(axes, starts, ends, steps, strict=True))


def _slice_ends(node: Node, i: int) -> list[Bound] | None:
    """Starts or ends."""
    if node.opset < 10 or not node.has(i + 1):
        given = _slice_input(node, i)
        return None if given is None else [*given]
    numbers = node.numbers(i + 1, f"list of {SLICE_INPUTS[i]}")
    return [e.offset if isinstance(e, Expr) and e.is_constant else e for e in numbers]


def _slice_input(node: Node, i: int) -> list[int] | None:
    name = SLICE_INPUTS[i]
    if node.opset < 10:
        given = node.attribute(name)
        return None if given is None else list(given)
    return node.integers(i + 1, f"list of {name}") if node.has(i + 1) else None


def sliced(node: Node, value: Value, kept: Mapping[int, range]) -> Value:
    """What these ranges keep of a value along their axes, and everything along the others."""
    if is_integer(value):
        array = value.array
        for axis, taken in kept.items():
            array = array.take(taken, axis)
        return known(array, node.title, value.element)
    return node.emit(
        SliceOp,
        value,
        axes=ints(kept),
        starts=ints(taken.start for taken in kept.values()),
        stops=ints(taken.stop for taken in kept.values()),
        steps=ints(taken.step for taken in kept.values()),
    )
