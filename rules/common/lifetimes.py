"""How many elements straight-line code holds at each of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import prod


@cache  # the same for many kernels
def lifetimes(tile: tuple[tuple[int, int], ...], taps: tuple[tuple[int, int], ...], shared: bool) -> list[int]:
    """How many elements are there at each tap, from the first that reads them to the last.

    Those of a tile, and its taps, are so many steps of such lengths apart. shared: only those that several taps read.
    """
    inside = _positions(tile)
    ends: dict[int, tuple[int, int]] = {}
    for number, start in enumerate(_positions(taps)):
        for element in inside:
            first, _ = ends.get(start + element, (number, number))
            ends[start + element] = first, number
    there = [0] * (prod(count for _, count in taps) + 1)
    for first, last in ends.values():
        if first < last or not shared:
            there[first] += 1
            there[last + 1] -= 1
    return list(accumulate(there[:-1]))


def _positions(axes: Sequence[tuple[int, int]]) -> list[int]:
    """Sums of steps, those of the last axis next to each other."""
    positions = [0]
    for step, count in axes:
        positions = [p + step * i for p in positions for i in range(count)]
    return positions
