"""Converters: normalizations and softmax."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr

from tilework.algebra.index_expr import const, product
from tilework.dialects.graph import (
    AddOp,
    BatchNormOp,
    DivOp,
    LogSoftmaxOp,
    LrnOp,
    MulOp,
    ReduceMeanOp,
    SoftmaxOp,
    SqrtOp,
    SubOp,
)
from tilework.dialects.graph.base import GraphOp, ints
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.node import Node, converter, float_attr, int_attr
from tilework.frontends.onnx.values import Value

SOFTMAX: dict[str, type[GraphOp]] = {"Softmax": SoftmaxOp, "LogSoftmax": LogSoftmaxOp}


@converter("BatchNormalization")
def batch_normalization(node: Node) -> Value:
    """As in inference, where mean and variance are given; the outputs for training are not made."""
    if node.attribute("training_mode", 0):
        raise node.error("training mode is not supported")
    if not node.attribute("spatial", 1):
        raise node.error("spatial=0, a mean for every position, is not supported")
    epsilon = float_attr(node.attribute("epsilon", 1e-5))
    return node.emit(BatchNormOp, *(node.value(i) for i in range(5)), epsilon=epsilon)


@converter("LRN")
def lrn(node: Node) -> Value:
    """Across channels."""
    return node.emit(
        LrnOp,
        node.value(0),
        size=int_attr(node.attribute("size")),
        alpha=float_attr(node.attribute("alpha", 0.0001)),
        beta=float_attr(node.attribute("beta", 0.75)),
        bias=float_attr(node.attribute("bias", 1.0)),
    )


def softmax_of_rows(node: Node) -> Value:
    """Before opset 13: everything from `axis` on is one row."""
    dims = node.dims(0)
    axis = node.attribute("axis", 1)
    if not -len(dims) <= axis <= len(dims):
        raise node.error(f"a tensor of rank {len(dims)} has no rows from axis {axis} on")
    axis = axis + len(dims) if axis < 0 else axis
    if axis < len(dims) and product(dims[axis + 1 :]) == 1:
        return node.emit(SOFTMAX[node.op_type], node.value(0), axis=int_attr(axis))
    rows = node.reshape(node.value(0), [product(dims[:axis]), product(dims[axis:])])
    return node.reshape(node.emit(SOFTMAX[node.op_type], rows, axis=int_attr(1)), dims)


def softmax_along_axis(node: Node) -> Value:
    """From opset 13: along one axis, the last where none is named."""
    return node.emit(SOFTMAX[node.op_type], node.value(0), axis=int_attr(axis_from_front(node, -1)))


for _name in SOFTMAX:
    converter(_name)(softmax_of_rows)
    converter(_name, since=13)(softmax_along_axis)


@converter("InstanceNormalization")
def instance_normalization(node: Node) -> Value:
    """Over the spatial axes of each image and channel; scale and bias are vectors over the channels."""
    rank = len(node.dims(0))
    normalized = _normalized(node, range(2, rank))
    scale, bias = (node.reshape(node.value(i), [*node.dims(i), *[const(1)] * (rank - 2)]) for i in (1, 2))
    return node.emit(AddOp, node.emit(MulOp, normalized, scale), bias)


@converter("LayerNormalization", since=17)
def layer_normalization(node: Node) -> Value:
    """Over the axes from `axis` on; the outputs for training are not made."""
    rank = len(node.dims(0))
    result = _normalized(node, range(axis_from_front(node, -1), rank))
    result = node.emit(MulOp, result, node.value(1))
    return node.emit(AddOp, result, node.value(2)) if node.has(2) else result


def _normalized(node: Node, axes: Sequence[int]) -> Value:
    """(x - mean) / sqrt(variance + epsilon), both over these axes."""
    x = node.widened(node.value(0))
    keep = BoolAttr.from_bool(True)
    centred = node.emit(SubOp, x, node.emit(ReduceMeanOp, x, axes=ints(axes), keep_dims=keep))
    variance = node.emit(ReduceMeanOp, node.emit(MulOp, centred, centred), axes=ints(axes), keep_dims=keep)
    epsilon = node.scalar(node.attribute("epsilon", 1e-5), x)
    return node.narrowed(node.emit(DivOp, centred, node.emit(SqrtOp, node.emit(AddOp, variance, epsilon))))
