"""How many bytes come into each cache: what is touched again is still there if little enough is touched in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tilework.targets.base import LINE_BYTES
from tilework.tuning.features.footprints import Movement
from tilework.tuning.features.numbers import Number
from tilework.tuning.features.program import Buffer, Loop

FULL, OVERFULL = 0.75, 1.25
"""Up to the first part of a cache all stays that is touched, from the second on nothing does; in between, a part."""

WorkingSets = Mapping["Loop | None", Number]
"""The bytes that one iteration of a loop touches; by None, those that all of the nest does."""


def working_sets(movements: Sequence[Movement]) -> WorkingSets:
    """Of every loop: a buffer that is accessed in several ways counts as the largest of them."""
    touched: dict[Loop | None, dict[Buffer, Number]] = {}
    for movement in movements:
        for loop, footprint in zip((None, *movement.box.loops), movement.footprints, strict=True):
            sizes = touched.setdefault(loop, {})
            buffer = movement.access.buffer
            sizes[buffer] = np.maximum(sizes[buffer], footprint.bytes) if buffer in sizes else footprint.bytes
    return {loop: sum(sizes.values()) for loop, sizes in touched.items()}


def lines_missed(movement: Movement, sets: WorkingSets, cache_bytes: int, places: int) -> Number:
    """How many lines of what an access touches come into a cache in one of many runs of the nest.

    places: by its address a line may be in one of so many places of the cache, each of which has room for few.
    """
    ways = cache_bytes // (places * LINE_BYTES)
    footprints = movement.footprints
    missed: Number = footprints[-1].lines
    for depth in reversed(range(len(movement.box.loops))):
        loop, all_of = movement.box.loops[depth], footprints[depth].lines
        stays = _part_that_stays(sets[loop], cache_bytes) * np.less_equal(footprints[depth + 1].ways(places), ways)
        again = np.maximum(movement.box.extents[loop.index] * missed, all_of)
        missed = stays * all_of + (1 - stays) * again
    return missed * (1 - _part_that_stays(sets[None], cache_bytes))


def _part_that_stays(touched: Number, cache_bytes: int) -> Number:
    return np.clip((OVERFULL - touched / cache_bytes) / (OVERFULL - FULL), 0.0, 1.0)
