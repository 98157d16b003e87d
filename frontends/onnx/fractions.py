"""Sizes as floating-point numbers, as exporters write them: `floor(float(h) * 0.5)`.

What is computed of them is kept as an exact fraction, which it is up to a largest dividend; more is refused when the
model is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, ExprLike, to_expr

LARGEST_DIVIDENDS = {np.dtype(np.float32): 1 << 24, np.dtype(np.float64): 1 << 53}
"""Up to these numbers each whole number is one of the type, for the types that sizes are computed with."""

FEW = 1 << 10
"""Factors are fractions of smaller numbers; with others, products are rounded."""


@dataclass(frozen=True)
class SizeFraction:
    """`dividend / divisor`, rounded once where the divisor is no power of two."""

    dividend: Expr
    divisor: int = 1

    @property
    def constant(self) -> float | None:
        """The number where no symbol decides about it."""
        return None if self.dividend.constant is None else self.dividend.constant / self.divisor

    @property
    def is_exact(self) -> bool:
        """Whether it is not rounded, so that more can be computed with it."""
        return self.divisor & (self.divisor - 1) == 0

    def floor(self) -> Expr:
        """The next whole number below."""
        return self.dividend // self.divisor

    def ceil(self) -> Expr:
        """The next whole number above."""
        return -(-self.dividend // self.divisor)

    def truncated(self) -> Expr | None:
        """The next whole number towards zero, where it is known on which side of zero this is."""
        domain = Domain({key: (1, None) for key in self.dividend.variables()})
        low, high = domain.lower(self.dividend), domain.upper(self.dividend)
        if low is not None and low >= 0:
            return self.floor()
        return self.ceil() if high is not None and high <= 0 else None


def has_fractions(array: NDArray[Any]) -> bool:
    """Whether elements are sizes as floating-point numbers."""
    return array.dtype == object and any(isinstance(e, SizeFraction) for e in array.flat)


Number: TypeAlias = "SizeFraction | float"


def as_fraction(size: ExprLike) -> SizeFraction:
    """A size as a floating-point number."""
    return SizeFraction(to_expr(size))


def computed(op: str, first: Number, second: Number = 1.0) -> SizeFraction | None:
    """What an operator makes of fractions and numbers; None where that is not known exactly."""
    one, other = _exact(first), _exact(second)
    if op in ("Floor", "Ceil"):
        assert isinstance(first, SizeFraction)
        return as_fraction(first.floor() if op == "Floor" else first.ceil())
    if one is None or other is None:
        return None
    match op:
        case "Mul":
            return SizeFraction(one.dividend * other.dividend, one.divisor * other.divisor)
        case "Div" if (number := other.dividend.constant) is not None and number > 0:
            return _reduced(one.dividend * other.divisor, one.divisor * number)
        case "Add" | "Sub":
            divisor = max(one.divisor, other.divisor)
            a, b = (each.dividend * (divisor // each.divisor) for each in (one, other))
            return SizeFraction(a + b if op == "Add" else a - b, divisor)
        case _:
            return None


FRACTIONAL = ("Add", "Ceil", "Div", "Floor", "Mul", "Sub")
"""The operators that `computed` knows."""


def _exact(number: Number) -> SizeFraction | None:
    """A fraction that is not rounded, or a number as one of few digits."""
    if isinstance(number, SizeFraction):
        return number if number.is_exact else None
    if not np.isfinite(number):
        return None
    exact = Fraction(number)
    few = max(abs(exact.numerator), exact.denominator) <= FEW
    return SizeFraction(to_expr(exact.numerator), exact.denominator) if few else None


def _reduced(dividend: Expr, divisor: int) -> SizeFraction:
    """Without the powers of two that all terms have in common with the divisor."""
    while divisor % 2 == 0 and dividend % 2 == 0:
        dividend, divisor = dividend // 2, divisor // 2
    return SizeFraction(dividend, divisor)
