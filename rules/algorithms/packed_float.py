"""Weights of fewer bits, for layers with few rows, which take as long as reading their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from tilework.analysis.precision import FLOAT_BITS, Precision
from tilework.analysis.sizes import bytes_of
from tilework.dialects.graph.algorithms.packed_float import (
    PackedFloatDenseOp,
    PackedFloatWeightOp,
    WordFormat,
    can_use_packed_float,
)
from tilework.dialects.graph.dense import DenseOp
from tilework.rules.algorithms.base import Algorithm, Product, points_of, vector_cycles
from tilework.targets import Target


@dataclass(frozen=True)
class PackedFloat(Algorithm):
    """Weights of so many bits. They become shorter, and less exact: a level, as if they became more."""

    ACCURACY: ClassVar[str] = "With 24 bits within 3e-6 of the largest result, with 28 bits within its own roundings."

    bits: int

    @classmethod
    def proposals(cls, product: Product, precision: Precision, target: Target) -> Iterator[PackedFloat]:
        if precision.weight_bits == FLOAT_BITS or not isinstance(product, DenseOp) or not can_use_packed_float(product):
            return
        is_streamed = bytes_of(product.weight.type) > target.core_cache_bytes  # else it stays, from call to call
        if is_streamed and (product.dims(1)[1].constant or 0) >= precision.least_sum:
            yield cls(precision.weight_bits)

    def transform(self, weight: SSAValue, product: Product) -> Sequence[Operation]:
        return [PackedFloatWeightOp.of(weight, bits=IntegerAttr(self.bits, i64))]

    def multiply(self, product: Product, transformed: SSAValue) -> Sequence[Operation]:
        outputs = IntegerAttr(product.dims(1)[0].constant or 0, i64)
        return [PackedFloatDenseOp.of(product.input, transformed, outputs=outputs)]

    def least_cycles(self, product: Product, weights: int, target: Target) -> float:
        format = WordFormat.of(self.bits)
        return vector_cycles(weights * format.weights // format.words * points_of(product), target)
