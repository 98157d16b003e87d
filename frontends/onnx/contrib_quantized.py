"""Contrib ops: computations on what quantized numbers stand for, between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

from onnx import TensorProto

from tilework.frontends.onnx.defined import DOMAIN, define, defined
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.value_names import element_number

# ---- Quantized numbers in and out ------------------------------------------------------------------------------------

for _name in ("Add", "Mul"):
    define(f"""
QLinear{_name} (A, A_scale, A_zero, B, B_scale, B_zero, C_scale, C_zero) => (C) {{
   a = DequantizeLinear (A, A_scale, A_zero)
   b = DequantizeLinear (B, B_scale, B_zero)
   c = {_name} (a, b)
   C = QuantizeLinear (c, C_scale, C_zero)
}}""")

_WINDOWS = (
    "auto_pad: string = @auto_pad, ceil_mode: int = @ceil_mode, count_include_pad: int = @count_include_pad,"
    " kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides"
)

for _name, _attributes, _given in (
    ("Sigmoid", "", ""),
    ("LeakyRelu", "<alpha: float = 0.01>", "<alpha: float = @alpha>"),
    ("GlobalAveragePool", "", ""),
    ("AveragePool", "<auto_pad, ceil_mode, count_include_pad, kernel_shape, pads, strides>", f"<{_WINDOWS}>"),
):
    define(f"""
QLinear{_name} {_attributes} (X, X_scale, X_zero, Y_scale, Y_zero) => (Y) {{
   x = DequantizeLinear (X, X_scale, X_zero)
   y = {_name} {_given} (x)
   Y = QuantizeLinear (y, Y_scale, Y_zero)
}}""")

define("""
QLinearReduceMean <axes, keepdims> (X, X_scale, X_zero, Y_scale, Y_zero) => (Y) {
   x = DequantizeLinear (X, X_scale, X_zero)
   over = Constant <value_ints: ints = @axes> ()                # if axes
   y = ReduceMean <keepdims: int = @keepdims> (x, over)         # if axes
   y = ReduceMean <keepdims: int = @keepdims> (x)               # if no axes
   Y = QuantizeLinear (y, Y_scale, Y_zero)
}""")


@defined("QLinearSoftmax")
def qlinear_softmax(node: Node) -> str:
    """Softmax along an axis; before opset 13 all from that axis on is one row."""
    lines = """
   y = Softmax <axis: int = @axis> (x)"""
    if node.attribute("opset", 0) < 13:
        lines = """
   rows = Flatten <axis: int = @axis> (x)
   parts = Softmax <axis = 1> (rows)
   shape = Shape (x)
   y = Reshape (parts, shape)"""
    return f"""
QLinearSoftmax <axis: int = -1, opset> (X, X_scale, X_zero, Y_scale, Y_zero) => (Y) {{
   x = DequantizeLinear (X, X_scale, X_zero)
{lines}
   Y = QuantizeLinear (y, Y_scale, Y_zero)
}}"""


define("""
QLinearWhere (condition, X, X_scale, X_zero, Y, Y_scale, Y_zero, Z_scale, Z_zero) => (Z) {
   x = DequantizeLinear (X, X_scale, X_zero)
   y = DequantizeLinear (Y, Y_scale, Y_zero)
   z = Where (condition, x, y)
   Z = QuantizeLinear (z, Z_scale, Z_zero)
}""")


@defined("QLinearConcat")
def qlinear_concat(node: Node) -> str:
    """Behind the scale and zero point of the result are three inputs for each part."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise node.error("behind the scale and zero point of its result it has three inputs for each part")
    parts = range(len(node.inputs) // 3)
    inputs = ", ".join(f"X{i}, scale{i}, zero{i}" for i in parts)
    dequantized = "\n".join(f"   x{i} = DequantizeLinear (X{i}, scale{i}, zero{i})" for i in parts)
    return f"""
QLinearConcat <axis> (Y_scale, Y_zero, {inputs}) => (Y) {{
{dequantized}
   y = Concat <axis: int = @axis> ({", ".join(f"x{i}" for i in parts)})
   Y = QuantizeLinear (y, Y_scale, Y_zero)
}}"""


define("""
QGemm <alpha: float = 1.0, transA: int = 0, transB: int = 0>
    (A, A_scale, A_zero, B, B_scale, B_zero, C, Y_scale, Y_zero) => (Y) {
   a = DequantizeLinear (A, A_scale, A_zero)
   b = DequantizeLinear <axis = 1> (B, B_scale, B_zero)         # if no transB
   b = DequantizeLinear <axis = 0> (B, B_scale, B_zero)         # if transB
   product = Gemm <transA: int = @transA, transB: int = @transB> (a, b)
   scale = Mul (A_scale, B_scale)                               # if C
   count = Cast <to = 1> (C)                                    # if C
   bias = Mul (count, scale)                                    # if C
   sum = Add (product, bias)                                    # if C
   sum = Identity (product)                                     # if no C
   factor = Constant <value_float: float = @alpha> ()
   y = Mul (sum, factor)
   Y = Identity (y)                                             # if no Y_scale and no Y_zero
   Y = QuantizeLinear (y, Y_scale, Y_zero)                      # if Y_scale and Y_zero
}""")

for _name in ("QuantizeLinear", "DequantizeLinear"):
    define(f"""
{_name} <axis: int = 1> (X, scale, zero) => (Y) {{
   Y = {_name} <axis: int = @axis> (X, scale, zero)
}}""")

# ---- Floats out ------------------------------------------------------------------------------------------------------

define("""
MatMulIntegerToFloat (A, B, A_scale, B_scale, A_zero, B_zero, bias) => (Y) {
   integers = MatMulInteger (A, B, A_zero, B_zero)
   total = Cast <to = 1> (integers)
   scale = Mul (A_scale, B_scale)
   product = Mul (total, scale)
   Y = Identity (product)                                       # if no bias
   Y = Add (product, bias)                                      # if bias
}""")

define(f"""
DynamicQuantizeMatMul (A, B, B_scale, B_zero, bias) => (Y) {{
   quantized, A_scale, A_zero = DynamicQuantizeLinear (A)
   Y = {DOMAIN}.MatMulIntegerToFloat (quantized, B, A_scale, B_scale, A_zero, B_zero, bias)
}}""")

# ---- Weights of few bits ---------------------------------------------------------------------------------------------

PACKED = (2, 4, 8)
"""Bits of numbers that are packed into bytes, the lowest bits first."""


def apart(name: str, result: str, bits: int) -> str:
    """Lines that define the numbers which are packed into bytes, on an axis behind the others."""
    shifts = list(range(0, 8, bits))
    return f"""
   {name}_shifts = Constant <value = uint8[{len(shifts)}] {{{", ".join(map(str, shifts))}}}> ()
   {name}_mask = Constant <value = uint8 {{{2**bits - 1}}}> ()
   {name}_last = Constant <value_ints = [-1]> ()
   {name}_column = Unsqueeze ({name}, {name}_last)
   {name}_moved = BitShift <direction = "RIGHT"> ({name}_column, {name}_shifts)
   {result} = BitwiseAnd ({name}_moved, {name}_mask)"""


@defined("MatMulNBits")
def matmul_of_few_bits(node: Node) -> str:
    """Rows of the weight are blocks of numbers, with a scale each and a zero point: packed too, a float, or the middle
    of what the bits hold."""
    bits, block = node.attribute("bits", 4), node.attribute("block_size", 0)
    rows, columns = node.attribute("N", 0), node.attribute("K", 0)
    if bits not in PACKED or min(block, rows, columns) < 1:
        raise node.error("its bits are 2, 4 or 8, and K, N and block_size are positive")
    if node.has(4):
        raise node.error("columns in another order (g_idx) are not supported")
    blocks = -(-columns // block)
    zeros_of_row = -(-blocks * bits // 8)
    number_type = TensorProto.UINT8 if bits == 8 else TensorProto.UINT4  # the opset of the text has no UINT2 here
    integers = f"""
   counts = Cast <to = {number_type}> (in_rows)
   weight = DequantizeLinear <axis = 1, block_size = {block}> (counts, scales, zero_points)"""
    floats = f"""
   padded = Reshape (numbers, by_block)
   padded_counts = CastLike (padded, A)
   by_zero = Constant <value_ints = [{rows}, {blocks}, 1]> ()
   zeros = Reshape (zero, by_zero)
   distance = Sub (padded_counts, zeros)
   block_scales = Reshape (scale, by_zero)
   scaled = Mul (distance, block_scales)
   all_columns = Reshape (scaled, by_column)
   weight = Slice (all_columns, start, end, columns)"""
    if not node.has(3):
        zeros = f"""
   middle = Constant <value = uint8[1, 1] {{{2 ** (bits - 1)}}}> ()
   zero_rows = Expand (middle, by_scale)"""
    elif node.dtype(3) == node.dtype(0):
        zeros = ""
    else:
        zeros = f"""
   by_row = Constant <value_ints = [{rows}, {zeros_of_row}]> ()
   by_zero = Constant <value_ints = [{rows}, {zeros_of_row * 8 // bits}]> ()
   zero_bytes = Reshape (zero, by_row)
{apart("zero_bytes", "zero_numbers", bits)}
   all_zeros = Reshape (zero_numbers, by_zero)
   end_of_zeros = Constant <value_ints = [{blocks}]> ()
   zero_rows = Slice (all_zeros, start, end_of_zeros, columns)"""
    points = f"\n   zero_points = Cast <to = {number_type}> (zero_rows)" if zeros else ""
    return f"""
MatMulNBits <K, N, bits, block_size, accuracy_level> (A, B, scale, zero, order, bias) => (Y) {{
   start = Constant <value_ints = [0]> ()
   end = Constant <value_ints = [{columns}]> ()
   columns = Constant <value_ints = [1]> ()
   by_block = Constant <value_ints = [{rows}, {blocks}, {block}]> ()
   by_scale = Constant <value_ints = [{rows}, {blocks}]> ()
   by_column = Constant <value_ints = [{rows}, {blocks * block}]> ()
{apart("B", "numbers", bits)}
   all_numbers = Reshape (numbers, by_column)
   in_rows = Slice (all_numbers, start, end, columns)
   scales = Reshape (scale, by_scale)
{zeros}{points}
{integers if zeros else floats}
   right = Transpose <perm = [1, 0]> (weight)
   product = MatMul (A, right)
   Y = Identity (product)                                       # if no bias
   Y = Add (product, bias)                                      # if bias
}}"""


@defined("GatherBlockQuantized")
def gather_of_few_bits(node: Node) -> str:
    """Rows of a table whose numbers, packed into bytes or of 4 bits by their type, are in blocks that have a scale."""
    dims, bits, block = node.dims(0), node.attribute("bits", 4), node.attribute("block_size", 128)
    packed = element_number(node.value(0)) == TensorProto.UINT8
    axes = node.attribute("gather_axis", 0), node.attribute("quantize_axis", 1) % max(len(dims), 1)
    if len(dims) != 2 or axes != (0, 1) or bits not in PACKED or block < 1 or dims[1].constant is None:
        raise node.error("it gathers rows of a matrix whose rows are blocks of 2, 4 or 8 bits a number")
    columns = dims[1].constant * 8 // bits if packed else dims[1].constant
    blocks = -(-columns // block)
    if columns % block:
        raise node.error(f"its rows of {columns} numbers are no blocks of {block}")
    outer = "0, " * len(node.dims(1))
    numbers, zero_numbers = ("numbers", "zero_numbers") if packed else ("rows", "zero_rows")
    zeros = f"""
   zero_table = {"Identity (zero)" if packed else "Cast <to = 3> (zero)"}
   zero_rows = Gather <axis = 0> (zero_table, indices)
{apart("zero_rows", "zero_numbers", bits) if packed else ""}
   by_zero = Constant <value_ints = [{outer}-1, 1]> ()
   end = Constant <value_ints = [{blocks}]> ()
   start = Constant <value_ints = [0]> ()
   axis = Constant <value_ints = [-2]> ()
   all_zeros = Reshape ({zero_numbers}, by_zero)
   zeros = Slice (all_zeros, start, end, axis)"""
    middle = f"   zeros = Constant <value_float = {2.0 ** (bits - 1) if packed else 0.0}> ()"
    return f"""
GatherBlockQuantized <bits, block_size, gather_axis, quantize_axis> (data, indices, scale, zero) => (Y) {{
   table = {"Identity (data)" if packed else "Cast <to = 3> (data)"}
   rows = Gather <axis = 0> (table, indices)
   scale_rows = Gather <axis = 0> (scale, indices)
{apart("rows", "numbers", bits) if packed else ""}
   by_block = Constant <value_ints = [{outer}{blocks}, {block}]> ()
   by_scale = Constant <value_ints = [{outer}{blocks}, 1]> ()
   by_column = Constant <value_ints = [{outer}-1]> ()
   in_blocks = Reshape ({numbers}, by_block)
{zeros if node.has(3) else middle}
   count = CastLike (in_blocks, scale)
   middle = CastLike (zeros, scale)
   distance = Sub (count, middle)
   scales = Reshape (scale_rows, by_scale)
   scaled = Mul (distance, scales)
   Y = Reshape (scaled, by_column)
}}"""
