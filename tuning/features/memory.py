"""How long a body waits for the caches, and what it gets from where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.code import Code
from tilework.tuning.features.numbers import Number, total
from tilework.tuning.features.program import Access
from tilework.tuning.features.traffic import Fits, WorkingSets, all_or_nothing, missed, part_that_stays

PAGE_BYTES = 4096
"""Where a line of a page lies in the caches behind the first depends on the page, which may be any."""


@dataclass(frozen=True)
class Cache:
    """A cache that misses: what it holds, in how many places, what comes into it each cycle, how long a piece takes.

    fits: which part of the lines stays that have the same place, by how full that is.
    """

    bytes: int
    places: int
    fits: Fits
    speed: float
    wait: float


def caches_of(target: CpuTarget) -> Sequence[Cache]:
    """The caches of a processor, the nearest first."""
    speed, (first, second, third) = target.bandwidth, target.cache_bytes
    waits, lines = target.machine.caches.waits, PAGE_BYTES // LINE_BYTES
    return (
        Cache(first, target.machine.caches.sets, all_or_nothing, speed.second, waits[0]),
        Cache(second, lines, part_that_stays, speed.shared, waits[1]),
        Cache(third, lines, part_that_stays, speed.memory, waits[2]),
    )


@dataclass(frozen=True)
class Fetched:
    """What an access has brought into a cache: lines, and the pieces of them that nothing fetches ahead."""

    lines: Number
    pieces: Number
    cycles: Number


class Memory:
    """What the accesses of a body bring into each cache of a processor."""

    def __init__(self, code: Code, sets: WorkingSets, target: CpuTarget):
        self._code = code
        self._sets = sets
        self._target = target

    @cached_property
    def fetched(self) -> Sequence[dict[Access, Fetched]]:
        """What is fetched, by cache and access; a load of what is stored again counts with the store."""
        return [self._fetched(cache) for cache in caches_of(self._target)]

    def _fetched(self, cache: Cache) -> dict[Access, Fetched]:
        code, far = self._code, self._target.machine.caches.far_bytes
        found: dict[Access, Fetched] = {}
        for access in (a for a in code.body.accesses if a not in code.body.updates):
            movement = code.levels.movements[access]
            miss = missed(movement, self._sets, cache.bytes, cache.places, far, cache.fits)
            most = code.transfers(access)  # what stays in registers is not asked for
            share = code.share_of(access)
            lines, pieces = np.minimum(miss.lines * share, most), np.minimum(miss.pieces * share, most)
            moved = lines * (2.0 if access.stores else 1.0)  # a line that was changed goes back
            found[access] = Fetched(lines, pieces, moved * LINE_BYTES / cache.speed + pieces * cache.wait)
        return found

    def lines(self, cache: int) -> Number:
        """All that come into a cache."""
        return total(f.lines for f in self.fetched[cache].values())

    def pieces(self, cache: int) -> Number:
        """All that nothing fetches ahead."""
        return total(f.pieces for f in self.fetched[cache].values())

    def cycles(self, cache: int) -> Number:
        """What that takes."""
        return total(f.cycles for f in self.fetched[cache].values())

    @cached_property
    def waiting(self) -> Number:
        """What all caches together take, which work side by side."""
        part = self._target.machine.core.overlap
        return reduce(lambda a, b: overlapped(a, b, part), (self.cycles(at) for at in range(len(self.fetched))))


def overlapped(a: Number, b: Number, part: float) -> Number:
    """The longer of two that go on at a time, and some of the other: the less of it there is, the less shows."""
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    return longer + part * shorter * shorter / np.maximum(longer, 1.0)
