"""Converters for elements that tensors of indices name: they are numbered in memory order, and gathered by number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64

from tilework.algebra.index_expr import Expr, const, product
from tilework.algebra.predicate import at_least
from tilework.dialects.graph import AddOp, CastOp, EqualOp, GatherOp, LessOp, MulOp, WhereOp
from tilework.frontends.onnx.axes import axis_from_front, from_front, sliced
from tilework.frontends.onnx.data_requirements import Chosen, require_in_range
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Value


@converter("GatherElements")
def gather_elements(node: Node) -> Value:
    """Take for every index the element that it names along `axis`, at the index's own place along the others."""
    dims, wanted = node.dims(0), node.dims(1)
    axis = axis_from_front(node, 0)
    if len(dims) != len(wanted):
        raise node.error(f"its indices have as many axes as its input, {len(dims)}, not {len(wanted)}")
    for i, (size, extent) in enumerate(zip(wanted, dims, strict=True)):
        if i != axis:
            node.require(f"its indices have {size} elements along axis {i}, its input {extent}", at_least(extent, size))
    require_in_range(node, Chosen(node.value(1), axis, dims[axis]))
    return elements_at(node, node.value(0), axis, not_negative(node, node.cast(node.value(1), i64), dims[axis]), wanted)


@converter("GatherND", since=11)
def gather_nd(node: Node) -> Value:
    """Take for every row of indices the part of the input that it names; the first `batch_dims` axes are those of
    both."""
    dims, batch = node.dims(0), int(node.attribute("batch_dims", 0))
    for i, (size, other) in enumerate(zip(dims[:batch], node.dims(1), strict=False)):
        node.require_equal(size, other, f"axis {i} is one of the batch, but of sizes {size} and {other}")
    numbers, named = parts_named(node, batch)
    rows = node.reshape(node.value(0), [product(dims[:named]), *dims[named:]])
    return node.emit(GatherOp, rows, numbers, axis=int_attr(0))


@converter("OneHot", since=9)
def one_hot(node: Node) -> Value:
    """Along a new axis the second of two values where the index is, the first elsewhere."""
    rank = len(node.dims(0))
    [axis] = from_front(node, [node.attribute("axis", -1)], rank + 1)
    depth = node.count(1, "depth")
    indices = not_negative(node, node.cast(node.value(0), i64), depth)
    dims = list(node.dims(0))
    spread = node.reshape(indices, [*dims[:axis], const(1), *dims[axis:]])
    off, on = (node.reshape(sliced(node, node.value(2), {0: range(i, i + 1)}), []) for i in (0, 1))
    return node.emit(WhereOp, node.emit(EqualOp, along(node, axis, depth, rank + 1), spread), on, off)


@converter("EyeLike")
def eye_like(node: Node) -> Value:
    """One on a diagonal, zero elsewhere."""
    rows, columns = (along(node, i, size, 2) for i, size in enumerate(node.dims(0)))
    on_diagonal = node.emit(EqualOp, node.emit(AddOp, rows, node.size(const(node.attribute("k", 0)))), columns)
    to = node.attribute("dtype")
    return node.emit(CastOp, on_diagonal, to=node.dtype(0) if to is None else node.element_type(to))


def elements_at(node: Node, value: Value, axis: int, place: Value, wanted: Sequence[Expr]) -> Value:
    """Elements of a value at a place along one axis, and at their own along the others, in these dimensions."""
    dims = value_dims(value)
    places = [along(node, i, size, len(dims)) for i, size in enumerate(wanted)]
    places[axis] = place
    return node.emit(GatherOp, node.reshape(value, [product(dims)]), numbered(node, places, dims), axis=int_attr(0))


def parts_named(node: Node, batch: int) -> tuple[Value, int]:
    """The numbers of the parts of input 0 that rows of indices, input 1, name, and how many axes these go along."""
    dims, indices = node.dims(0), node.cast(node.value(1), i64)
    *outer, length = value_dims(indices)
    count = length.constant or 0
    named = batch + count
    if count == 0 or not 0 <= batch <= len(outer) or named > len(dims):
        raise node.error(f"rows of {length} indices behind {batch} axes do not fit an input of {len(dims)} axes")
    places = [along(node, i, size, len(outer)) for i, size in enumerate(outer[:batch])]
    columns = [node.reshape(sliced(node, indices, {len(outer): range(k, k + 1)}), outer) for k in range(count)]
    chosen = [Chosen(column, batch + k, dims[batch + k]) for k, column in enumerate(columns)]
    require_in_range(node, *chosen)
    places += [not_negative(node, one.indices, one.size) for one in chosen]
    return numbered(node, places, dims[:named]), named


def numbered(node: Node, places: Sequence[Value], dims: Sequence[Expr]) -> Value:
    """The number in memory order of the element at a place, given axis by axis, of a tensor of these dimensions."""
    number = places[0]
    for place, size in zip(places[1:], dims[1:], strict=True):
        number = node.emit(AddOp, node.emit(MulOp, number, node.size(size)), place)
    return number


def along(node: Node, axis: int, size: Expr, rank: int) -> Value:
    """0, 1, ... along an axis of a tensor whose others are of size 1."""
    numbers = node.emitter.range(const(0), size, 1, node.title)
    return node.reshape(numbers, [size if i == axis else const(1) for i in range(rank)])


def not_negative(node: Node, indices: Value, extent: Expr) -> Value:
    """Indices below zero, which count from the end, from the beginning."""
    is_from_end = node.emit(LessOp, indices, node.size(0))
    return node.emit(WhereOp, is_from_end, node.emit(AddOp, indices, node.size(extent)), indices)
