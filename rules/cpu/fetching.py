"""How long operands take to come from memory, and how much of that shows while a core multiplies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

_BESIDE = 3 / 16
"""What shows of two works as long as each other that are done at a time: the part of one of them."""


def overlapped(multiplying: float, fetching: float) -> float:
    """Of multiplying while the operands that come next are fetched: the longer of both, and some of the other.

    The less there is to fetch, the smaller is the part of it that is late.
    """
    shorter, longer = sorted((multiplying, fetching))
    return longer + _BESIDE * shorter * (shorter / longer if longer else 0.0)


@dataclass(frozen=True)
class Operand:
    """One that is too large for the second cache, in pieces, each of which all tiles along other axes read.

    cycles: to get it from memory, for every result and reduction step; again: from the cache that cores share. around:
    the extents of these axes. stays: whether a piece is still in the second cache when the next tile reads it; then
    each asks for a part of the next one.
    """

    cycles: float
    again: float
    around: Mapping[str, int]
    stays: bool

    def waiting(self, cost: float, factors: Mapping[str, int]) -> float:
        """What tiles with these factors of axes take longer than their own `cost`, for every result and step."""
        if self.stays:
            return overlapped(cost, self.cycles) - cost
        passes = prod(-(-extent // factors.get(axis, 1)) for axis, extent in self.around.items())
        first = cost / passes
        return overlapped(first, self.cycles) + overlapped(cost - first, (passes - 1) * self.again) - cost
