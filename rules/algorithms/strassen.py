"""Strassen's algorithm for products of matrices: seven products of quarters in place of eight, on several levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from tilework.analysis.precision import Precision
from tilework.dialects.graph.algorithms.strassen import (
    StrassenConvOp,
    StrassenDenseOp,
    StrassenWeightOp,
    can_use_strassen,
)
from tilework.dialects.graph.dense import DenseOp
from tilework.rules.algorithms.base import Algorithm, Product, points_of, vector_cycles
from tilework.targets import Target


@dataclass(frozen=True)
class Strassen(Algorithm):
    """Parts are multiplied by the same algorithm as the whole, `depth` times."""

    ACCURACY: ClassVar[str] = "Errors of small rows are those of the large ones that they are added to."

    depth: int

    @property
    def levels(self) -> int:
        return self.depth

    @classmethod
    def proposals(cls, product: Product, precision: Precision, target: Target) -> Iterator[Strassen]:
        return (cls(n) for n in range(1, precision.levels + 1) if can_use_strassen(product, n))

    def transform(self, weight: SSAValue, product: Product) -> Sequence[Operation]:
        return [StrassenWeightOp.of(weight, levels=IntegerAttr(self.depth, i64))]

    def multiply(self, product: Product, transformed: SSAValue) -> Sequence[Operation]:
        if isinstance(product, DenseOp):
            return [StrassenDenseOp.of(product.input, transformed)]
        return [StrassenConvOp.of(product.input, transformed, strides=product.strides)]

    def least_cycles(self, product: Product, weights: int, target: Target) -> float:
        return vector_cycles(weights * points_of(product) // 2**self.depth, target)
