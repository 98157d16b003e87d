"""Products with weights of few bits, which stay so in memory: their numbers become floats in registers.

A product of few rows takes as long as reading its weight. So the weight lies as it is read: panels of outputs, in a
panel block after block, and of a block the words of its numbers first, then its scales, and its zero points if there
are some, both as the bits of floats. The last axis are outputs, which become lanes.

In words, numbers have no sign: the middle of their range is added to them and to zero points. All but the last number
of a word become floats where they are, some bits further up: what they are multiplied with is as much smaller. So a
vector of weights costs two instructions besides the multiplication. `graph.block_quantized_dense %x,
(graph.block_quantized_weight %q, %scale, %zero)` is `graph.dense %x, (graph.dequantize %q, %scale, %zero)`, but that
scale and zero point are applied to the sum of a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, f32, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.algebra.predicate import less_than
from tilework.dialects import arith
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.dequantize import BITS, QuantizedBlocksOp
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

PRODUCT, SUM, ROWS, ROW_SUMS = (f"block_quantized.{part}" for part in ("product", "sum", "rows", "row_sums"))
"""The roles of stages: the sum of each block, the sum of the blocks, the rows and the sums of their blocks."""

PANEL = 64
"""Outputs side by side: some vectors, whatever the machine."""

WORD = 32
"""Bits of a word."""


@dataclass(frozen=True)
class BlockFormat:
    """How blocks of so many numbers of so many bits lie in words. zeros: whether they have zero points."""

    bits: int
    block: int
    zeros: bool

    @property
    def fills_words(self) -> bool:
        """Whether a block ends with a word, as it has to."""
        return self.block * self.bits % WORD == 0

    @property
    def in_word(self) -> int:
        """How many numbers a word has."""
        return WORD // self.bits

    @property
    def middle(self) -> int:
        """What is added to a number, so that it has no sign."""
        return 1 << self.bits - 1

    @property
    def mask(self) -> int:
        """The bits of a number."""
        return (1 << self.bits) - 1

    @property
    def words(self) -> int:
        """How many words the numbers of a block are."""
        return self.block // self.in_word

    def sizes(self, outputs: Expr, channels: Expr) -> tuple[Expr, ...]:
        """The dimensions of a weight: panels, blocks, words of a block, outputs of a panel."""
        return ceildiv(outputs, PANEL), ceildiv(channels, self.block), const(self.words + 1 + self.zeros), const(PANEL)


@irdl_op_definition
class BlockQuantizedWeightOp(QuantizedBlocksOp):
    """u[p, b, v, l]: of output 64 * p + l, the words of block b, its scale, and its zero point if there are some.

    Number t of word v, more by 2^(bits - 1), is its bits from bits * t on, and zero points are more by as much. What is
    behind the last output is zero.

    %u = graph.block_quantized_weight %q, %scale {bits = 4 : i64, block = 32 : i64}
        : (tensor<100x96xi8>, tensor<100x3xf32>) -> tensor<2x3x5x64xi32>
    """

    name = "graph.block_quantized_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def format(self) -> BlockFormat:
        """How its blocks lie in words."""
        return BlockFormat(self.bits.value.data, self.block.value.data, self.zero is not None)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        sizes = self.require_blocks()
        if not self.format.fills_words:
            raise VerifyException(f"a block of {self.format.block} numbers of {self.format.bits} bits fills no words")
        return [tensor_type(self.format.sizes(*sizes), i32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        q, *by_block = inputs
        format, (outputs, channels) = self.format, q.dims
        sizes = format.sizes(outputs, channels)

        def number(p: Expr, b: Expr, v: Expr, lane: Expr, t: Expr) -> Scalar:
            o, c = PANEL * p + lane, format.block * b + format.in_word * v + t
            there = [less_than(o, outputs), less_than(c, channels)]
            above = k.if_then_else(there, lambda: k.cast(q[o, c], i32) + format.middle, lambda: 0, i32)
            return (above & format.mask) << k.index(format.bits * t, i32)

        def word(p: Expr, b: Expr, v: Expr, lane: Expr) -> Reduction:
            def of_place(t: Expr) -> Scalar:
                return number(p, b, v, lane, t)

            return k.sum([format.in_word], of_place)

        words = k.compute("words", (*sizes[:2], const(format.words), sizes[3]), word)

        def of_block(p: Expr, b: Expr, v: Expr, lane: Expr) -> Scalar:
            o = PANEL * p + lane

            def bits(number: Scalar) -> Scalar:
                return k.insert(arith.BitcastOp(number.value, i32))

            def of_output() -> Scalar:
                scale, *zeros = (tensor[o, b] for tensor in by_block)
                if not zeros:
                    return bits(scale)
                return bits(k.select(k.index(v, i32).compare("eq", format.words), scale, zeros[0] + format.middle))

            return k.if_then_else([less_than(o, outputs)], of_output, lambda: 0, i32)

        def element(p: Expr, b: Expr, v: Expr, lane: Expr) -> Scalar:
            here = [less_than(v, format.words)]
            return k.if_then_else(here, lambda: words[p, b, v, lane], lambda: of_block(p, b, v, lane), i32)

        return k.compute("block_quantized_weight", sizes, element)

    def evaluate(self, *inputs: Array) -> Array:
        q, *by_block = inputs
        format = self.format
        blocks = -(-q.shape[1] // format.block)
        result = np.zeros((-(-len(q) // PANEL), blocks, format.words + len(by_block), PANEL), np.int32)
        for panel, first in zip(result, range(0, len(q), PANEL), strict=True):
            numbers = q[first : first + PANEL]
            above = numbers.view(np.uint8) + np.uint8(format.middle)  # which wraps around
            padded = np.pad(above, [(0, 0), (0, blocks * format.block - q.shape[1])])
            words = _packed(padded, format.bits).view("<i4").reshape(len(numbers), blocks, format.words)
            panel[:, : format.words, : len(numbers)] = words.transpose(1, 2, 0)
            for i, (of_blocks, more) in enumerate(zip(by_block, (0, format.middle), strict=False)):
                part = np.ascontiguousarray(of_blocks[first : first + PANEL].T) + np.float32(more)
                panel[:, format.words + i, : len(numbers)] = part.view(np.int32)
        return result


@irdl_op_definition
class BlockQuantizedDenseOp(GraphOp):
    """graph.dense of a weight in panels of quantized blocks, with so many `outputs`. zeros: whether they have zero
    points.

    %y = graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 32 : i64, outputs = 100 : i64}
        : (tensor<1x96xf32>, tensor<2x3x5x64xi32>) -> tensor<1x100xf32>
    """

    name = "graph.block_quantized_dense"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bits = prop_def(IntegerAttr.constr(i64))
    block = prop_def(IntegerAttr.constr(i64))
    outputs = prop_def(IntegerAttr.constr(i64))
    zeros = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def format(self) -> BlockFormat:
        """How the blocks of the weight lie in words."""
        return BlockFormat(self.bits.value.data, self.block.value.data, self.zeros is not None)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, u, outputs, format = self.dims(0), self.dims(1), self.outputs.value.data, self.format
        if self.dtype(0) != f32 or self.dtype(1) != i32:
            raise VerifyException(f"{self.name} multiplies f32 by words of i32, not {self.dtype(0)} by {self.dtype(1)}")
        if format.bits not in BITS or format.block < 1 or not format.fills_words:
            raise VerifyException(f"a block of {format.block} numbers of {format.bits} bits fills no words")
        if len(x) < 2 or u != format.sizes(const(outputs), x[-1]):
            raise VerifyException(
                f"rows and the panels of a weight for {outputs} outputs are needed, not {self.input.type} and "
                f"{self.weight.type}"
            )
        return [tensor_type((*x[:-1], const(outputs)), f32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        format, (panels, blocks, *_) = self.format, u.dims
        axes = ["i"] if len(x.dims) == 2 else [f"i{axis}" for axis in range(len(x.dims) - 1)]
        x = _in_blocks(k, x, axes, blocks, format)
        rows, sums = _rows(k, x, axes, format), _row_sums(k, x, axes, blocks, format)

        def of_block(*index: Expr):
            *i, p, lane, b = index

            def term(v: Expr, t: Expr) -> Scalar:
                return rows[(*i, format.words * b + v, t)] * k.cast(_number(k, u[p, b, v, lane], t, format), f32)

            return k.sum([format.words, format.in_word], term)

        dims = (*x.dims[:-1], panels, const(PANEL))
        product = k.compute("product", (*dims, blocks), with_axes([*axes, "p", "l", "b"], of_block), role=PRODUCT)

        def total(*index: Expr):
            *i, p, lane = index

            def term(b: Expr) -> Scalar:
                def number(word: int) -> Scalar:
                    return k.insert(arith.BitcastOp(u[p, b, word, lane].value, f32))

                zero = number(format.words + 1) if format.zeros else format.middle
                return (product[(*i, p, lane, b)] - sums[(*i, b)] * zero) * number(format.words)

            return k.sum([blocks], term)

        sum_ = k.compute("sum", dims, with_axes([*axes, "p", "l"], total), role=SUM)

        def element(*index: Expr):
            *i, o = index
            return sum_[(*i, o // PANEL, o % PANEL)]

        outputs = const(self.outputs.value.data)
        return k.compute("dense", (*x.dims[:-1], outputs), with_axes([*axes, "o"], element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        format, outputs = self.format, self.outputs.value.data
        words, of_blocks = u[:, :, : format.words].view(np.uint32), u[:, :, format.words :].view(np.float32)
        shifts = format.bits * np.arange(format.in_word, dtype=np.uint32)[:, None]
        numbers = words[:, :, :, None] >> shifts & np.uint32(format.mask)  # p, b, v, t, lane
        numbers = numbers.reshape(*numbers.shape[:2], format.block, PANEL).astype(np.float32)
        numbers -= of_blocks[:, :, 1:] if format.zeros else np.float32(format.middle)
        weight = (numbers * of_blocks[:, :, :1]).transpose(0, 3, 1, 2).reshape(u.shape[0] * PANEL, -1)
        return np.matmul(x, weight[:outputs, : x.shape[-1]].T)


def _number(k: KernelBuilder, word: Scalar, t: Expr, format: BlockFormat) -> Scalar:
    """A number of a word where it is, so many bits further up; the last one at the end, since it has no sign."""

    def in_place() -> Scalar:
        return word & k.constant(format.mask, i32) << k.index(format.bits * t, i32)

    def at_end() -> Scalar:
        return k.insert(arith.ShRUIOp(word.value, k.constant(WORD - format.bits, i32).value))

    return k.if_then_else([less_than(t, format.in_word - 1)], in_place, at_end, i32)


def _in_blocks(k: KernelBuilder, x: Tensor, axes: Sequence[str], blocks: Expr, format: BlockFormat) -> Tensor:
    """Rows of whole blocks, with zeros behind the end."""
    channels = x.dims[-1]
    if channels % format.block == const(0):
        return x

    def element(*index: Expr) -> Scalar:
        return k.if_then_else([less_than(index[-1], channels)], lambda: x[index], lambda: 0.0, f32)

    return k.compute("padded", (*x.dims[:-1], format.block * blocks), with_axes([*axes, "c"], element))


def _rows(k: KernelBuilder, x: Tensor, axes: Sequence[str], format: BlockFormat) -> Tensor:
    """What is multiplied with the numbers of a word where they are: as much smaller."""

    def element(*index: Expr) -> Scalar:
        *i, v, t = index
        exponent = 127 - format.bits * (t % (format.in_word - 1))
        factor = k.insert(arith.BitcastOp((k.index(exponent, i32) << 23).value, f32))
        return x[(*i, format.in_word * v + t)] * factor

    dims = (*x.dims[:-1], x.dims[-1] // format.in_word, const(format.in_word))
    return k.compute("rows", dims, with_axes([*axes, "v", "t"], element), role=ROWS)


def _row_sums(k: KernelBuilder, x: Tensor, axes: Sequence[str], blocks: Expr, format: BlockFormat) -> Tensor:
    """The sums of the blocks of rows, which are multiplied with zero points."""

    def element(*index: Expr) -> Reduction:
        *i, b = index

        def term(c: Expr) -> Scalar:
            return x[(*i, format.block * b + c)]

        return k.sum([format.block], term)

    return k.compute("row_sums", (*x.dims[:-1], blocks), with_axes([*axes, "b"], element), role=ROW_SUMS)


def _packed(numbers: Array, bits: int) -> Array:
    """Bytes that hold so many of the lowest bits of numbers side by side, the first of them in the lowest bits."""
    while bits < 8:
        numbers = numbers[:, ::2] & np.uint8((1 << bits) - 1) | numbers[:, 1::2] << np.uint8(bits)
        bits *= 2
    return np.ascontiguousarray(numbers)
