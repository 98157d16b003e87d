"""Converters: the largest elements of an axis, or the smallest."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const
from tilework.dialects.graph import AndOp, EqualOp, LessOp, NotOp, OrOp, ReduceMaxOp, ReduceMinOp, WhereOp
from tilework.dialects.graph.base import extremes, ints, numpy_dtype
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.convert_indexed import along
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.scans import scan
from tilework.frontends.onnx.values import Value, known


@converter("TopK")
def top_k(node: Node) -> Sequence[Value]:
    """The k largest (or smallest) and their indices, in order: one after the other, each the first of those left."""
    axis, dims = axis_from_front(node, -1), node.dims(0)
    k = node.attribute("k") or (int(node.number(1, "k")) if node.has(1) else 0)
    extent = dims[axis].constant
    if extent is None:
        raise node.error(f"elements are chosen along an axis of constant size; axis {axis} has size {dims[axis]}")
    if not 1 <= k <= extent:
        raise node.error(f"{k} of {extent} elements along axis {axis} are not chosen")
    largest = bool(node.attribute("largest", 1))
    # a bound that no number is beyond: what is behind it is nothing, and what has been taken counts as it
    least, most = extremes(numpy_dtype(node.dtype(0)))
    bound = known(least if largest else most, node.title)
    pair = (node.value(0), bound) if largest else (bound, node.value(0))
    nothing = node.emit(LessOp, *pair)
    places = along(node, axis, dims[axis], len(dims))
    reduced = {"axes": ints([axis]), "keep_dims": BoolAttr.from_bool(True)}

    def step(inside: Node, states: Sequence[SSAValue], _: Sequence[SSAValue]) -> tuple[list[Value], list[Value]]:
        [taken] = states
        left = inside.emit(WhereOp, taken, bound, inside.value(0))
        best = inside.emit(ReduceMaxOp if largest else ReduceMinOp, left, **reduced)
        is_best = inside.emit(AndOp, inside.emit(EqualOp, left, best), inside.emit(NotOp, taken))
        place = inside.emit(ReduceMinOp, inside.emit(WhereOp, is_best, places, inside.size(extent)), **reduced)
        return [inside.emit(OrOp, taken, inside.emit(EqualOp, places, place))], [best, place]

    _, chosen = scan(node, [nothing], [node.emitter.range(const(0), const(k), 1, node.title)], step)
    return [_behind(node, value, axis) for value in chosen]


def _behind(node: Node, value: Value, axis: int) -> Value:
    """The first axis in place of `axis`, which is of size 1 behind it."""
    steps, *dims = value_dims(value)
    apart = node.reshape(value, [steps, *dims[:axis], *dims[axis + 1 :]])
    return node.transposed(apart, [*range(1, axis + 1), 0, *range(axis + 1, len(dims))])
