"""Numbers that only the running model knows and that stand for places or sizes: a bound of a Slice, a shape.

For converting. Each is computed with until it is a size, from 0 on, which then is a symbol: a bound that counts from
the end of an axis, or lies beyond it, becomes how many elements are in front of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph import AddOp, DivOp, EqualOp, LessOp, MaxOp, MinOp, MulOp, SubOp, WhereOp
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.told_sizes import size_told
from tilework.frontends.onnx.values import Known, Value


def elements_in_front(node: Node, bound: SSAValue, extent: Expr) -> Expr:
    """How many elements of an axis are in front of a bound; below zero it counts from the end. From 0 to `extent`.

    The same bound of axes that are as long is the same symbol.
    """
    known = node.emitter.in_front
    if extent == 0:
        return extent
    if (bound, extent) not in known:
        place = _between(node, _from_front(node, bound, extent), 0, node.size(extent))
        known[bound, extent] = _size(node, place, extent)
    return known[bound, extent]


def last_one(node: Node, bound: SSAValue, extent: Expr, least: int) -> Expr:
    """A bound of a Slice that runs backwards: an element of the axis, or -1, from `least` on where there are elements.

    Below zero it counts from the end.
    """
    if extent == 0:
        return const(-1)
    last = node.emit(SubOp, node.size(extent), _number(node, 1))
    place = _between(node, _from_front(node, bound, extent), least, last)
    return _size(node, node.emit(AddOp, place, _number(node, 1)), extent) - 1


def shape_told(node: Node, given: Sequence[Expr | SSAValue], dims: Sequence[Expr], keeps: bool) -> list[Expr]:
    """The shape that a tensor of these dimensions gets, of which data tell some sizes: any of them may be 0, or -1.

    A 0 stands for the dimension that the tensor has there, if it `keeps` these; a -1 for what is left over. One that is
    known stays in the shape.
    """
    if all(isinstance(size, Expr) for size in given):
        return [size for size in given if isinstance(size, Expr)]
    sizes = [_kept(node, size, dims, i) if keeps and i < len(dims) else size for i, size in enumerate(given)]
    known = product(size for size in sizes if isinstance(size, Expr) and size != -1)
    others: Value = node.size(known)
    for size in sizes:
        if isinstance(size, SSAValue):
            others = node.emit(MulOp, others, _unless(node, size, -1, _number(node, 1)))
    left = node.emit(DivOp, node.size(product(dims)), node.emit(MaxOp, others, _number(node, 1)))
    return [size if isinstance(size, Expr) else _size(node, _unless(node, size, -1, left), None) for size in sizes]


def _kept(node: Node, size: Expr | SSAValue, dims: Sequence[Expr], i: int) -> Expr | SSAValue:
    """A size of a shape, or the dimension that is there where it is 0."""
    if isinstance(size, Expr):
        return dims[i] if size == 0 else size
    return _unless(node, size, 0, node.size(dims[i]))


def _unless(node: Node, number: SSAValue, special: int, instead: Value) -> SSAValue:
    """A number, or what stands there instead of a special one."""
    return node.emit(WhereOp, node.emit(EqualOp, number, _number(node, special)), instead, number)


def _from_front(node: Node, bound: SSAValue, extent: Expr) -> SSAValue:
    from_end = node.emit(AddOp, bound, node.size(extent))
    return node.emit(WhereOp, node.emit(LessOp, bound, _number(node, 0)), from_end, bound)


def _between(node: Node, number: Value, least: int, most: Value) -> SSAValue:
    """A number no less than one limit and no more than the other, which goes before the first one."""
    return node.emit(MinOp, node.emit(MaxOp, number, _number(node, least)), most)


def _size(node: Node, number: SSAValue, most: Expr | None) -> Expr:
    return size_told(node.emitter, number, most, node.title)


def _number(node: Node, number: int) -> Known:
    return Known(np.array(number), node.title)
