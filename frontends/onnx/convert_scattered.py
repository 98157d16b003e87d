"""Converters for tensors some of whose elements are replaced, or combined with others, where indices say."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, i64

from tilework.algebra.index_expr import Expr, const, product
from tilework.algebra.predicate import at_least
from tilework.dialects.graph import LessOp, NotOp, OrOp, ScatterOp, SubOp, WhereOp
from tilework.dialects.graph.scatter import REPLACE
from tilework.frontends.onnx.axes import axis_from_front, from_front
from tilework.frontends.onnx.convert_indexed import along, elements_at, not_negative, parts_named
from tilework.frontends.onnx.data_requirements import Chosen, require_between, require_in_range
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Value

COMBINE = {"none": REPLACE, **{name: name for name in ("add", "mul", "max", "min")}}
"""ONNX's names of how an element and an update are combined."""


@converter("ScatterND", since=11)
def scatter_nd(node: Node) -> Value:
    """Parts that rows of indices name; of several updates of one part the last one counts, unless they are combined."""
    dims = node.dims(0)
    numbers, named = parts_named(node, 0)
    outer, inner = value_dims(numbers), dims[named:]
    what = f"the updates are of {[*map(str, (*outer, *inner))]}, not {[*map(str, node.dims(2))]}"
    updates = node.of_dims(node.value(2), [*outer, *inner], what)
    count, parts = product(outer), product(dims[:named])
    numbers = node.reshape(numbers, [count, *[const(1)] * len(inner)])
    updates = node.reshape(updates, [count, *inner])
    result = _scattered(node, node.reshape(node.value(0), [parts, *inner]), numbers, updates, 0)
    return node.reshape(result, dims)


@converter("Scatter")
@converter("ScatterElements", since=11)
def scatter_elements(node: Node) -> Value:
    """Elements at a place along `axis` that indices name, and at the updates' own places along the others."""
    dims, wanted, axis = node.dims(0), node.dims(1), axis_from_front(node, 0)
    what = "indices and updates are of one shape, with as many axes as the input"
    if len(wanted) != len(dims):
        raise node.error(what)
    updates = node.of_dims(node.value(2), wanted, what)
    for i, (size, extent) in enumerate(zip(wanted, dims, strict=True)):
        if i != axis:
            node.require(f"{size} updates do not fit {extent} along axis {i}", at_least(extent, size))
    require_in_range(node, Chosen(node.value(1), axis, dims[axis]))
    return _scattered(node, node.value(0), node.cast(node.value(1), i64), updates, axis)


@converter("TensorScatter", since=24)
def tensor_scatter(node: Node) -> Value:
    """Updates behind one another along `axis`, of each sample from its own index on, perhaps around the end."""
    dims = node.dims(0)
    [axis] = from_front(node, [node.attribute("axis", -2)], len(dims))
    place = along(node, axis, dims[axis], len(dims))
    is_circular = node.attribute("mode", "linear") == "circular"
    if node.has(2):
        if not is_circular:
            end = dims[axis] - node.dims(1)[axis]
            text = f"an index is not within [0, {end}], from where on the updates fit axis {axis}"
            require_between(node, node.value(2), const(0), end + 1, text)
        each = node.of_dims(node.cast(node.value(2), i64), dims[:1], f"it has an index for each of {dims[0]} samples")
        first = node.reshape(each, [dims[0], *[const(1)] * (len(dims) - 1)])
        place = node.emit(SubOp, place, first)
    if is_circular:
        place = not_negative(node, place, dims[axis])
    is_reached = node.emit(LessOp, place, node.size(node.dims(1)[axis]))
    is_kept = node.emit(OrOp, _is_negative(node, place), node.emit(NotOp, is_reached))
    within = node.emit(WhereOp, is_kept, node.size(0), place)
    updates = [size if i == axis else d for i, (size, d) in enumerate(zip(node.dims(1), dims, strict=True))]
    new = node.of_dims(node.value(1), updates, "updates have the sizes of the cache, but along its axis")
    return node.emit(WhereOp, is_kept, node.value(0), _updates_at(node, new, axis, within, dims))


def _scattered(node: Node, data: Value, indices: Value, updates: Value, axis: int) -> Value:
    name = node.attribute("reduction", "none")
    if name not in COMBINE:
        raise node.error(f"updates are not combined by '{name}'")
    return node.emit(ScatterOp, data, indices, updates, axis=int_attr(axis), combine=StringAttr(COMBINE[name]))


def _updates_at(node: Node, updates: Value, axis: int, place: Value, dims: Sequence[Expr]) -> Value:
    """Those at a place along an axis; one that is alone there broadcasts."""
    return updates if value_dims(updates)[axis] == 1 else elements_at(node, updates, axis, place, dims)


def _is_negative(node: Node, numbers: Value) -> Value:
    return node.emit(LessOp, numbers, node.size(0))
