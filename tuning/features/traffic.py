"""How many bytes come into each cache: what is touched again is still there if little enough is touched in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilework.targets.base import LINE_BYTES
from tilework.tuning.features.footprints import Movement
from tilework.tuning.features.numbers import Number, nowhere, total
from tilework.tuning.features.program import Buffer, Loop

FULL, OVERFULL = 0.75, 1.25
"""Up to the first part of a cache all stays that is touched, from the second on nothing does; in between, a part."""


class WorkingSets:
    """The bytes that one iteration of each loop touches, and by None those that all of the nest does.

    A buffer that is accessed in several ways counts as the largest of them.
    """

    def __init__(self, movements: Sequence[Movement]):
        touched: dict[Loop | None, dict[Buffer, Number]] = {}
        for movement in movements:
            for loop, footprint in zip((None, *movement.box.loops), movement.footprints, strict=True):
                sizes = touched.setdefault(loop, {})
                buffer = movement.access.buffer
                sizes[buffer] = np.maximum(sizes[buffer], footprint.bytes) if buffer in sizes else footprint.bytes
        self.bytes: dict[Loop | None, Number] = {loop: total(sizes.values()) for loop, sizes in touched.items()}
        self._staying: dict[tuple[Loop | None, int], Number] = {}

    def staying(self, loop: Loop | None, cache_bytes: int) -> Number:
        """The part of what an iteration of a loop touches that is still in a cache of this size in the next one."""
        known = self._staying.get((loop, cache_bytes))
        if known is None:
            known = self._staying[loop, cache_bytes] = part_that_stays(self.bytes[loop] / cache_bytes)
        return known


def part_that_stays(full: Number) -> Number:
    """The part that stays of what fills such a part of a cache."""
    return np.minimum(np.maximum((OVERFULL - full) / (OVERFULL - FULL), 0.0), 1.0)


Fits = Callable[[Number], Number]


def all_or_nothing(full: Number) -> Number:
    """Lines that take turns in a place all stay there, or none does: with one too many, each is gone at its turn."""
    return np.less_equal(full, 1) * 1.0


@dataclass(frozen=True)
class Missed:
    """What comes into a cache in one of many runs of a nest: lines, and in how many pieces they lie that are far apart
    from what is read before, so that nothing is fetched ahead."""

    lines: Number
    pieces: Number


def missed(movement: Movement, sets: WorkingSets, cache_bytes: int, places: int, far_bytes: int, fits: Fits) -> Missed:
    """What an access misses in a cache of that size.

    places: by its address a line may be in one of so many places of the cache, each of which has room for a few. fits:
    which part of these lines stays, by how full their places are. far_bytes: from which distance on nothing is fetched
    ahead.
    """
    cold = 1 - sets.staying(None, cache_bytes)
    if nowhere(cold):  # all is there from the run before
        return Missed(0.0, 0.0)
    ways = cache_bytes // (places * LINE_BYTES)
    footprints, width = movement.footprints, movement.access.buffer.element_bytes
    lines = footprints[-1].lines
    pieces: Number = 1.0
    for depth in reversed(range(len(movement.box.loops))):
        loop, all_of = movement.box.loops[depth], footprints[depth].lines
        extent, moves = movement.box.extents[loop.index], movement.moves(loop.index)
        stays = sets.staying(loop, cache_bytes) * fits(footprints[depth + 1].ways(places) / ways)
        lines = stays * all_of + (1 - stays) * np.maximum(extent * lines, all_of)
        step = movement.steps.get(loop.index)
        far = False if step is None else np.greater_equal(np.abs(step) * width, far_bytes)
        again = np.logical_or(far, np.greater(pieces, 1))
        pieces = pieces * np.where(moves, np.where(again, extent, 1.0), stays + (1 - stays) * extent)
    return Missed(lines * cold, np.minimum(pieces, lines) * cold)
