"""Powers that are a few products and square roots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import arith
from tilework.dialects.support.locations import copy_location
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class ExpandPowers(PatternPass):
    """Multiply, and take square roots, where the exponent is the constant 2, 3, 1/2 or 3/4.

    %c = arith.constant 2.0 : f32
    %y = math.powf %x, %c : f32    ->   %y = arith.mulf %x, %x : f32

    What `math.powf` gives for zeros, infinities and NaN, the expansion does too. Other exponents stay.
    Requires nothing; leaves a `math.powf` with another exponent, or one that is not known.
    """

    name = "te-expand-powers"
    anchor = KernelOp
    numerics = "reassociates"


class ExpandPower(RewritePattern):
    """x ** 2 = x * x, x ** 3 = x * x * x, x ** 0.5 = sqrt(x), and x ** 0.75 = sqrt(x) * sqrt(sqrt(x))."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: math.PowFOp, rewriter: PatternRewriter) -> None:
        expand = EXPANSIONS.get(_constant(op.rhs))
        if expand is None:
            return
        new = expand(op.lhs)
        copy_location(new, op)
        rewriter.replace(op, new)


def _constant(value: SSAValue) -> float | None:
    """The number that a value is; the exponents of graphs are stages of one element."""
    if isinstance(value.owner, ReadOp) and isinstance(stage := value.owner.tensor.owner, ComputeOp):
        if not stage.reduction:
            value = stage.terminator.operands[stage.results.index(value.owner.tensor)]
    number = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    return number.value.data if isinstance(number, FloatAttr) else None


def _square(x: SSAValue) -> list[Operation]:
    return [arith.MulfOp(x, x)]


def _cube(x: SSAValue) -> list[Operation]:
    square = arith.MulfOp(x, x)
    return [square, arith.MulfOp(square, x)]


def _root(x: SSAValue) -> list[Operation]:
    """The last is the square root of x, but infinite for -inf."""
    type_ = cast(AnyFloat, x.type)
    negative = arith.ConstantOp(FloatAttr(-float("inf"), type_))
    positive = arith.ConstantOp(FloatAttr(float("inf"), type_))
    is_negative = arith.CmpfOp(x, negative, "oeq")
    bounded = arith.SelectOp(is_negative, positive, x)
    return [negative, positive, is_negative, bounded, math.SqrtOp(bounded)]


def _power_of_half(x: SSAValue) -> list[Operation]:
    root = _root(x)
    return [*root, math.AbsFOp(root[-1])]  # the square root of -0 is -0


def _power_of_three_quarters(x: SSAValue) -> list[Operation]:
    root = _root(x)
    fourth = math.SqrtOp(root[-1])
    return [*root, fourth, arith.MulfOp(root[-1], fourth)]


EXPANSIONS: Mapping[float | None, Callable[[SSAValue], list[Operation]]] = {
    2.0: _square,
    3.0: _cube,
    0.5: _power_of_half,
    0.75: _power_of_three_quarters,
}
