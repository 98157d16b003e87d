"""How long operands take to come from memory, and how much of that shows while a core multiplies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from tilework.targets.cpu.target import CpuTarget


def overlapped(multiplying: float, fetching: float, target: CpuTarget) -> float:
    """The cycles of multiplying while the operands that come next are fetched: the longer of both, and some of the
    other.

    The less there is to fetch, the smaller is the part of it that is late.
    """
    shorter, longer = sorted((multiplying, fetching))
    return longer + target.machine.core.overlap * shorter * (shorter / longer if longer else 0.0)


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

    def waiting(self, cost: float, factors: Mapping[str, int], target: CpuTarget) -> float:
        """What tiles with these factors of axes take longer than their own `cost`, for every result and step."""
        if self.stays:
            return overlapped(cost, self.cycles, target) - cost
        passes = prod(-(-extent // factors.get(axis, 1)) for axis, extent in self.around.items())
        first = cost / passes
        again = overlapped(cost - first, (passes - 1) * self.again, target)
        return overlapped(first, self.cycles, target) + again - cost
