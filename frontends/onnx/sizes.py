"""Values whose sizes are known at run time only: repeated to a shape, sections of an axis, parts. For converting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, ceildiv, const, maximum, minimum
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.graph import BroadcastOp, SectionOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.frontends.onnx.axes import Bound, sliced
from tilework.frontends.onnx.node import Node, int_attr, value_dims
from tilework.frontends.onnx.told_bounds import elements_in_front, last_one
from tilework.frontends.onnx.values import Value

OPEN_END = 2**31 - 2
"""Bounds from here on are the end of the axis, however long it is; below minus that, its beginning."""


def require_sizes(node: Node, target: Sequence[Expr], what: str = "shape") -> None:
    """Refuse sizes below zero."""
    if negative := [d.constant for d in target if d.constant is not None and d.constant < 0]:
        raise node.error(f"{negative[0]} in its {what} [{', '.join(map(str, target))}] is no size")


def repeated(node: Node, value: Value, dims: Sequence[Expr]) -> Value:
    """The value broadcast to dimensions."""
    return node.emit(BroadcastOp, value, *node.inputs_with_symbols(value_dims(value), dims), shape=DimsAttr.of(dims))


def sliced_openly(node: Node, value: Value, axis: int, start: Bound, end: Bound, step: int) -> Value:
    """What a Slice takes of an axis, where sizes, or data, decide how much that is."""
    extent = value_dims(value)[axis]
    first, last = _ends(node, start, end, extent, is_forward=step > 0)
    domain = Domain({key: (0, None) for e in (first, last, extent) for key in e.variables()})
    if step > 0:
        first, last = (domain.simplify(minimum(maximum(bound, 0), extent)) for bound in (first, last))
        count = ceildiv(last - first, step)
    else:
        first = domain.simplify(minimum(maximum(first, 0), extent - 1))
        last = domain.simplify(minimum(maximum(last, -1), extent - 1))
        count = ceildiv(first - last, -step)
    return section(node, value, axis, first, domain.simplify(maximum(count, 0)), step)


def _ends(node: Node, start: Bound, end: Bound, extent: Expr, is_forward: bool) -> list[Expr]:
    """Both bounds of a Slice, counted from the front."""
    ends: list[Expr] = []
    for bound, what, least in ((start, "start", 0), (end, "end", -1)):
        if not isinstance(bound, SSAValue):
            ends.append(_from_front(node, bound, extent, what))
        elif is_forward:
            ends.append(elements_in_front(node, bound, extent))
        else:
            ends.append(last_one(node, bound, extent, least))
    return ends


def _from_front(node: Node, bound: int | Expr, extent: Expr, what: str) -> Expr:
    """A bound of a Slice counted from the front; below zero it counts from the end. Its sign is required."""
    if isinstance(bound, int):
        if abs(bound) >= OPEN_END:
            return extent if bound > 0 else const(-1)
        return extent + bound if bound < 0 else const(bound)
    if Domain({key: (1, None) for key in bound.variables()}).proves(less_than(bound, 0)):
        node.require(
            f"its {what}, {bound}, is not less than 0, so that it would count from the front", at_least(-1, bound)
        )
        return extent + bound
    node.require(f"its {what}, {bound}, is less than 0, from where it would count from the end", at_least(bound, 0))
    return bound


def section(node: Node, value: Value, axis: int, start: Expr, size: Expr, step: int = 1) -> Value:
    """So many elements of an axis in steps from one of them on. That they lie in it is required."""
    extent = value_dims(value)[axis]
    if (start, size, step) == (const(0), extent, 1):
        return value
    if extent.constant is not None and start.constant is not None and size.constant is not None:
        stop = start.constant + size.constant * step
        return sliced(node, value, {axis: range(start.constant, stop, step)})
    return node.emit(
        SectionOp,
        value,
        *node.inputs_with_symbols(value_dims(value), [start, size]),
        axis=int_attr(axis),
        start=DimsAttr.of([start]),
        size=DimsAttr.of([size]),
        step=None if step == 1 else int_attr(step),
    )


def parts_of(node: Node, value: Value, axis: int, sizes: Sequence[Expr]) -> list[Value]:
    """Slices of these sizes behind one another, all there is of the axis; where that is open, it is required."""
    require_sizes(node, sizes, "list of sizes")
    ends = list(accumulate(sizes, initial=const(0)))
    extent = value_dims(value)[axis]
    value = node.of_size(
        value, axis, ends[-1], f"sizes [{', '.join(map(str, sizes))}] do not add up to {extent} along axis {axis}"
    )
    return [section(node, value, axis, start, size) for start, size in zip(ends, sizes, strict=False)]


def of_shape(node: Node, value: Value, dims: Sequence[Expr], what: str) -> Value:
    """The value, which broadcasts to these dimensions; where that is open, it is required, and the value repeated."""
    own = list(value_dims(value))
    if len(own) > len(dims):
        raise node.error(what)
    for axis, size in zip(range(len(own) - 1, -1, -1), reversed(dims), strict=False):
        if own[axis].is_constant and own[axis] != 1:
            value = node.of_size(value, axis, size, what)
        if own[axis] != 1:
            own[axis] = size
    return value if tuple(own) == value_dims(value) else repeated(node, value, own)
