"""Converters: quantized numbers. What is linear in them is computed exactly, in integers of 32 bits, or on the numbers
that they stand for, as each operator's definition says; nothing but their storage is smaller than these."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from onnx import TensorProto
from xdsl.dialects.builtin import AnyFloat, BoolAttr, FloatAttr, IntegerType, Signedness, f32
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.dialects.graph import (
    AddOp,
    ClipOp,
    DequantizeOp,
    DivOp,
    EqualOp,
    GatherOp,
    MaxOp,
    MinOp,
    MulOp,
    ReduceMaxOp,
    ReduceMinOp,
    RoundOp,
    SubOp,
    WhereOp,
)
from tilework.dialects.graph.accumulation import accumulator
from tilework.dialects.graph.base import ints, numpy_dtype
from tilework.dialects.graph.narrow import bits_of, is_narrow, is_narrow_integer, is_unsigned
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.conversions import converted
from tilework.frontends.onnx.convert_dense import matrix_product
from tilework.frontends.onnx.convert_windows import bias_of, convolution
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.sizes import of_shape
from tilework.frontends.onnx.value_names import element_number, onnx_name
from tilework.frontends.onnx.values import Known, Value, known

i8, i32 = IntegerType(8), IntegerType(32)
u8 = IntegerType(8, Signedness.UNSIGNED)

FALSE = BoolAttr.from_bool(False)

BITS_OF_BYTE = 8

WIDEST = 2
"""Bytes that a quantized number may take."""


@converter("QuantizeLinear", since=10)
def quantize_linear(node: Node) -> Value:
    """The number of steps of the scale, rounded to even and saturated; in the zero point's type."""
    scale, zero = _spread(node, 1), _spread(node, 2) if node.has(2) else None
    number = node.attribute("output_dtype", 0)
    if number and node.has(2) and number != element_number(node.value(2)):
        raise node.error(f"output_dtype is not the type of its zero point, {onnx_name(node.value(2))}")
    to = node.dtype(2) if node.has(2) else node.element_type(number) if number else u8
    if not is_narrow(to) and (numpy_dtype(to).kind not in "iu" or numpy_dtype(to).itemsize > WIDEST):
        raise node.error(f"it makes integers of 1 or {WIDEST} bytes and narrower types, not {to}")
    precision = node.attribute("precision", 0)
    divided_in = node.element_type(precision) if precision else node.dtype(1)
    divided_in = divided_in if isinstance(divided_in, AnyFloat) else f32
    x, scale = (node.cast(node.cast(value, divided_in), accumulator(divided_in)) for value in (node.value(0), scale))
    steps = node.cast(node.emit(DivOp, x, scale), divided_in)  # said, since what it is rounded to afterwards is a step
    if isinstance(to, AnyFloat):
        shifted = steps if zero is None or _is_zero(zero) else node.emit(AddOp, steps, node.cast(zero, divided_in))
        return converted(node, shifted, to)
    return _quantized(node, steps, zero, to)


@converter("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(node: Node) -> Sequence[Value]:
    """Quantize by a scale with which 8 bits reach from the least number to the greatest, and to 0; of zeros alone, by
    1."""
    x = node.value(0)
    nothing, over_all = node.scalar(0.0, x), {"axes": ints(range(len(node.dims(0)))), "keep_dims": FALSE}
    low = node.emit(MinOp, node.emit(ReduceMinOp, x, **over_all), nothing)
    high = node.emit(MaxOp, node.emit(ReduceMaxOp, x, **over_all), nothing)
    scale = node.emit(DivOp, node.emit(SubOp, high, low), node.scalar(255.0, x))
    scale = node.emit(WhereOp, node.emit(EqualOp, scale, nothing), node.scalar(1.0, x), scale)
    zero = _quantized(node, node.emit(DivOp, node.emit(SubOp, nothing, low), scale), None, u8)
    return [_quantized(node, node.emit(DivOp, x, scale), zero, u8), scale, zero]


@converter("DequantizeLinear", since=10)
def dequantize_linear(node: Node) -> Value:
    """What the numbers stand for, in the scale's type."""
    if node.has(2) and element_number(node.value(0)) != element_number(node.value(2)):
        raise node.error(f"its zero point is a {onnx_name(node.value(2))}, what it reads is not")
    number = node.attribute("output_dtype", 0)
    if _is_matrix_in_blocks(node) and number in (0, TensorProto.FLOAT):
        return _dequantized_blocks(node)
    scale, zero = _spread(node, 1), _spread(node, 2) if node.has(2) else None
    distance = node.cast(_distance(node, node.value(0), zero), f32)  # of floats it is one already
    result = node.emit(MulOp, distance, node.cast(scale, f32))
    return node.cast(result, node.element_type(number) if number else node.dtype(1))


@converter("MatMulInteger", since=10)
def matmul_integer(node: Node) -> Value:
    """Multiply distances from the zero points: one for each row on the left, for each column on the right."""
    left = _distance(node, node.value(0), _over_rows(node, 2, node.dims(0)) if node.has(2) else None)
    right = _distance(node, node.value(1), _over_columns(node, 3, node.dims(1)) if node.has(3) else None)
    return matrix_product(node, left, right)


@converter("QLinearMatMul", since=10)
def qlinear_matmul(node: Node) -> Value:
    """The product of what two matrices of quantized numbers stand for, quantized."""
    left, right = node.dims(0), node.dims(3)
    total = matrix_product(
        node,
        _distance(node, node.value(0), _over_rows(node, 2, left)),
        _distance(node, node.value(3), _over_columns(node, 5, right)),
    )
    steps = _steps(node, total, _over_rows(node, 1, left), _over_columns(node, 4, right), _over_rows(node, 6, left))
    return _quantized(node, steps, _over_rows(node, 7, left), node.dtype(7))


@converter("ConvInteger", since=10)
def conv_integer(node: Node) -> Value:
    """Convolve distances from the zero points, that of the weight one for each filter, too; padding stands for zero."""
    image = _distance(node, node.value(0), _alone(node, 2) if node.has(2) else None)
    return convolution(node, image, _distance(node, node.value(1), _over_filters(node, 3, 1) if node.has(3) else None))


@converter("QLinearConv", since=10)
def qlinear_conv(node: Node) -> Value:
    """What quantized numbers stand for, convolved with such filters, a bias of 32 bits added, quantized."""
    weight = _distance(node, node.value(3), _over_filters(node, 5, 3))
    total = convolution(node, _distance(node, node.value(0), _alone(node, 2)), weight)
    if node.has(8):
        total = node.emit(AddOp, total, bias_of(node, 8, 3))
    scale = _over_filters(node, 4, 3)
    by_channel = node.reshape(scale, value_dims(scale)[:-1]) if value_dims(scale) else scale
    steps = _steps(node, total, _alone(node, 1), by_channel, _alone(node, 6))
    return _quantized(node, steps, _alone(node, 7), node.dtype(7))


# ---- Weights in blocks -----------------------------------------------------------------------------------------------


def _is_matrix_in_blocks(node: Node) -> bool:
    """Whether DequantizeLinear is given a matrix of integers of at most a byte, and a scale of f32 for each block."""
    dims, dtype = node.dims(0), node.dtype(0)
    is_number = is_narrow_integer(dtype) or dtype in (i8, u8)
    in_blocks = node.attribute("block_size", 0) > 0 and len(node.dims(1)) == 2 and node.dtype(1) == f32
    return is_number and in_blocks and len(dims) == 2 and all(d.is_constant for d in dims)


def _dequantized_blocks(node: Node) -> Value:
    """What the numbers of a matrix stand for, each of whose rows, or columns, is blocks that have a scale."""
    dims, block, axis = node.dims(0), node.attribute("block_size"), axis_from_front(node, 1)
    bits = bits_of(node.dtype(0)) if is_narrow_integer(node.dtype(0)) else BITS_OF_BYTE
    middle = 1 << bits - 1 if is_unsigned(node.dtype(0)) else 0
    blocks = [ceildiv(d, block) if at == axis else d for at, d in enumerate(dims)]
    what = f"has no number for each block of {block} along axis {axis}"
    scale = node.of_dims(node.value(1), blocks, f"input 1 {what}")
    zero = node.of_dims(node.value(2), blocks, f"input 2 {what}") if node.has(2) else None
    operands = [_less(node, node.cast(_readable(node.value(0)), i8), middle), scale]
    if zero is None and middle:
        operands.append(known(np.full([d.offset for d in blocks], -middle, np.float32), node.title))
    elif zero is not None and not (isinstance(zero, Known) and (zero.array.astype(np.int16) == middle).all()):
        operands.append(_less(node, node.cast(_readable(zero), f32), middle))
    order = [1, 0] if axis == 0 else [0, 1]
    rows = [node.transposed(operand, order) for operand in operands]
    return node.transposed(node.emit(DequantizeOp, *rows, bits=int_attr(bits), block=int_attr(block)), order)


def _less(node: Node, value: Value, middle: int) -> Value:
    """Numbers less the middle of a range without a sign; bytes wrap around, and so come to their place."""
    if not middle:
        return value
    return node.emit(SubOp, value, known(np.array(middle).astype(numpy_dtype(node.dtype_of(value))), node.title))


# ---- Scales and zero points, as something that broadcasts ------------------------------------------------------------


def _spread(node: Node, i: int) -> Value:
    """Input `i` over input 0: one for all of it, a vector along its axis, or one for each block along it."""
    part, dims = _readable(node.value(i)), node.dims(0)
    if _is_single(part):
        return node.reshape(part, [])
    axis, size = axis_from_front(node, 1), node.attribute("block_size", 0)
    if size == 0:
        return _vector(node, part, i, axis, dims)
    blocks = [ceildiv(d, max(size, 1)) if at == axis else d for at, d in enumerate(dims)] if size > 0 else []
    part = node.of_dims(part, blocks, f"input {i} has no number for each block of {size} along axis {axis}")
    extent = dims[axis].constant
    if extent is not None:
        return node.emit(GatherOp, part, known(np.arange(extent) // size, node.title), axis=int_attr(axis))
    numbers = node.emitter.range(const(0), dims[axis], 1, node.title)
    return node.emit(GatherOp, part, node.emit(DivOp, numbers, node.size(size)), axis=int_attr(axis))


def _vector(node: Node, part: Value, i: int, axis: int, dims: Sequence[Expr]) -> Value:
    """Input `i`, a vector along one of these axes."""
    what = f"input {i} is one number, or a vector of {dims[axis]} along axis {axis}"
    if len(value_dims(part)) != 1:
        raise node.error(what)
    vector = of_shape(node, part, dims[axis : axis + 1], what)
    return node.reshape(vector, [d if at == axis else const(1) for at, d in enumerate(dims)])


def _alone(node: Node, i: int) -> Value:
    if not _is_single(node.value(i)):
        raise node.error(f"input {i} is one number")
    return node.reshape(node.value(i), [])


def _over_filters(node: Node, i: int, weight: int) -> Value:
    """One number, or one for each filter of the weight, which is input `weight`."""
    return _alone(node, i) if _is_single(node.value(i)) else _vector(node, node.value(i), i, 0, node.dims(weight))


def _over_rows(node: Node, i: int, matrix: Sequence[Expr]) -> Value:
    """One number, or one for each row, whatever shape says so."""
    part = node.value(i)
    if _is_single(part) or len(matrix) == 1:
        return _alone(node, i)
    if value_dims(part) == (*matrix[:-2], matrix[-2], const(1)):
        return part
    return _vector(node, part, i, 0, [matrix[-2], const(1)])


def _over_columns(node: Node, i: int, matrix: Sequence[Expr]) -> Value:
    """One number, or one for each column, whatever shape says so."""
    part = node.value(i)
    if _is_single(part) or len(matrix) == 1:
        return _alone(node, i)
    if value_dims(part) == (*matrix[:-2], const(1), matrix[-1]):
        return part
    return _vector(node, part, i, 0, [matrix[-1]])


def _is_single(part: Value) -> bool:
    return all(d == 1 for d in value_dims(part))


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def _distance(node: Node, value: Value, zero: Value | None) -> Value:
    """The distance from the zero point: an integer of 32 bits, or a number of as many, where it is one of floats."""
    computed_in = f32 if isinstance(node.dtype_of(value), AnyFloat) else i32
    wide = node.cast(_readable(value), computed_in)
    return wide if zero is None or _is_zero(zero) else node.emit(SubOp, wide, node.cast(zero, computed_in))


def _readable(value: Value) -> Value:
    """Known integers of 2 or 4 bits as such of 8."""
    if isinstance(value, Known) and value.dtype.name in ("int2", "int4", "uint2", "uint4"):
        return known(value.array.astype(np.int8), value.name)
    return value


def _is_zero(zero: Value) -> bool:
    return isinstance(zero, Known) and not zero.array.astype(np.float32).any()


def _steps(node: Node, total: Value, left: Value, right: Value, result: Value) -> Value:
    """A sum of products of distances in steps of the result's scale."""
    left, right, result = (node.cast(scale, f32) for scale in (left, right, result))
    step = node.emit(DivOp, node.emit(MulOp, left, right), result)
    return node.emit(MulOp, node.cast(total, f32), step)


def _quantized(node: Node, steps: Value, zero: Value | None, to: Attribute) -> Value:
    """Numbers of steps, rounded to even, from the zero point on; what the type does not hold is its nearest."""
    rounded = node.emit(RoundOp, node.cast(steps, f32))
    if zero is not None and not _is_zero(zero):
        rounded = node.emit(AddOp, rounded, node.cast(zero, f32))
    limits = ml_dtypes.iinfo(numpy_dtype(to))
    low, high = (FloatAttr(float(limit), f32) for limit in (limits.min, limits.max))
    return node.cast(node.emit(ClipOp, rounded, low=low, high=high), to)
