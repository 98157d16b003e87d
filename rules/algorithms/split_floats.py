"""Products of floats in numbers of bfloat16, where a machine multiplies tiles of those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from tilework.analysis.precision import Precision
from tilework.dialects.graph.algorithms.bf16x import Bf16xConvOp, Bf16xDenseOp, Bf16xWeightOp, can_use_bf16x
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.dense import DenseOp
from tilework.rules.algorithms.base import Algorithm, Product, points_of
from tilework.targets import Target


@dataclass(frozen=True)
class SplitFloats(Algorithm):
    """Each float is the sum of so many numbers, which are multiplied in tiles of this shape."""

    ACCURACY: ClassVar[str] = "With two numbers within 4e-6 of the largest result, with three closer than a direct sum."

    numbers: int
    rows: int
    columns: int
    pairs: int
    pair: int

    @classmethod
    def proposals(cls, product: Product, precision: Precision, target: Target) -> Iterator[SplitFloats]:
        if precision.numbers and target.tile_shape is not None and can_use_bf16x(product):
            yield cls(precision.numbers, *target.tile_shape)

    def transform(self, weight: SSAValue, product: Product) -> Sequence[Operation]:
        tile = ints([self.pairs, self.columns, self.pair])
        return [Bf16xWeightOp.of(weight, numbers=IntegerAttr(self.numbers, i64), tile=tile)]

    def multiply(self, product: Product, transformed: SSAValue) -> Sequence[Operation]:
        sizes = {
            "outputs": IntegerAttr(product.dims(1)[0].constant or 0, i64),
            "rows": IntegerAttr(self.rows, i64),
        }
        if isinstance(product, DenseOp):
            return [Bf16xDenseOp.of(product.input, transformed, **sizes)]
        windows = {"strides": product.strides, "pads": product.pads, "dilations": product.dilations}
        return [Bf16xConvOp.of(product.input, transformed, **windows, **sizes)]

    def least_cycles(self, product: Product, weights: int, target: Target) -> float:
        return weights * points_of(product) / target.tile_multiplications
