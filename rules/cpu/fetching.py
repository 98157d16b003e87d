"""How long operands take to come from memory, and how much of that shows while a core multiplies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

MEMORY_BYTES = 5.0
"""Bytes that a core gets from memory each cycle, the others taking their share."""

AGAIN_BYTES = 16.0
"""Bytes each cycle of what is read again, from a cache that cores share."""

PIECEWISE_BYTES = 8.0
"""The same of what is read in short pieces, which no one asks for beforehand."""

SECOND_BYTES = 32.0
"""Bytes each cycle of what is stored to the second cache, or loaded from it."""

_BESIDE = 0.25
"""The part of the shorter of two works done at a time that shows: transforms and tiles begin with nothing to fetch."""


def overlapped(multiplying: float, fetching: float) -> float:
    """Of multiplying while the operands that come next are fetched: the longer of both, and some of the other."""
    return max(multiplying, fetching) + _BESIDE * min(multiplying, fetching)


@dataclass(frozen=True)
class Operand:
    """One that is too large for the second cache, in pieces, each of which all tiles along other axes read.

    cycles: to get it from memory, for every result and reduction step. around: the extents of these axes. stays:
    whether a piece is still in the second cache when the next tile reads it; then each asks for a part of the next one.
    """

    cycles: float
    around: Mapping[str, int]
    stays: bool

    def waiting(self, cost: float, factors: Mapping[str, int]) -> float:
        """What tiles with these factors of axes take longer than their own `cost`, for every result and step."""
        if self.stays:
            return overlapped(cost, self.cycles) - cost
        passes = prod(-(-extent // factors.get(axis, 1)) for axis, extent in self.around.items())
        first = cost / passes
        again = (passes - 1) * self.cycles * MEMORY_BYTES / AGAIN_BYTES
        return overlapped(first, self.cycles) + overlapped(cost - first, again) - cost
