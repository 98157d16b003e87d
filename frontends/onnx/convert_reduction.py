"""Converters: reductions."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr

from tilework.dialects.graph import (
    AbsOp,
    LogOp,
    MulOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SqrtOp,
)
from tilework.dialects.graph.base import GraphOp, ints
from tilework.frontends.onnx.axes import reduced_axes
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Value

REDUCTIONS: dict[str, type[GraphOp]] = {
    "ReduceMax": ReduceMaxOp,
    "ReduceMean": ReduceMeanOp,
    "ReduceMin": ReduceMinOp,
    "ReduceProd": ReduceProdOp,
    "ReduceSum": ReduceSumOp,
}


def reduction(node: Node) -> Value:
    """The graph operator of the same meaning."""
    return _reduce(node, REDUCTIONS[node.op_type], node.value(0))


for _name in REDUCTIONS:
    converter(_name)(reduction)


@converter("ReduceL1")
def reduce_l1(node: Node) -> Value:
    """The sum of magnitudes."""
    return _reduce(node, ReduceSumOp, node.emit(AbsOp, node.value(0)))


@converter("ReduceL2")
def reduce_l2(node: Node) -> Value:
    """The root of the sum of squares."""
    return node.narrowed(node.emit(SqrtOp, _sum_of_squares(node)))


@converter("ReduceSumSquare")
def reduce_sum_square(node: Node) -> Value:
    """The sum of squares."""
    return node.narrowed(_sum_of_squares(node))


def _sum_of_squares(node: Node) -> Value:
    x = node.widened(node.value(0))
    return _reduce(node, ReduceSumOp, node.emit(MulOp, x, x))


@converter("ReduceLogSum")
def reduce_log_sum(node: Node) -> Value:
    """The logarithm of the sum."""
    return node.narrowed(node.emit(LogOp, _reduce(node, ReduceSumOp, node.widened(node.value(0)))))


def _reduce(node: Node, op: type[GraphOp], x: Value) -> Value:
    """Over the axes of the attribute or (later opsets) of input 1; over all where there are none."""
    axes = reduced_axes(node, len(node.dims(0)))
    keep = BoolAttr.from_bool(bool(node.attribute("keepdims", 1)))
    return node.emit(op, x, axes=ints(axes), keep_dims=keep) if axes else x
