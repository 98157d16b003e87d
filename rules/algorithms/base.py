"""Algorithms: ways to compute a convolution or a layer in place of the direct sum.

An algorithm is one class in a file of `rules/algorithms/`; it is found by folder, like a rule. It says of a product
when it applies, how the weight is transformed, what multiplies with that, and how long this takes at least. What it
takes altogether is asked of the rule for the kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Self

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from tilework.analysis.precision import Precision
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.support.shapes import dims_of
from tilework.targets import Target

Product = ConvOp | DenseOp
"""What algorithms are for: an operator of a kernel whose weight is a parameter, which nothing else in it reads."""


@dataclass(frozen=True)
class Algorithm(ABC):
    """Base of the algorithms. One is a frozen dataclass, whose fields are numbers and booleans.

    The operations that its methods make are in no block yet.
    """

    BENEFIT: ClassVar[int] = 1
    """The least `BENEFIT` of a schedule rule that is made for such kernels: where only rules of less benefit match, the
    algorithm is not used."""

    ACCURACY: ClassVar[str]
    """How far results are from those of the direct sum, in a sentence."""

    @property
    def levels(self) -> int:
        """How many times transformed weights are larger or less exact than before: each level has to save 4 % of the
        time."""
        return 1

    @classmethod
    @abstractmethod
    def proposals(cls, product: Product, precision: Precision, target: Target) -> Iterable[Self]:
        """The ways in which it can compute a product, as far as `precision` allows it."""

    @abstractmethod
    def transform(self, weight: SSAValue, product: Product) -> Sequence[Operation]:
        """What makes of the weight of a product that of this algorithm, which is the result of the last operation."""

    @abstractmethod
    def multiply(self, product: Product, transformed: SSAValue) -> Sequence[Operation]:
        """What computes the product with a transformed weight: the result is that of the last operation."""

    def least_cycles(self, product: Product, weights: int, target: Target) -> float:
        """Cycles that multiplying with so many numbers of a transformed weight takes one core at least."""
        return vector_cycles(weights * points_of(product), target)

    def argument(self, product: Product) -> int | None:
        """Which argument of the kernel, besides the weight, has to be prepared for it in front of the kernel."""
        return None

    def prepare(self, product: Product, value: SSAValue) -> Operation:
        """What makes of the value of that argument what `multiply` expects: a view, or a kernel."""
        raise NotImplementedError


def points_of(product: Product) -> int:
    """With how many numbers of the input each number of a weight is multiplied, at least."""
    outputs = product.dims(1)[0].constant or 1
    return prod(e.constant or 1 for e in dims_of(product.result.type)) // outputs


def vector_cycles(multiplications: int, target: Target) -> float:
    """How long so many multiplications of floats take one core, in vectors."""
    return multiplications / target.lanes(f32.bitwidth) / target.vectors_per_cycle
