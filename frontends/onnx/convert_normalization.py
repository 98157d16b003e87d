"""Converters: normalizations and softmax."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, f32, f64

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
from tilework.frontends.onnx.axes import axis_from_front, from_front
from tilework.frontends.onnx.node import Node, converter, float_attr, int_attr, value_dims
from tilework.frontends.onnx.sizes import of_shape
from tilework.frontends.onnx.values import Value

SOFTMAX: dict[str, type[GraphOp]] = {"Softmax": SoftmaxOp, "LogSoftmax": LogSoftmaxOp}


@converter("BatchNormalization")
def batch_normalization(node: Node) -> Value | Sequence[Value]:
    """Normalize by the mean and variance that are given or, in training mode, by those of the batch.

    Other outputs are made of training mode as opset 14 has it: how both sorts of mean, and of variance, are mixed.
    """
    if not node.attribute("spatial", 1):
        raise node.error("spatial=0, a mean for every position, is not supported")
    epsilon = float_attr(node.attribute("epsilon", 1e-5))
    if not node.attribute("training_mode", 0):
        types = {node.dtype(i) for i in range(5)}
        widest = node.dtype(0) if len(types) == 1 else f64 if f64 in types else f32
        given = [node.cast(node.value(i), widest) for i in range(5)]
        return node.narrowed(node.emit(BatchNormOp, *given, epsilon=epsilon))
    dims = node.dims(0)
    if len(dims) < 2:
        raise node.error("it takes a batch with channels")
    x, scale, bias = (node.widened(node.value(i)) for i in range(3))
    axes = [axis for axis in range(len(dims)) if axis != 1]
    mean = _mean(node, x, axes)
    centred = node.emit(SubOp, x, mean)
    statistics = [node.reshape(v, [dims[1]]) for v in (mean, _mean(node, node.emit(MulOp, centred, centred), axes))]
    result = node.narrowed(node.emit(BatchNormOp, x, scale, bias, *statistics, epsilon=epsilon))
    running = zip(node.proto.output[1:], (3, 4), statistics, strict=False)
    return [result, *(_mixed(node, i, of_batch) if name else of_batch for name, i, of_batch in running)]


def _mean(node: Node, x: Value, axes: Sequence[int]) -> Value:
    return node.emit(ReduceMeanOp, x, axes=ints(axes), keep_dims=BoolAttr.from_bool(True))


def _mixed(node: Node, i: int, of_batch: Value) -> Value:
    """Input `i` times the momentum, and what is left of that in one times what a batch has, in the input's type."""
    given, momentum = node.cast(node.value(i), node.dtype_of(of_batch)), node.attribute("momentum", 0.9)
    terms = ((given, momentum), (of_batch, 1.0 - momentum))
    kept, added = (node.emit(MulOp, value, node.scalar(share, value)) for value, share in terms)
    return node.cast(node.emit(AddOp, kept, added), node.dtype(i))


@converter("LRN")
def lrn(node: Node) -> Value:
    """Normalize each element by its neighbours across channels."""
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
    """Softmax along one axis, the last where none is named, as opset 13 has it."""
    return node.emit(SOFTMAX[node.op_type], node.value(0), axis=int_attr(axis_from_front(node, -1)))


for _name in SOFTMAX:
    converter(_name)(softmax_of_rows)
    converter(_name, since=13)(softmax_along_axis)


@converter("InstanceNormalization")
def instance_normalization(node: Node) -> Value:
    """Normalize over the spatial axes of each image and channel; scale and bias are vectors over the channels."""
    rank = len(node.dims(0))
    return _scaled(node, _normalized(node, node.value(0), range(2, rank)))


@converter("MeanVarianceNormalization", since=9)
def mean_variance_normalization(node: Node) -> Value:
    """(x - mean) / (deviation + 1e-9), of centred numbers: squares of others leave nothing but their rounding."""
    axes = sorted(from_front(node, node.attribute("axes", [0, 2, 3]), len(node.dims(0))))
    x = node.widened(node.value(0))
    centred = node.emit(SubOp, x, _mean(node, x, axes))
    variance = _mean(node, node.emit(MulOp, centred, centred), axes)
    deviation = node.emit(AddOp, node.emit(SqrtOp, variance), node.scalar(1e-9, x))
    return node.narrowed(node.emit(DivOp, centred, deviation))


@converter("GroupNormalization", since=21)
def group_normalization(node: Node) -> Value:
    """Normalize over groups of channels; scale and bias are vectors over the channels."""
    return _scaled(node, node.reshape(_normalized_groups(node), node.dims(0)))


def _normalized_groups(node: Node) -> Value:
    dims, groups = node.dims(0), node.attribute("num_groups")
    what = f"{dims[1]} channels do not make {groups} groups"
    if groups < 1:
        raise node.error(what)
    apart = [dims[0], const(groups), node.quotient(dims[1], groups, what), *dims[2:]]
    return _normalized(node, node.reshape(node.value(0), apart), range(2, len(apart)))


def _scaled(node: Node, x: Value) -> Value:
    """Times input 1 plus input 2, vectors over axis 1."""
    dims = value_dims(x)
    what = f"scale and bias are vectors over the {dims[1]} channels"
    vectors = (node.of_dims(node.value(i), dims[1:2], what) for i in (1, 2))
    scale, bias = (node.reshape(vector, [dims[1], *[const(1)] * (len(dims) - 2)]) for vector in vectors)
    return node.emit(AddOp, node.emit(MulOp, x, scale), bias)


@converter("LayerNormalization", since=17)
def layer_normalization(node: Node) -> Sequence[Value]:
    """Normalize over the axes from `axis` on; what else is asked for, mean and 1 / deviation, is in single
    precision."""
    x, axes = node.widened(node.value(0)), range(axis_from_front(node, -1), len(node.dims(0)))
    mean = _mean(node, x, axes)
    centred = node.emit(SubOp, x, mean)
    deviation = _deviation(node, centred, axes)
    result = node.emit(MulOp, node.narrowed(node.emit(DivOp, centred, deviation)), _over_rows(node, 1))
    result = node.emit(AddOp, result, _over_rows(node, 2)) if node.has(2) else result
    if not any(node.proto.output[1:]):
        return [result]
    inverse = node.emit(DivOp, node.scalar(1.0, deviation), deviation)
    return [result, node.cast(mean, f32), node.cast(inverse, f32)]


@converter("RMSNormalization", since=23)
def rms_normalization(node: Node) -> Value:
    """Normalize by the root of the mean of the squares over the axes from `axis` on, times a scale."""
    x = node.widened(node.value(0))
    axes = range(axis_from_front(node, -1), len(node.dims(0)))
    normalized = node.narrowed(node.emit(DivOp, x, _deviation(node, x, axes)))
    return node.emit(MulOp, node.cast(normalized, node.dtype(1)), _over_rows(node, 1))


def _over_rows(node: Node, i: int) -> Value:
    """A scale or bias, which broadcasts to input 0."""
    return of_shape(node, node.value(i), node.dims(0), f"input {i} does not broadcast to the first one")


def _normalized(node: Node, value: Value, axes: Sequence[int]) -> Value:
    """(x - mean) / sqrt(variance + epsilon), both over these axes, of what has the element type of input 0."""
    x = node.widened(value)
    centred = node.emit(SubOp, x, _mean(node, x, axes))
    return node.narrowed(node.emit(DivOp, centred, _deviation(node, centred, axes)))


def _deviation(node: Node, x: Value, axes: Sequence[int]) -> Value:
    """The root of the mean of the squares, and epsilon, over these axes."""
    mean = _mean(node, node.emit(MulOp, x, x), axes)
    epsilon = node.scalar(node.attribute("epsilon", 1e-5), x)
    return node.emit(SqrtOp, node.emit(AddOp, mean, epsilon))
