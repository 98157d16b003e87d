"""Converters: quantized numbers. What is linear in them is computed exactly, in integers of 32 bits, or on the numbers
that they stand for, as each operator's definition says; nothing but their storage is smaller than these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerType, Signedness, f32
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, ClipOp, DivOp, GatherOp, MatmulOp, MulOp, RoundOp, SubOp
from tilework.dialects.graph.base import numpy_dtype
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.convert_windows import convolution, over_channels
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Known, Value, known

i32 = IntegerType(32)
u8 = IntegerType(8, Signedness.UNSIGNED)


@dataclass(frozen=True)
class Scale:
    """What quantized numbers stand for: `factor` times their distance from `zero`; both broadcast over the numbers."""

    factor: Value
    zero: Value | None


@converter("QuantizeLinear", since=10)
def quantize_linear(node: Node) -> Value:
    """The number of steps of the scale, rounded to even and saturated; in the zero point's type."""
    scale = _scale_of(node, node.value(0), 1, 2)
    number = node.attribute("output_dtype", 0)
    declared = node.element_type(number) if number else u8
    to = node.dtype(2) if node.has(2) else declared
    x = node.cast(node.value(0), node.dtype_of(scale.factor))
    return _quantized(node, node.emit(DivOp, x, scale.factor), scale.zero, to)


@converter("DequantizeLinear", since=10)
def dequantize_linear(node: Node) -> Value:
    """What the numbers stand for, in the scale's type."""
    scale = _scale_of(node, node.value(0), 1, 2)
    number = node.attribute("output_dtype", 0)
    distance = node.cast(_distance(node, node.value(0), scale.zero), f32)
    result = node.emit(MulOp, distance, node.cast(scale.factor, f32))
    return node.cast(result, node.element_type(number) if number else node.dtype(1))


@converter("MatMulInteger", since=10)
def matmul_integer(node: Node) -> Value:
    """Of distances from the zero points: one for each row on the left, for each column on the right."""
    return node.emit(MatmulOp, _left(node, 0, 2), _distance(node, node.value(1), _optional(node, 3)))


@converter("QLinearMatMul", since=10)
def qlinear_matmul(node: Node) -> Value:
    """The product of what two matrices of quantized numbers stand for, quantized."""
    total = node.emit(MatmulOp, _left(node, 0, 2), _distance(node, node.value(3), node.value(5)))
    return _requantized(node, total, _column(node, 1), node.value(4), 6)


@converter("ConvInteger", since=10)
def conv_integer(node: Node) -> Value:
    """Of distances from the zero points, that of the weight one for each filter, too; padding stands for zero."""
    weight = _distance(node, node.value(1), _by_filter(node, _optional(node, 3)))
    return convolution(node, _distance(node, node.value(0), _optional(node, 2)), weight)


@converter("QLinearConv", since=10)
def qlinear_conv(node: Node) -> Value:
    """What quantized numbers stand for, convolved with such filters, a bias of 32 bits added, quantized."""
    weight = _distance(node, node.value(3), _by_filter(node, node.value(5)))
    total = convolution(node, _distance(node, node.value(0), node.value(2)), weight)
    if node.has(8):
        total = node.emit(AddOp, total, over_channels(node, node.value(8)))
    factor = node.value(4)
    factor = factor if _is_single(factor) else over_channels(node, factor)
    return _requantized(node, total, node.value(1), factor, 6)


# ---- Scales ----------------------------------------------------------------------------------------------------------


def _scale_of(node: Node, value: Value, factor: int, zero: int) -> Scale:
    """The scale that two inputs give a value: one for all of it, along an axis, or for blocks along it."""
    return Scale(_spread(node, value, node.value(factor)), _spread_zero(node, value, zero))


def _spread_zero(node: Node, value: Value, zero: int) -> Value | None:
    return _spread(node, value, node.value(zero)) if node.has(zero) else None


def _spread(node: Node, value: Value, part: Value) -> Value:
    """A part of a scale as something that broadcasts over a value."""
    part = _readable(part)
    if _is_single(part):
        return node.reshape(part, [])
    axis, dims = axis_from_front(node, 1), value_dims(value)
    if size := node.attribute("block_size", 0):
        return _repeated(node, part, size, axis, dims[axis])
    if value_dims(part) != (dims[axis],):
        raise node.error(f"a scale along axis {axis} is a vector of {dims[axis]} numbers")
    return node.reshape(part, [dims[axis] if i == axis else const(1) for i in range(len(dims))])


def _repeated(node: Node, part: Value, size: int, axis: int, extent: Expr) -> Value:
    """What blocks of so many numbers have, for each of them."""
    if extent.constant is None:
        raise node.error(f"only an axis of constant size has scales of blocks; axis {axis} has size {extent}")
    indices = known(np.arange(extent.constant) // size, node.title)
    return node.emit(GatherOp, part, indices, axis=int_attr(axis))


def _is_single(part: Value) -> bool:
    return all(d == 1 for d in value_dims(part))


def _optional(node: Node, i: int) -> Value | None:
    return node.value(i) if node.has(i) else None


def _left(node: Node, i: int, zero: int) -> Value:
    """The left matrix's distances; a vector of zero points has one for each row."""
    return _distance(node, node.value(i), _column(node, zero) if node.has(zero) else None)


def _column(node: Node, i: int) -> Value:
    """A vector as one over rows."""
    dims = node.dims(i)
    return node.reshape(node.value(i), [*dims, const(1)]) if len(dims) == 1 and dims[0] != 1 else node.value(i)


def _by_filter(node: Node, zero: Value | None) -> Value | None:
    """The zero points of a weight, one for each filter."""
    if zero is None or _is_single(zero):
        return zero
    return node.reshape(zero, [*value_dims(zero), *[const(1)] * (len(node.dims(0)) - 1)])


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def _distance(node: Node, value: Value, zero: Value | None) -> Value:
    """From the zero point, as an integer of 32 bits."""
    wide = node.cast(_readable(value), i32)
    if zero is None or _is_zero(zero):
        return wide
    zero = node.reshape(zero, []) if _is_single(zero) else zero
    return node.emit(SubOp, wide, node.cast(zero, i32))


def _readable(value: Value) -> Value:
    """Known integers of 2 or 4 bits as such of 8."""
    if isinstance(value, Known) and value.dtype.name in ("int2", "int4", "uint2", "uint4"):
        return known(value.array.astype(np.int8), value.name)
    return value


def _requantized(node: Node, total: Value, left: Value, right: Value, scale: int) -> Value:
    """A sum of products of distances, in steps of the scale that inputs `scale` and the next one are."""
    step = node.emit(
        DivOp, node.emit(MulOp, _factor(node, left), _factor(node, right)), _factor(node, node.value(scale))
    )
    zero = node.value(scale + 1)
    steps = node.emit(MulOp, node.cast(total, node.dtype_of(step)), step)
    return _quantized(node, steps, node.reshape(zero, []), node.dtype_of(zero))


def _is_zero(zero: Value) -> bool:
    return isinstance(zero, Known) and not zero.array.any()


def _factor(node: Node, value: Value) -> Value:
    value = node.reshape(value, []) if _is_single(value) else value
    return node.cast(value, f32)


def _quantized(node: Node, steps: Value, zero: Value | None, to: Attribute) -> Value:
    """Numbers of steps, rounded to even, from the zero point on; what the type does not hold is its nearest."""
    rounded = node.emit(RoundOp, node.cast(steps, f32))
    if zero is not None and not _is_zero(zero):
        rounded = node.emit(AddOp, rounded, node.cast(zero, f32))
    limits = np.iinfo(numpy_dtype(to))
    low, high = (FloatAttr(float(limit), f32) for limit in (limits.min, limits.max))
    return node.cast(node.emit(ClipOp, rounded, low=low, high=high), to)
