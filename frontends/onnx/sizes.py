"""Values whose sizes are known at run time only: repeated to a shape, and a section of an axis. For converting."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.dialects.graph import BroadcastOp, SectionOp
from tilework.dialects.graph.base import linear_in
from tilework.dialects.index_attr import DimsAttr
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.values import Value

OPEN_END = 2**31 - 2
"""Bounds from here on are the end of the axis, however long it is; below minus that, its beginning."""


def require_sizes(node: Node, target: Sequence[Expr], what: str = "shape") -> None:
    """Refuse sizes below zero."""
    if negative := [d.constant for d in target if d.constant is not None and d.constant < 0]:
        raise node.error(f"{negative[0]} in its {what} [{', '.join(map(str, target))}] is no size")


def repeated(node: Node, value: Value, dims: Sequence[Expr]) -> Value:
    """The value broadcast to dimensions."""
    return node.emit(BroadcastOp, value, *_told_by(node, value, dims), shape=DimsAttr.of(dims))


def section(node: Node, value: Value, axis: int, start: int | Expr, end: int | Expr) -> Value:
    """What lies between two bounds along an axis; bounds below zero count from the end.

    Whether they lie in the axis is asked when the program runs.
    """
    extent = value_dims(value)[axis]

    def from_front(bound: int | Expr) -> Expr:
        if isinstance(bound, int) and abs(bound) >= OPEN_END:
            return extent if bound > 0 else const(0)
        return extent + bound if isinstance(bound, int) and bound < 0 else to_expr(bound)

    first, size = from_front(start), from_front(end) - from_front(start)
    if size.constant is not None and size.constant < 0:
        first, size = const(0), const(0)
    return value if (first, size) == (const(0), extent) else _section(node, value, axis, first, size, whole=False)


def of_sizes(node: Node, value: Value, wanted: Sequence[Expr]) -> Value:
    """The value, whose last dimensions are taken to be those wanted where symbols leave that open.

    A dimension of 1 is not, which broadcasts. Whether they are is asked when the program runs.
    """
    dims = value_dims(value)
    for axis, size in zip(range(len(dims) - 1, -1, -1), reversed(wanted), strict=False):
        if dims[axis] != 1 and size != 1:
            value = of_size(node, value, axis, size)
    return value


def of_size(node: Node, value: Value, axis: int, size: Expr) -> Value:
    """The value, an axis of which is taken to be of this size where symbols leave that open; asked when it is run."""
    if (value_dims(value)[axis] - size).is_constant:
        return value
    return _section(node, value, axis, const(0), size, whole=True)


def _section(node: Node, value: Value, axis: int, start: Expr, size: Expr, *, whole: bool) -> Value:
    return node.emit(
        SectionOp,
        value,
        *_told_by(node, value, [start, size]),
        axis=IntegerAttr(axis, i64),
        start=DimsAttr.of([start]),
        size=DimsAttr.of([size]),
        whole=UnitAttr() if whole else None,
    )


def _told_by(node: Node, value: Value, sizes: Sequence[Expr]) -> list[SSAValue]:
    """The inputs that have those symbols of expressions as dimensions that the value's dimensions do not tell."""
    known = {key for d in value_dims(value) for key in linear_in(d)}
    return node.emitter.told_by(e for e in sizes if not known.issuperset(e.variables()))
