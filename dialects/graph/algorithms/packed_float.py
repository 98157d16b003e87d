"""Products with weights of 24 or 28 bits: what has few rows waits for its weights, which are shorter than floats.

A weight is a sign, six bits of an exponent, and a fraction of 17 or 21: it is rounded to 18 or 22 bits of precision,
whatever its size beside others. Exponents are counted from that of the largest weight of an output down; what is
smaller than a 2^-63rd of that one, zeros too, counts as as much. `graph.packed_float_dense %x,
(graph.packed_float_weight %w)` is `graph.dense %x, %w`: with 24 bits within about 3e-6 of the largest result; with 28,
of hundreds of channels, as close to the exact result as a plain sum. An output with a weight that is no finite number
is none.

Four weights are in three words of 32 bits, or eight in seven: one in the upper bits of each, and the last one in the
lowest bits of all. Behind the words of all channels are the exponents of the largest weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, f32, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.algebra.predicate import less_than
from tilework.dialects import arith
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

PRODUCT = "packed_float.product"
"""The role of the stage that takes weights from words, and multiplies with them."""

LANES = 16
"""Weights side by side, of each that share words: a vector, or several."""

_SIGN, _SIZE, _INFINITE = -1 << 31, (1 << 31) - 1, 0x7F800000

_RANGE = 63
"""How many exponents below the largest a weight can have."""

_PLACES = 2
"""How many places a weight is further up in a word than in a float: an exponent has two bits less."""

_ONE = 0x20000000
"""What is missing in the exponents of floats then, so that the largest weight is one or a bit more."""

_AT_ONCE = 1024
"""How many channels are computed at once."""

_EXPONENTS = 4
"""How many bits of a word hold exponents."""


@dataclass(frozen=True)
class WordFormat:
    """So many `weights` in one word less."""

    weights: int

    @staticmethod
    def of(bits: int) -> WordFormat:
        """That of weights of so many bits, 24 or 28."""
        return {format.bits: format for format in FORMATS}[bits]

    @property
    def words(self) -> int:
        """That the weights are in."""
        return self.weights - 1

    @property
    def outputs(self) -> int:
        """How many outputs a block has."""
        return self.weights * LANES

    @property
    def part(self) -> int:
        """Bits of the last weight in each word."""
        return 32 // self.weights

    @property
    def bits(self) -> int:
        """How many bits a weight has."""
        return 32 - self.part

    @property
    def unit(self) -> int:
        """What the lowest of a float's bits counts that stays."""
        return 1 << 30 - self.bits

    @property
    def kept(self) -> int:
        """Keep the sign and the weight's bits of a word that is moved by so many places."""
        return _SIGN | (1 << 29) - self.unit

    def shift(self, word: int) -> int:
        """How many places the part of the last weight in a word is further up in that weight."""
        return 32 - self.part * (word + 1)

    def sizes(self, outputs: Expr, channels: Expr) -> tuple[Expr, ...]:
        """How many words of each kind a weight has."""
        return ceildiv(outputs, self.outputs), channels + 1, const(self.words), const(LANES)


FORMATS = (WordFormat(4), WordFormat(8))


@irdl_op_definition
class PackedFloatWeightOp(GraphOp):
    """u[j, c, v, l]: the words of w[64 * j + 16 * v + l, c] and w[64 * j + 48 + l, c], zeros behind the end.

    So where weights have 24 `bits`; of 28, the last one is w[128 * j + 112 + l, c]. One channel more, in the bytes of
    u[j, -1, 0, l], with 28 bits u[j, -1, 1, l] too: the largest exponents of outputs 64 * j + 16 * i + l.

    %u = graph.packed_float_weight %w {bits = 24 : i64} : (tensor<120x32xf32>) -> tensor<2x33x3x16xi32>
    """

    name = "graph.packed_float_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    weight = operand_def(TensorType)
    bits = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        w, bits = self.dims(0), self.bits.value.data
        if self.dtype() != f32 or len(w) != 2:
            raise VerifyException(f"the weight of a layer of f32 is needed, not {self.weight.type}")
        if bits not in (format.bits for format in FORMATS):
            raise VerifyException(f"weights have 24 or 28 bits, not {bits}")
        return [tensor_type(self.format.sizes(*w), i32)]

    @property
    def format(self) -> WordFormat:
        """How words are made."""
        return WordFormat.of(self.bits.value.data)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [w] = inputs
        outputs, channels = w.dims
        format = self.format
        sizes = format.sizes(*w.dims)

        def weight(o: Expr, c: Expr) -> Scalar:
            if outputs % format.outputs == 0:
                return w[o, c]
            return k.if_then_else([less_than(o, outputs)], lambda: w[o, c], lambda: 0.0, f32)

        def bits(o: Expr, c: Expr) -> Scalar:
            return k.insert(arith.BitcastOp(weight(o, c).value, i32))

        def rounded(o: Expr, c: Expr) -> Scalar:
            return k.min(bits(o, c) & _SIZE, _INFINITE) + format.unit // 2 & -format.unit

        def largest(o: Expr) -> Reduction:
            def exponent(c: Expr) -> Scalar:
                return rounded(o, c) >> 23

            return k.reduce_max([channels], exponent)

        exponents = k.compute("exponents", (format.outputs * sizes[0],), largest)

        def code(o: Expr, c: Expr) -> Scalar:
            size = k.max(rounded(o, c) - (exponents[o] - _RANGE << 23), 0)
            return bits(o, c) & _SIGN | size << _PLACES

        def codes(j: Expr, c: Expr, v: Expr, lane: Expr):
            last = code(format.outputs * j + format.words * LANES + lane, c)
            part = last >> k.index(format.shift(0) - format.part * v, i32) & (1 << format.part) - 1
            return code(format.outputs * j + LANES * v + lane, c) | part

        def word(j: Expr, c: Expr, v: Expr, lane: Expr):
            def behind():
                first = format.outputs * j + _EXPONENTS * LANES * v + lane
                there = less_than(v, format.weights // _EXPONENTS)
                return k.if_then_else([there], lambda: _in_a_word(exponents, first), lambda: 0, i32)

            return k.if_then_else([less_than(c, channels)], lambda: codes(j, c, v, lane), behind, i32)

        return k.compute("packed_float_weight", sizes, word)

    def evaluate(self, *inputs: Array) -> Array:
        [w] = inputs
        format = self.format
        starts = range(0, len(w), format.outputs)
        words = np.empty((len(starts), w.shape[1] + 1, format.words, LANES), np.int32)
        for block, first in zip(words, starts, strict=True):
            _fill(block, w[first : first + format.outputs], format)
        return words


@irdl_op_definition
class PackedFloatDenseOp(GraphOp):
    """graph.dense of a weight in words, with so many `outputs`.

    %y = graph.packed_float_dense %x, %u {outputs = 120 : i64}
        : (tensor<1x32xf32>, tensor<2x33x3x16xi32>) -> tensor<1x120xf32>
    """

    name = "graph.packed_float_dense"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    outputs = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def format(self) -> WordFormat | None:
        """How the words were made; None for those of no weight."""
        words = self.dims(1)[-2:]
        return next((p for p in FORMATS if words == (const(p.words), const(LANES))), None)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, u, outputs, format = self.dims(0), self.dims(1), self.outputs.value.data, self.format
        if self.dtype(0) != f32 or self.dtype(1) != i32:
            raise VerifyException(f"{self.name} multiplies f32 by words of i32, not {self.dtype(0)} by {self.dtype(1)}")
        if len(x) < 2 or format is None or u != format.sizes(const(outputs), x[-1]):
            raise VerifyException(
                f"rows and the words of a weight for {outputs} outputs are needed, not {self.input.type} and "
                f"{self.weight.type}"
            )
        return [tensor_type((*x[:-1], const(outputs)), f32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        blocks, channels, format = u.dims[0], x.dims[-1], self.format
        assert format is not None, "the operation is verified"

        def sum_(*index: Expr):
            *at, j, v, lane = index

            def term(c: Expr):
                def last():
                    code = u[j, c, 0, lane] << format.shift(0)
                    for i in range(1, format.words):
                        shift = format.shift(i)
                        code = code | u[j, c, i, lane] << shift & (1 << format.part) - 1 << shift
                    return code

                code = k.if_then_else([less_than(v, format.words)], lambda: u[j, c, v, lane], last, i32)
                weight = code >> _PLACES & format.kept | _ONE
                return x[(*at, c)] * k.insert(arith.BitcastOp(weight.value, f32))

            return k.sum([channels], term)

        rows = ["i"] if len(x.dims) == 2 else [f"i{axis}" for axis in range(len(x.dims) - 1)]
        block = (blocks, const(format.weights), const(LANES))
        body = with_axes([*rows, "j", "v", "l"], sum_)
        product = k.compute("packed_float_product", (*x.dims[:-1], *block), body, role=PRODUCT)

        def element(*index: Expr):
            *at, o = index
            j, v, lane = place_of_output(o, format)
            word = u[j, channels, v // _EXPONENTS, lane]
            scale = (word >> k.index(8 * (v % _EXPONENTS), i32) & 0xFF) << 23
            return product[(*at, j, v, lane)] * k.insert(arith.BitcastOp(scale.value, f32))

        dims = (*x.dims[:-1], const(self.outputs.value.data))
        return k.compute("dense", dims, with_axes([*rows, "o"], element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        format = self.format
        assert format is not None, "the operation is verified"
        words, units = u[:, :-1], u[:, -1:, : format.weights // _EXPONENTS]
        shifts = _shifts(format)
        parts = words << shifts & np.array((1 << format.part) - 1 << shifts.astype(np.int64), np.uint32).view(np.int32)
        last = np.bitwise_or.reduce(parts, axis=2, keepdims=True)
        codes = np.concatenate([words, last], axis=2) >> _PLACES & np.int32(format.kept) | _ONE
        scales = units.astype("<i4").view(np.uint8).reshape(*units.shape, 4).astype(np.int32) << 23
        placed = np.ascontiguousarray(codes.transpose(0, 2, 3, 1)).view(np.float32)
        scale = np.ascontiguousarray(scales.transpose(0, 1, 2, 4, 3)).view(np.float32)
        outputs = self.outputs.value.data
        return np.matmul(x, placed.reshape(-1, words.shape[1])[:outputs].T) * scale.reshape(-1)[:outputs]


def place_of_output(o: Expr, format: WordFormat) -> tuple[Expr, Expr, Expr]:
    """The block of an output, which it is of those that share words, and the lane."""
    return o // format.outputs, o % format.outputs // LANES, o % LANES


def can_use_packed_float(product: DenseOp) -> bool:
    """Whether `graph.packed_float_dense` can compute it."""
    x, w = product.dims(0), product.dims(1)
    known = all(e.constant for e in (*x, *w))
    return product.dtype(0) == product.dtype(1) == f32 and len(x) > 1 and known


def _in_a_word(exponents: Tensor, first: Expr) -> Scalar:
    """Those of outputs with the same lane, from the first on, in a byte each."""
    word = exponents[first]
    for i in range(1, _EXPONENTS):
        word = word | exponents[first + LANES * i] << 8 * i
    return word


def _shifts(format: WordFormat) -> Array:
    """The shifts of all words, one for each of their lanes."""
    return np.array([format.shift(word) for word in range(format.words)], np.int32)[:, None]


def _fill(block: Array, weights: Array, format: WordFormat) -> None:
    """What `PackedFloatWeightOp` makes of a block of outputs; some channels at a time, which stay near."""
    lacking = [(0, format.outputs - len(weights)), (0, 0)]
    parts = [slice(first, first + _AT_ONCE) for first in range(0, weights.shape[1], _AT_ONCE)]
    bits = [np.pad(weights[:, part], lacking).view(np.int32) for part in parts]
    exponents = np.zeros(format.outputs, np.int32)
    for b in bits:
        exponents = np.maximum(exponents, _all_rounded(b, format).max(axis=1) >> 23)
    least, shifts = (exponents - _RANGE << 23)[:, None], _shifts(format)
    for part, b in zip(parts, bits, strict=True):
        codes = b & np.int32(_SIGN) | np.maximum(_all_rounded(b, format) - least, 0) << _PLACES
        placed = codes.T.reshape(-1, format.weights, LANES)
        last = placed[:, format.words :] >> shifts & (1 << format.part) - 1
        block[: weights.shape[1]][part] = placed[:, : format.words] | last
    block[-1] = 0
    of_words = exponents.astype(np.uint8).reshape(-1, _EXPONENTS, LANES)
    block[-1, : len(of_words)] = np.ascontiguousarray(of_words.transpose(0, 2, 1)).view("<i4")[..., 0]


def _all_rounded(bits: Array, format: WordFormat) -> Array:
    """What is left of the sizes of floats, which are infinite at most."""
    sizes = np.minimum(bits & np.int32(_SIZE), np.int32(_INFINITE))
    return sizes + np.int32(format.unit // 2) & np.int32(-format.unit)
