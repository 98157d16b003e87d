"""How many bytes come into each cache: what is touched again is still there if little enough is touched in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Missed:
    """What comes into a cache in one of many runs of a nest: lines, and in how many pieces they lie that are far apart
    from what is read before, so that nothing is fetched ahead."""

    lines: Number
    pieces: Number


def missed(movement: Movement, sets: WorkingSets, cache_bytes: int, far_bytes: int, places: int = 0) -> Missed:
    """What an access misses in a cache of that size.

    places: by its address a line may be in one of so many places of the cache, each of which has room for a few; 0
    where addresses do not tell. far_bytes: from which distance on nothing is fetched ahead.
    """
    ways = cache_bytes // (places * LINE_BYTES) if places else 0
    footprints, width = movement.footprints, movement.access.buffer.element_bytes
    lines = footprints[-1].lines
    pieces: Number = 1.0
    for depth in reversed(range(len(movement.box.loops))):
        loop, all_of = movement.box.loops[depth], footprints[depth].lines
        extent, moves = movement.box.extents[loop.index], movement.moves(loop.index)
        stays = _part_that_stays(sets[loop], cache_bytes)
        if places:
            crowd = footprints[depth + 1].ways(places)
            stays = stays * (np.less_equal(crowd, ways) if ways < 32 else np.clip((OVERFULL - crowd / ways) / (OVERFULL - FULL), 0.0, 1.0))
        lines = stays * all_of + (1 - stays) * np.maximum(extent * lines, all_of)
        far = np.greater_equal(np.abs(movement.steps.get(loop.index, 0.0)) * width, far_bytes)
        again = np.logical_or(far, np.greater(pieces, 1))
        begun = np.where(moves, np.where(again, extent, 1.0), stays + (1 - stays) * extent)
        pieces = pieces * begun
    cold = 1 - _part_that_stays(sets[None], cache_bytes)
    return Missed(lines * cold, np.minimum(pieces, lines) * cold)


def _part_that_stays(touched: Number, cache_bytes: int) -> Number:
    return np.clip((OVERFULL - touched / cache_bytes) / (OVERFULL - FULL), 0.0, 1.0)
