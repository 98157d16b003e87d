"""Products with weights of 24 bits: what has few rows waits for its weights, of which these are a quarter less.

A weight is a sign, six bits of an exponent and 17 of a fraction: it is rounded to 18 bits of precision, whatever its
size beside others. Exponents are counted from that of the largest weight of an output down; what is smaller than a
2^-63rd of that one, zeros too, counts as as much. `graph.float24_dense %x, (graph.float24_weight %w)` is `graph.dense
%x, %w`, within about 3e-6 of the largest result. An output with a weight that is no finite number is none.

Four weights are in three words of 32 bits, one in the upper bytes of each, and the last one in the lowest bytes of all
three. Behind the words of all channels are the exponents of the largest weights.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Reduction, Scalar, Tensor

WORDS = 3
"""That four weights are in."""

LANES = 16
"""Weights side by side, of each of the four: a vector, or several."""

OUTPUTS = (WORDS + 1) * LANES
"""Of a block."""

_SIGN, _SIZE, _INFINITE = -1 << 31, (1 << 31) - 1, 0x7F800000
_DROPPED = 0x40
"""Of a float, what the lowest bit counts that stays."""

_RANGE = 63
"""Exponents below the largest."""

_PLACES = 2
"""By which a weight is further up in a word than in a float: an exponent has two bits less."""

_ONE = 0x20000000
"""What is missing in the exponents of floats then, so that the largest weight is one or a bit more."""

_KEPT = _SIGN | (1 << 29) - _DROPPED
"""Of a word, moved by so many places, the sign and the weight's bits."""

_AT_ONCE = 1024
"""Channels."""


@irdl_op_definition
class Float24WeightOp(GraphOp):
    """u[j, c, v, l]: the words of w[64 * j + 16 * v + l, c] and w[64 * j + 48 + l, c], zeros behind the end.

    One channel more, in the bytes of u[j, -1, 0, l]: the largest exponents of outputs 64 * j + 16 * i + l.

    %u = graph.float24_weight %w : (tensor<120x32xf32>) -> tensor<2x33x3x16xi32>
    """

    name = "graph.float24_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        w = self.dims(0)
        if self.dtype() != f32 or len(w) != 2:
            raise VerifyException(f"the weight of a layer of f32 is needed, not {self.weight.type}")
        return [tensor_type(_sizes(w), i32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [w] = inputs
        outputs, channels = w.dims

        def weight(o: Expr, c: Expr) -> Scalar:
            if outputs % OUTPUTS == 0:
                return w[o, c]
            return k.if_then_else([less_than(o, outputs)], lambda: w[o, c], lambda: 0.0, f32)

        def bits(o: Expr, c: Expr) -> Scalar:
            return k.insert(arith.BitcastOp(weight(o, c).value, i32))

        def rounded(o: Expr, c: Expr) -> Scalar:
            return k.min(bits(o, c) & _SIZE, _INFINITE) + _DROPPED // 2 & -_DROPPED

        def largest(o: Expr) -> Reduction:
            def exponent(c: Expr) -> Scalar:
                return rounded(o, c) >> 23

            return k.reduce_max([channels], exponent)

        exponents = k.compute("exponents", (OUTPUTS * _sizes(w.dims)[0],), largest)

        def code(o: Expr, c: Expr) -> Scalar:
            size = k.max(rounded(o, c) - (exponents[o] - _RANGE << 23), 0)
            return bits(o, c) & _SIGN | size << _PLACES

        def codes(j: Expr, c: Expr, v: Expr, lane: Expr):
            last = code(OUTPUTS * j + WORDS * LANES + lane, c)
            return code(OUTPUTS * j + LANES * v + lane, c) | last >> k.index(24 - 8 * v, i32) & 0xFF

        def behind_them(j: Expr, lane: Expr) -> Scalar:
            outputs = (OUTPUTS * j + LANES * i + lane for i in range(WORDS + 1))
            first, second, third, last = (exponents[o] for o in outputs)
            return first | second << 8 | third << 16 | last << 24

        def word(j: Expr, c: Expr, v: Expr, lane: Expr):
            def behind():
                return k.if_then_else([less_than(v, 1)], lambda: behind_them(j, lane), lambda: 0, i32)

            return k.if_then_else([less_than(c, channels)], lambda: codes(j, c, v, lane), behind, i32)

        return k.compute("float24_weight", _sizes(w.dims), word)

    def evaluate(self, *inputs: Array) -> Array:
        [w] = inputs
        starts = range(0, len(w), OUTPUTS)
        words = np.empty((len(starts), w.shape[1] + 1, WORDS, LANES), np.int32)
        for block, first in zip(words, starts, strict=True):
            _fill(block, w[first : first + OUTPUTS])
        return words


@irdl_op_definition
class Float24DenseOp(GraphOp):
    """graph.dense of a weight in words, with so many `outputs`.

    %y = graph.float24_dense %x, %u {outputs = 120 : i64}
        : (tensor<1x32xf32>, tensor<2x33x3x16xi32>) -> tensor<1x120xf32>
    """

    name = "graph.float24_dense"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    outputs = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, u, outputs = self.dims(0), self.dims(1), self.outputs.value.data
        if self.dtype(0) != f32 or self.dtype(1) != i32:
            raise VerifyException(f"{self.name} multiplies f32 by words of i32, not {self.dtype(0)} by {self.dtype(1)}")
        if len(x) < 2 or u != _sizes((const(outputs), x[-1])):
            raise VerifyException(
                f"rows and the words of a weight for {outputs} outputs are needed, not {self.input.type} and "
                f"{self.weight.type}"
            )
        return [tensor_type((*x[:-1], const(outputs)), f32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        blocks, channels = u.dims[0], x.dims[-1]

        def sum_(*index: Expr):
            *at, j, v, lane = index

            def term(c: Expr):
                def last():
                    first, second, third = (u[j, c, i, lane] for i in range(WORDS))
                    return first << 24 | second << 16 & 0xFF0000 | third << 8 & 0xFF00

                code = k.if_then_else([less_than(v, WORDS)], lambda: u[j, c, v, lane], last, i32)
                weight = code >> _PLACES & _KEPT | _ONE
                return x[(*at, c)] * k.insert(arith.BitcastOp(weight.value, f32))

            return k.sum([channels], term)

        rows = ["i"] if len(x.dims) == 2 else [f"i{axis}" for axis in range(len(x.dims) - 1)]
        block = (blocks, const(WORDS + 1), const(LANES))
        product = k.compute("float24_product", (*x.dims[:-1], *block), with_axes([*rows, "j", "v", "l"], sum_))

        def element(*index: Expr):
            *at, o = index
            j, v, lane = place_of_output(o)
            scale = (u[j, channels, const(0), lane] >> k.index(8 * v, i32) & 0xFF) << 23
            return product[(*at, j, v, lane)] * k.insert(arith.BitcastOp(scale.value, f32))

        dims = (*x.dims[:-1], const(self.outputs.value.data))
        return k.compute("dense", dims, with_axes([*rows, "o"], element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        words, units = u[:, :-1], u[:, -1:, :1]
        last = words[:, :, :1] << 24 | words[:, :, 1:2] << 16 & 0xFF0000 | words[:, :, 2:] << 8 & 0xFF00
        codes = np.concatenate([words, last], axis=2) >> _PLACES & np.int32(_KEPT) | _ONE
        shifts = np.array([0, 8, 16, 24], np.int32)[:, None]
        placed, scales = (a.transpose(0, 2, 3, 1) for a in (codes, (units >> shifts & 0xFF) << 23))
        placed, scales = (np.ascontiguousarray(a).view(np.float32) for a in (placed, scales))
        outputs = self.outputs.value.data
        return np.matmul(x, placed.reshape(-1, words.shape[1])[:outputs].T) * scales.reshape(-1)[:outputs]


def place_of_output(o: Expr) -> tuple[Expr, Expr, Expr]:
    """The block of an output, which of four it is, and the lane."""
    return o // OUTPUTS, o % OUTPUTS // LANES, o % LANES


def can_use_float24(product: DenseOp) -> bool:
    """Whether `graph.float24_dense` can compute it."""
    x, w = product.dims(0), product.dims(1)
    known = all(e.constant for e in (*x, *w))
    return product.dtype(0) == product.dtype(1) == f32 and len(x) > 1 and known


def _sizes(w: Sequence[Expr]) -> tuple[Expr, ...]:
    outputs, channels = w
    return ceildiv(outputs, OUTPUTS), channels + 1, const(WORDS), const(LANES)


def _fill(block: Array, weights: Array) -> None:
    """What `Float24WeightOp` makes of the weights of a block of outputs; some channels at a time, which stay near."""
    lacking = [(0, OUTPUTS - len(weights)), (0, 0)]
    parts = [slice(first, first + _AT_ONCE) for first in range(0, weights.shape[1], _AT_ONCE)]
    bits = [np.pad(weights[:, part], lacking).view(np.int32) for part in parts]
    exponents = np.zeros(OUTPUTS, np.int32)
    for b in bits:
        exponents = np.maximum(exponents, _all_rounded(b).max(axis=1) >> 23)
    least, shifts = (exponents - _RANGE << 23)[:, None], np.array([24, 16, 8], np.int32)[:, None]
    for part, b in zip(parts, bits, strict=True):
        codes = b & np.int32(_SIGN) | np.maximum(_all_rounded(b) - least, 0) << _PLACES
        placed = codes.T.reshape(-1, WORDS + 1, LANES)
        block[: weights.shape[1]][part] = placed[:, :WORDS] | placed[:, WORDS:] >> shifts & 0xFF
    block[-1] = 0
    block[-1, 0] = np.ascontiguousarray(exponents.astype(np.uint8).reshape(-1, LANES).T).view("<i4")[:, 0]


def _all_rounded(bits: Array) -> Array:
    """What is left of the sizes of floats, which are infinite at most."""
    return np.minimum(bits & np.int32(_SIZE), np.int32(_INFINITE)) + np.int32(_DROPPED // 2) & np.int32(-_DROPPED)
