"""Converters for elements that tensors of indices name: they are numbered in memory order, and gathered by number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph import AddOp, CastOp, EqualOp, GatherOp, LessOp, MulOp, WhereOp
from tilework.frontends.onnx.axes import axis_from_front, from_front, sliced
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Value, as_dims


@converter("GatherElements")
def gather_elements(node: Node) -> Value:
    """For every index the element that it names along `axis`, at the index's own place along the others."""
    dims, wanted = node.dims(0), node.dims(1)
    axis = axis_from_front(node, 0)
    if len(dims) != len(wanted):
        raise node.error(f"its indices have as many axes as its input, {len(dims)}, not {len(wanted)}")
    places = [_along(node, i, size, len(dims)) for i, size in enumerate(wanted)]
    places[axis] = _not_negative(node, _whole(node, node.value(1)), dims[axis])
    numbers = _numbered(node, places, dims)
    return node.emit(GatherOp, node.reshape(node.value(0), [product(dims)]), numbers, axis=int_attr(0))


@converter("GatherND", since=11)
def gather_nd(node: Node) -> Value:
    """For every row of indices the part of the input that it names; the first `batch_dims` axes are those of both."""
    dims, indices, batch = node.dims(0), _whole(node, node.value(1)), int(node.attribute("batch_dims", 0))
    *outer, length = value_dims(indices)
    count = length.constant or 0
    named = batch + count
    if count == 0 or not 0 <= batch <= len(outer) or named > len(dims):
        raise node.error(f"rows of {length} indices behind {batch} axes do not fit an input of {len(dims)} axes")
    places = [_along(node, i, size, len(outer)) for i, size in enumerate(outer[:batch])]
    for k in range(count):
        column = node.reshape(sliced(node, indices, {len(outer): range(k, k + 1)}), outer)
        places.append(_not_negative(node, column, dims[batch + k]))
    rows = node.reshape(node.value(0), [product(dims[:named]), *dims[named:]])
    return node.emit(GatherOp, rows, _numbered(node, places, dims[:named]), axis=int_attr(0))


@converter("OneHot", since=9)
def one_hot(node: Node) -> Value:
    """Along a new axis the second of two values where the index is, the first elsewhere."""
    rank = len(node.dims(0))
    [axis] = from_front(node, [node.attribute("axis", -1)], rank + 1)
    [depth] = as_dims(node.array(1, "depth"))
    indices = _not_negative(node, _whole(node, node.value(0)), depth)
    dims = list(node.dims(0))
    spread = node.reshape(indices, [*dims[:axis], const(1), *dims[axis:]])
    off, on = (node.reshape(sliced(node, node.value(2), {0: range(i, i + 1)}), []) for i in (0, 1))
    return node.emit(WhereOp, node.emit(EqualOp, _along(node, axis, depth, rank + 1), spread), on, off)


@converter("EyeLike")
def eye_like(node: Node) -> Value:
    """One on a diagonal, zero elsewhere."""
    rows, columns = (_along(node, i, size, 2) for i, size in enumerate(node.dims(0)))
    on_diagonal = node.emit(EqualOp, node.emit(AddOp, rows, node.size(const(node.attribute("k", 0)))), columns)
    to = node.attribute("dtype")
    return node.emit(CastOp, on_diagonal, to=node.dtype(0) if to is None else node.element_type(to))


def _numbered(node: Node, places: Sequence[Value], dims: Sequence[Expr]) -> Value:
    """The number in memory order of the element at a place, given axis by axis, of a tensor of these dimensions."""
    number = places[0]
    for place, size in zip(places[1:], dims[1:], strict=True):
        number = node.emit(AddOp, node.emit(MulOp, number, node.size(size)), place)
    return number


def _along(node: Node, axis: int, size: Expr, rank: int) -> Value:
    """0, 1, ... along an axis of a tensor whose others are of size 1."""
    numbers = node.emitter.range(const(0), size, 1, node.title)
    return node.reshape(numbers, [size if i == axis else const(1) for i in range(rank)])


def _not_negative(node: Node, indices: Value, extent: Expr) -> Value:
    """Indices below zero, which count from the end, from the beginning."""
    is_from_end = node.emit(LessOp, indices, node.size(0))
    return node.emit(WhereOp, is_from_end, node.emit(AddOp, indices, node.size(extent)), indices)


def _whole(node: Node, indices: Value) -> Value:
    """Indices as int64."""
    tensor: SSAValue = node.emitter.tensor(indices)
    return tensor if node.dtype_of(tensor) == i64 else node.emit(CastOp, tensor, to=i64)
