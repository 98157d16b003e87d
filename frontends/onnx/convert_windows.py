"""Converters: convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, AveragePoolOp, ConvOp, MaxPoolIndicesOp, MaxPoolOp, ReduceMaxOp, ReduceMeanOp
from tilework.dialects.graph.base import GraphOp, ints
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Value


@converter("Conv")
def conv(node: Node) -> Value:
    """The bias is added, one number a filter."""
    result = convolution(node, node.value(0), node.value(1))
    return node.emit(AddOp, result, bias_of(node, 2, 1)) if node.has(2) else result


def bias_of(node: Node, bias: int, weight: int) -> Value:
    """An input that has a number for each filter of another one, over the channels of images like input 0."""
    filters = node.dims(weight)[:1]
    if node.dims(bias) != filters:
        raise node.error(f"the bias is a vector over the {filters[0]} filters")
    return node.reshape(node.value(bias), [*filters, *[const(1)] * (len(node.dims(0)) - 2)])


def convolution(node: Node, x: Value, weight: Value) -> Value:
    """With what the attributes say of windows; without a bias."""
    kernel = [d.constant for d in value_dims(weight)[2:]]
    if None in kernel:
        raise node.error("its window is of constant size")
    declared = list(node.attribute("kernel_shape", kernel))
    if declared != kernel:
        raise node.error(f"kernel_shape {declared} is not that of the weight, {kernel}")
    return node.emit(ConvOp, x, weight, **_geometry(node, declared), groups=int_attr(node.attribute("group", 1)))


@converter("MaxPool")
def max_pool(node: Node) -> Sequence[Value]:
    """The largest elements, and where they are if that is asked for."""
    x, windows = node.value(0), _pooling(node)
    largest = node.emit(MaxPoolOp, x, **windows)
    if not any(node.proto.output[1:]):
        return [largest]
    column_major = BoolAttr.from_bool(bool(node.attribute("storage_order", 0)))
    return [largest, node.emit(MaxPoolIndicesOp, x, largest, **windows, column_major=column_major)]


@converter("AveragePool")
def average_pool(node: Node) -> Value:
    """Padding counts on request."""
    count_padding = BoolAttr.from_bool(bool(node.attribute("count_include_pad", 0)))
    return node.emit(AveragePoolOp, node.value(0), **_pooling(node), count_padding=count_padding)


def _pooling(node: Node) -> dict[str, Attribute]:
    kernel = node.attribute("kernel_shape")
    ceil_mode = BoolAttr.from_bool(bool(node.attribute("ceil_mode", 0)))
    return {"kernel": ints(kernel), **_geometry(node, kernel), "ceil_mode": ceil_mode}


@converter("GlobalAveragePool")
def global_average_pool(node: Node) -> Value:
    """The mean over all spatial axes."""
    return _global(node, ReduceMeanOp)


@converter("GlobalMaxPool")
def global_max_pool(node: Node) -> Value:
    """The maximum over all spatial axes."""
    return _global(node, ReduceMaxOp)


def _global(node: Node, op: type[GraphOp]) -> Value:
    axes = ints(range(2, len(node.dims(0))))
    return node.emit(op, node.value(0), axes=axes, keep_dims=BoolAttr.from_bool(True))


# ---- Geometry --------------------------------------------------------------------------------------------------------


def _geometry(node: Node, kernel: Sequence[int]) -> dict[str, Attribute]:
    """Strides, dilations and pads, with the defaults of ONNX and `auto_pad` computed."""
    rank = len(kernel)
    if rank != len(node.dims(0)) - 2:
        raise node.error(f"the input has rank {len(node.dims(0))}; windows of {rank} axes slide over rank {rank + 2}")
    strides, dilations = (positive(node, name, rank) for name in ("strides", "dilations"))
    return {
        "strides": ints(strides),
        "dilations": ints(dilations),
        "pads": ints(_pads(node, kernel, strides, dilations)),
    }


def positive(node: Node, name: str, rank: int) -> list[int]:
    """An attribute of a positive number for every spatial axis, by default 1."""
    given = list(node.attribute(name, [1] * rank))
    if len(given) != rank or min(given, default=1) < 1:
        raise node.error(f"the {name} are {rank} positive numbers, not {given}")
    return given


def given_pads(node: Node, rank: int) -> list[int]:
    """The attribute of a padding in front of every spatial axis and behind it, by default 0."""
    given = list(node.attribute("pads", [0] * (2 * rank)))
    if len(given) != 2 * rank or min(given, default=0) < 0:
        raise node.error(f"the pads are {2 * rank} numbers that are not negative, not {given}")
    return given


def _pads(node: Node, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[int]:
    auto_pad, pads = node.attribute("auto_pad", "NOTSET"), list(node.attribute("pads", [0] * (2 * len(kernel))))
    if auto_pad == "NOTSET":
        return pads
    if any(pads):
        raise node.error(f"auto_pad '{auto_pad}' and pads {pads} contradict each other")
    if auto_pad == "VALID":
        return [0] * (2 * len(kernel))
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.error(f"auto_pad '{auto_pad}' is not known")
    before: list[int] = []
    after: list[int] = []
    for extent, k, s, d in zip(node.dims(0)[2:], kernel, strides, dilations, strict=True):
        total = _same_padding(node, extent, (k - 1) * d + 1, s)
        small, large = total // 2, total - total // 2
        before.append(small if auto_pad == "SAME_UPPER" else large)
        after.append(large if auto_pad == "SAME_UPPER" else small)
    return before + after


def _same_padding(node: Node, extent: Expr, span: int, stride: int) -> int:
    """How much padding makes `extent / stride` windows, rounded up."""
    if stride == 1:
        return span - 1
    if (size := extent.constant) is None:
        raise node.error(f"auto_pad with stride {stride} needs an axis of constant size, not {extent}")
    return max((-(-size // stride) - 1) * stride + span - size, 0)
