"""The constant matrices of Winograd's minimal filtering F(m, r): m outputs of r taps from m + r - 1 products.

    y = A^T [(G g) * (B^T d)],  d: m + r - 1 inputs, g: r taps, y[i] = sum over t of d[i + t] g[t]

From polynomial interpolation at small rational points and at infinity (Toom, Cook; transposed as Winograd does): exact,
so that the only error is that of the floating-point numbers computed with.

Outputs `stride` inputs apart are sums of filters, one for each phase: every stride-th input with every stride-th tap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import TypeAlias

Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]

_POINTS = tuple(map(Fraction, (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))))
"""Small numbers first: large powers cost accuracy."""

MOST_PRODUCTS = len(_POINTS) + 1


@dataclass(frozen=True)
class Winograd:
    """`output` is A^T (m x n), `weight` G (n x r), `input` B^T (n x n), where n = (m - 1) stride + r."""

    output: Matrix
    weight: Matrix
    input: Matrix


@cache
def winograd(outputs: int, taps: int, stride: int = 1) -> Winograd:
    """The matrices for y[i] = sum over t of d[i stride + t] g[t], with at most MOST_PRODUCTS products in each phase."""
    assert taps >= stride
    taps_of = [range(phase, taps, stride) for phase in range(stride)]
    phases = [_filter(outputs, len(of_phase)) for of_phase in taps_of]
    count = (outputs - 1) * stride + taps
    return Winograd(
        output=tuple(tuple(e for phase in phases for e in phase.output[i]) for i in range(outputs)),
        weight=tuple(
            _spread(row, of_phase, taps)
            for phase, of_phase in zip(phases, taps_of, strict=True)
            for row in phase.weight
        ),
        input=tuple(
            _spread(row, range(first, count, stride), count)
            for first, phase in enumerate(phases)
            for row in phase.input
        ),
    )


def _spread(row: Sequence[Fraction], at: Sequence[int], count: int) -> tuple[Fraction, ...]:
    """`count` numbers, those of the row at some places and zeros between."""
    values = dict(zip(at, row, strict=True))
    return tuple(values.get(i, Fraction(0)) for i in range(count))


def _filter(outputs: int, taps: int) -> Winograd:
    """The matrices of F(outputs, taps); a single tap needs no transform."""
    if taps == 1:
        one = tuple(tuple(Fraction(int(i == j)) for j in range(outputs)) for i in range(outputs))
        return Winograd(output=one, weight=((Fraction(1),),) * outputs, input=one)
    count = outputs + taps - 1
    assert 1 <= count <= MOST_PRODUCTS
    points = _POINTS[: count - 1]
    others = [[b for b in points if b != a] for a in points]
    scales = [prod((a - b for b in rest), start=Fraction(1)) for a, rest in zip(points, others, strict=True)]
    return Winograd(
        output=tuple((*(a**i for a in points), Fraction(int(i == outputs - 1))) for i in range(outputs)),
        weight=(
            *(tuple(a**i / s for i in range(taps)) for a, s in zip(points, scales, strict=True)),
            tuple(Fraction(int(i == taps - 1)) for i in range(taps)),
        ),
        input=(*((*_with_roots(rest), Fraction(0)) for rest in others), tuple(_with_roots(points))),
    )


def _with_roots(roots: Sequence[Fraction]) -> list[Fraction]:
    """The coefficients of the product of (x - root), lowest first."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted, scaled = [Fraction(0), *coefficients], [*(-root * c for c in coefficients), Fraction(0)]
        coefficients = [a + b for a, b in zip(shifted, scaled, strict=True)]
    return coefficients
