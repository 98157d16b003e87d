"""Converters: what takes as many elements as data decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, i1

from tilework.algebra.index_expr import Expr, const, minimum, product
from tilework.algebra.predicate import at_least
from tilework.dialects.graph import ConcatOp, DivOp, EqualOp, GatherOp, LessOp, ModOp, NotOp, SuppressOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.counted import positions_of
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Known, Value


@converter("NonZero", since=9)
def non_zero(node: Node) -> Value:
    """The indices of the elements that are not zero, those along each axis in a row of their own."""
    x = node.value(0)
    dims = value_dims(x) or (const(1),)  # a scalar is a vector of one element, as numpy has it
    holds = x if node.dtype(0) == i1 else node.emit(NotOp, node.emit(EqualOp, x, node.scalar(0, x)))
    flat = node.emitter.tensor(node.reshape(holds, [product(dims)]))
    return _stacked(node, places(node, positions_of(node, flat), dims), 0)


@converter("Compress", since=9)
def compress(node: Node) -> Value:
    """The elements along an axis, or of all, whose condition holds; where there are fewer conditions, of the first."""
    x = node.value(0)
    if node.attribute("axis") is None:
        x, axis = node.reshape(x, [product(value_dims(x))]), 0
    else:
        axis = axis_from_front(node, 0)
    [given], size = node.dims(1), value_dims(x)[axis]
    node.require(f"it has {given} conditions for {size} elements", at_least(size - given, 0))
    chosen = positions_of(node, node.tensor(1))
    return node.emit(GatherOp, x, chosen, axis=int_attr(axis))


@converter("NonMaxSuppression", since=10)
def non_max_suppression(node: Node) -> Value:
    """Image, class and index of the boxes that are kept, from the best one of each class on."""
    boxes, scores = node.value(0), node.value(1)
    count = value_dims(boxes)[1]
    most = _limit(node, 2, np.array(0, np.int64))
    room = count
    if isinstance(most, Known) and not most.is_symbolic:
        room = minimum(count, max(int(most.array), 0))
    limits = [_limit(node, 3, np.array(0, np.float32)), _limit(node, 4, np.array(-np.inf, np.float32))]
    centers = BoolAttr.from_bool(bool(node.attribute("center_point_box", 0)))
    operands = [boxes, scores, *limits, most]
    kept, counts = node.emit_all(SuppressOp, *operands, centers=centers, room=DimsAttr.of([room]))
    dims = value_dims(kept)
    ranks = node.emitter.range(const(0), room, 1, node.title)
    is_kept = node.emit(LessOp, ranks, node.reshape(counts, [*value_dims(counts), const(1)]))
    flat = node.emitter.tensor(node.reshape(is_kept, [product(dims)]))
    positions = positions_of(node, flat)
    image, class_, _ = places(node, positions, dims)
    box = node.emit(GatherOp, node.reshape(kept, [product(dims)]), positions, axis=int_attr(0))
    return _stacked(node, [image, class_, box], 1)


def _limit(node: Node, i: int, default: np.ndarray) -> Value:
    """Input `i`, one number, or the default where it is absent."""
    if not node.has(i):
        return Known(default, node.title)
    return node.reshape(node.value(i), [])


def places(node: Node, positions: Value, dims: Sequence[Expr]) -> list[Value]:
    """Positions among all elements of a tensor of these dimensions as indices along its axes."""
    found: list[Value] = []
    for axis, size in enumerate(dims):
        behind = product(dims[axis + 1 :])
        index = positions if behind == 1 else node.emit(DivOp, positions, node.size(behind))
        found.append(index if axis == 0 else node.emit(ModOp, index, node.size(size)))
    return found


def _stacked(node: Node, vectors: Sequence[Value], axis: int) -> Value:
    """Vectors of one length as the rows, or the columns, of a matrix."""
    [length] = value_dims(vectors[0])
    dims = [const(1), length] if axis == 0 else [length, const(1)]
    single = [node.reshape(v, dims) for v in vectors]
    return single[0] if len(single) == 1 else node.emit(ConcatOp, *single, axis=int_attr(axis))
