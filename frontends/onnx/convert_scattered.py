"""Converters for tensors some of whose elements are replaced, or combined with others, where indices say.

Nothing is written in place: every element asks which of the updates is for it. That takes a comparison of each with
each, which is little where updates are few (the new keys of a cache), and runs as any reduction does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BoolAttr

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph import (
    AddOp,
    ConcatOp,
    EqualOp,
    GatherOp,
    LessOp,
    MaxOp,
    MinOp,
    MulOp,
    NotOp,
    OrOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SubOp,
    WhereOp,
)
from tilework.dialects.graph.base import GraphOp, extremes, ints, numpy_dtype
from tilework.frontends.onnx.axes import axis_from_front, from_front, sliced
from tilework.frontends.onnx.convert_indexed import along, elements_at, not_negative, parts_named, whole
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Known, Value

COMBINED: dict[str, tuple[type[GraphOp], type[GraphOp]]] = {
    "add": (ReduceSumOp, AddOp),
    "mul": (ReduceProdOp, MulOp),
    "max": (ReduceMaxOp, MaxOp),
    "min": (ReduceMinOp, MinOp),
}
"""How updates of one element are combined with each other, and with it."""


@converter("ScatterND", since=11)
def scatter_nd(node: Node) -> Value:
    """Parts that rows of indices name; of several updates of one part the last one counts, unless they are combined."""
    dims = node.dims(0)
    numbers, named = parts_named(node, 0)
    outer, inner = value_dims(numbers), dims[named:]
    if node.dims(2) != (*outer, *inner):
        raise node.error(f"the updates are of {[*map(str, (*outer, *inner))]}, not {[*map(str, node.dims(2))]}")
    count, parts = product(outer), product(dims[:named])
    if count == 0:
        return node.value(0)
    updates = node.reshape(node.value(2), [count, *inner])
    data = node.reshape(node.value(0), [parts, *inner])
    is_for = node.emit(EqualOp, node.reshape(numbers, [count, const(1)]), along(node, 1, parts, 2))
    combination = _combination(node)
    if combination is not None:
        is_for = node.reshape(is_for, [count, parts, *[const(1)] * len(inner)])
        result = _combined(node, combination, data, node.reshape(updates, [count, const(1), *inner]), is_for, 0)
    else:
        last = _last(node, is_for, 0)
        taken = node.emit(GatherOp, updates, _at_least_0(node, last), axis=int_attr(0))
        is_kept = node.reshape(_is_negative(node, last), [parts, *[const(1)] * len(inner)])
        result = node.emit(WhereOp, is_kept, data, taken)
    return node.reshape(result, dims)


@converter("Scatter")
@converter("ScatterElements", since=11)
def scatter_elements(node: Node) -> Value:
    """Elements at a place along `axis` that indices name, and at the updates' own places along the others."""
    axis = axis_from_front(node, 0)
    dims, wanted = node.dims(0), node.dims(1)
    if len(wanted) != len(dims) or node.dims(2) != wanted:
        raise node.error("indices and updates are of one shape, with as many axes as the input")
    if dims[axis] == 0 or 0 in wanted:
        return node.value(0)
    shorter = [i for i, (size, extent) in enumerate(zip(wanted, dims, strict=True)) if i != axis and size != extent]
    return _scattered_within(node, node.value(0), axis, shorter)


def _scattered_within(node: Node, data: Value, axis: int, shorter: Sequence[int]) -> Value:
    """Where updates do not reach the end of an axis, the rest of the data stays."""
    if not shorter:
        return _scattered(node, data, axis)
    first, *others = shorter
    size, extent = node.dims(1)[first].constant, value_dims(data)[first].constant
    if size is None or extent is None or size > extent:
        raise node.error(f"updates of {node.dims(1)[first]} do not fit {value_dims(data)[first]} along axis {first}")
    reached = _scattered_within(node, sliced(node, data, {first: range(size)}), axis, others)
    return node.emit(ConcatOp, reached, sliced(node, data, {first: range(size, extent)}), axis=int_attr(first))


def _scattered(node: Node, data: Value, axis: int) -> Value:
    dims, wanted = value_dims(data), node.dims(1)
    places = not_negative(node, whole(node, node.value(1)), dims[axis])
    apart = [*wanted[: axis + 1], const(1), *wanted[axis + 1 :]]
    is_for = node.emit(EqualOp, node.reshape(places, apart), along(node, axis + 1, dims[axis], len(apart)))
    combination = _combination(node)
    if combination is not None:
        return _combined(node, combination, data, node.reshape(node.value(2), apart), is_for, axis)
    last = _last(node, is_for, axis)
    taken = _updates_at(node, node.value(2), axis, _at_least_0(node, last), dims)
    return node.emit(WhereOp, _is_negative(node, last), data, taken)


@converter("TensorScatter", since=24)
def tensor_scatter(node: Node) -> Value:
    """Updates behind one another along `axis`, of each sample from its own index on, perhaps around the end."""
    dims, updates = node.dims(0), node.dims(1)
    [axis] = from_front(node, [node.attribute("axis", -2)], len(dims))
    place = along(node, axis, dims[axis], len(dims))
    if node.has(2):
        first = node.reshape(whole(node, node.value(2)), [dims[0], *[const(1)] * (len(dims) - 1)])
        place = node.emit(SubOp, place, first)
    if node.attribute("mode", "linear") == "circular":
        place = not_negative(node, place, dims[axis])
    is_reached = node.emit(LessOp, place, node.size(updates[axis]))
    is_kept = node.emit(OrOp, _is_negative(node, place), node.emit(NotOp, is_reached))
    within = node.emit(WhereOp, is_kept, node.size(0), place)
    return node.emit(WhereOp, is_kept, node.value(0), _updates_at(node, node.value(1), axis, within, dims))


# ---- Which of the updates --------------------------------------------------------------------------------------------


def _combination(node: Node) -> str | None:
    name = node.attribute("reduction", "none")
    if name != "none" and name not in COMBINED:
        raise node.error(f"updates are not combined by '{name}'")
    return None if name == "none" else name


def _updates_at(node: Node, updates: Value, axis: int, place: Value, dims: Sequence[Expr]) -> Value:
    """Those at a place along an axis; one that is alone there broadcasts."""
    return updates if value_dims(updates)[axis] == 1 else elements_at(node, updates, axis, place, dims)


def _last(node: Node, is_for: Value, axis: int) -> Value:
    """The number along an axis of the last update that is for an element, -1 where there is none."""
    dims = value_dims(is_for)
    numbers = node.emit(WhereOp, is_for, along(node, axis, dims[axis], len(dims)), node.size(-1))
    return node.emit(ReduceMaxOp, numbers, axes=ints([axis]), keep_dims=BoolAttr.from_bool(False))


def _combined(node: Node, combination: str, data: Value, updates: Value, is_for: Value, axis: int) -> Value:
    """The data combined with all updates that are for them: these, and whether they are, lie along one more axis."""
    together, with_data = COMBINED[combination]
    nothing = Known(_identity(combination, numpy_dtype(node.dtype(0))), node.title)
    reached = node.emit(WhereOp, is_for, updates, nothing)
    total = node.emit(together, reached, axes=ints([axis]), keep_dims=BoolAttr.from_bool(False))
    return node.emit(with_data, data, total)


def _identity(combination: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """What leaves every number as it is."""
    least, most = extremes(dtype)
    return np.array({"add": 0, "mul": 1, "max": least, "min": most}[combination], dtype)


def _at_least_0(node: Node, numbers: Value) -> Value:
    return node.emit(MaxOp, numbers, node.size(0))


def _is_negative(node: Node, numbers: Value) -> Value:
    return node.emit(LessOp, numbers, node.size(0))
