"""Products with weights of 24 bits: what has few rows waits for its weights, of which these are a quarter less.

The weights of an output are integers of 24 bits, all multiplied by the same power of two: they are rounded to multiples
of a 2^23-th of the largest one, or a bit less, which is what a float of that size is rounded to. `graph.fixed24_dense
%x, (graph.fixed24_weight %w)` is `graph.dense %x, %w`, about as exact as that; zeros and small integers are exact. What
has an infinite weight is NaN.

Four integers are in three words of 32 bits, one in the upper bytes of each, and the last one in the lowest bytes of all
three. Behind the words of all channels are the exponents.
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

_LARGEST = (1 << 23) - 1
_INFINITE = 255
"""An exponent as it is in a float, with a bias of 127."""

_SMALLEST = 31
"""Of the largest weight: what is smaller has units of as much, since these are floats too."""

_AT_ONCE = 1024
"""Channels."""

_UNIT = 22 + 8
"""By how much the exponent of a unit is smaller: of the lowest bit of a word."""


@irdl_op_definition
class Fixed24WeightOp(GraphOp):
    """u[j, c, v, l]: the words of w[64 * j + 16 * v + l, c] and w[64 * j + 48 + l, c], zeros behind the end.

    One channel more, in the bytes of u[j, -1, 0, l]: the exponents of the units of outputs 64 * j + 16 * i + l.

    %u = graph.fixed24_weight %w : (tensor<120x32xf32>) -> tensor<2x33x3x16xi32>
    """

    name = "graph.fixed24_weight"
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

        def largest_exponent(o: Expr) -> Reduction:
            def exponent(c: Expr):
                return k.insert(arith.BitcastOp(weight(o, c).value, i32)) >> 23 & 0xFF

            return k.reduce_max([channels], exponent)

        exponents = k.compute("exponents", (OUTPUTS * _sizes(w.dims)[0],), largest_exponent)

        def integer(o: Expr, c: Expr) -> Scalar:
            largest = exponents[o]
            units = k.insert(arith.BitcastOp((276 - k.max(largest, _SMALLEST) << 23).value, f32))
            count = k.call("round", k.select(largest.compare("lt", _INFINITE), weight(o, c) * units, 0.0))
            return k.cast(k.min(k.max(count, -_LARGEST), _LARGEST), i32) << 8

        def integers(j: Expr, c: Expr, v: Expr, lane: Expr):
            last = integer(OUTPUTS * j + WORDS * LANES + lane, c)
            return integer(OUTPUTS * j + LANES * v + lane, c) | last >> k.index(24 - 8 * v, i32) & 0xFF

        def units(j: Expr, lane: Expr) -> Scalar:
            outputs = (OUTPUTS * j + LANES * i + lane for i in range(WORDS + 1))
            first, second, third, last = (_unit(k, exponents[o]) for o in outputs)
            return first | second << 8 | third << 16 | last << 24

        def word(j: Expr, c: Expr, v: Expr, lane: Expr):
            def behind():
                return k.if_then_else([less_than(v, 1)], lambda: units(j, lane), lambda: 0, i32)

            return k.if_then_else([less_than(c, channels)], lambda: integers(j, c, v, lane), behind, i32)

        return k.compute("fixed24_weight", _sizes(w.dims), word)

    def evaluate(self, *inputs: Array) -> Array:
        [w] = inputs
        starts = range(0, len(w), OUTPUTS)
        words = np.empty((len(starts), w.shape[1] + 1, WORDS, LANES), np.int32)
        for block, first in zip(words, starts, strict=True):
            _fill(block, w[first : first + OUTPUTS])
        return words


@irdl_op_definition
class Fixed24DenseOp(GraphOp):
    """graph.dense of a weight in words, with so many `outputs`.

    %y = graph.fixed24_dense %x, %u {outputs = 120 : i64}
        : (tensor<1x32xf32>, tensor<2x33x3x16xi32>) -> tensor<1x120xf32>
    """

    name = "graph.fixed24_dense"
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

                integer = k.if_then_else([less_than(v, WORDS)], lambda: u[j, c, v, lane] & -0x100, last, i32)
                return x[(*at, c)] * k.cast(integer, f32)

            return k.sum([channels], term)

        rows = ["i"] if len(x.dims) == 2 else [f"i{axis}" for axis in range(len(x.dims) - 1)]
        block = (blocks, const(WORDS + 1), const(LANES))
        product = k.compute("fixed24_product", (*x.dims[:-1], *block), with_axes([*rows, "j", "v", "l"], sum_))

        def element(*index: Expr):
            *at, o = index
            j, v, lane = place_of_output(o)
            unit = (u[j, channels, const(0), lane] >> k.index(8 * v, i32) & 0xFF) << 23
            return product[(*at, j, v, lane)] * k.insert(arith.BitcastOp(unit.value, f32))

        dims = (*x.dims[:-1], const(self.outputs.value.data))
        return k.compute("dense", dims, with_axes([*rows, "o"], element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        words, units = u[:, :-1], u[:, -1:, :1]
        last = words[:, :, :1] << 24 | words[:, :, 1:2] << 16 & 0xFF0000 | words[:, :, 2:] << 8 & 0xFF00
        integers = np.concatenate([words & -0x100, last], axis=2).astype(np.float32)
        shifts = np.array([0, 8, 16, 24], np.int32)[:, None]
        placed, scales = (a.transpose(0, 2, 3, 1) for a in (integers, (units >> shifts & 0xFF) << 23))
        outputs = self.outputs.value.data
        weights, scale = placed.reshape(-1, words.shape[1])[:outputs], scales.view(np.float32).reshape(-1)[:outputs]
        return np.matmul(x, weights.T) * scale


def place_of_output(o: Expr) -> tuple[Expr, Expr, Expr]:
    """The block of an output, which of four it is, and the lane."""
    return o // OUTPUTS, o % OUTPUTS // LANES, o % LANES


def can_use_fixed24(product: DenseOp) -> bool:
    """Whether `graph.fixed24_dense` can compute it."""
    x, w = product.dims(0), product.dims(1)
    known = all(e.constant for e in (*x, *w))
    return product.dtype(0) == product.dtype(1) == f32 and len(x) > 1 and known


def _sizes(w: Sequence[Expr]) -> tuple[Expr, ...]:
    outputs, channels = w
    return ceildiv(outputs, OUTPUTS), channels + 1, const(WORDS), const(LANES)


def _unit(k: KernelBuilder, largest: Scalar) -> Scalar:
    """The exponent of the unit in which weights are counted whose largest has this one."""
    return k.select(largest.compare("lt", _INFINITE), k.max(largest, _SMALLEST) - _UNIT, _INFINITE)


def _fill(block: Array, weights: Array) -> None:
    """What `Fixed24WeightOp` makes of the weights of a block of outputs; some channels at a time, which stay near."""
    lacking = [(0, OUTPUTS - len(weights)), (0, 0)]
    largest = np.pad(np.abs(weights).max(axis=1, initial=0), lacking[:1])
    exponents = largest.view(np.int32) >> 23
    scales = np.ldexp(np.float32(1), 149 - np.maximum(exponents, _SMALLEST))[:, None]
    finite, shifts = exponents[:, None] < _INFINITE, np.array([24, 16, 8], np.int32)[:, None]
    for first in range(0, weights.shape[1], _AT_ONCE):
        part = np.pad(weights[:, first : first + _AT_ONCE], lacking)
        counts = np.rint(np.where(finite, part, np.float32(0)) * scales)
        integers = np.clip(counts, -_LARGEST, _LARGEST).astype(np.int32) << 8
        placed = integers.T.reshape(-1, WORDS + 1, LANES)
        block[first : first + len(placed)] = placed[:, :WORDS] | placed[:, WORDS:] >> shifts & 0xFF
    units = np.where(exponents < _INFINITE, np.maximum(exponents, _SMALLEST) - _UNIT, _INFINITE)
    block[-1] = 0
    block[-1, 0] = np.ascontiguousarray(units.astype(np.uint8).reshape(-1, LANES).T).view("<i4")[:, 0]
