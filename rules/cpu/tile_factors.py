"""Along which axes beside the vector axis a register tile may extend, and how far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from tilework.analysis.sizes import LARGE
from tilework.rules.cpu.reads import Read

_TILE_FACTORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)

_SYMBOLIC_FACTORS = (1, 4, 8)
"""The factors of axes whose extent is not known, which is a multiple of these more often than of others."""


def factors_of(
    vector: str, extents: Mapping[str, int], reads: Sequence[Read], registers: int, vectors: int
) -> Iterator[dict[str, int]]:
    """Tilings of at most two other axes: those along which the vector operand is reused, or one where others are.

    Of unknown extent where the others are too short: what is left of one at its end asks at every step where it ends.
    """
    moving = [r for r in reads if vector in r.axes]
    still = [r for r in reads if vector not in r.axes]
    others = [a for a, e in extents.items() if a != vector and e > 1]

    def tile_factors(axis: str) -> Sequence[int]:
        extent = extents[axis]
        return _SYMBOLIC_FACTORS if extent == LARGE else [f for f in _TILE_FACTORS if f <= extent]

    def is_reused(axis: str, reads: Sequence[Read]) -> bool:
        return any(not r.moves(axis, f) for r in reads for f in tile_factors(axis) if f > 1)

    reused = [a for a in others if is_reused(a, moving)]
    known = [a for a in reused if extents[a] < LARGE]
    reused = known if prod(extents[a] for a in known) >= max(_SYMBOLIC_FACTORS) else reused
    reused = reused or [a for a in others if extents[a] < LARGE][-1:]
    yield from _tilings(reused[-2:], tile_factors, registers // vectors)
    beside = [a for a in others if a not in reused and extents[a] < LARGE and is_reused(a, still)]
    if beside and vectors == 1:
        for f in tile_factors(beside[-1]):
            for rest in _tilings(reused[-2:], tile_factors, (registers + 1 - f) // f):
                yield {**rest, beside[-1]: f}


def _tilings(axes: Sequence[str], factors: Callable[[str], Sequence[int]], most: int) -> Iterator[dict[str, int]]:
    """Every choice of a factor for each axis whose product is at most `most`."""
    if not axes:
        yield {}
        return
    for f in factors(axes[0]):
        if f <= most:
            yield from ({axes[0]: f, **rest} for rest in _tilings(axes[1:], factors, most // f))


def tile_parts(
    axes: Sequence[str], factors: Mapping[str, int], extents: Mapping[str, int]
) -> Sequence[tuple[int, dict[str, int]]]:
    """How many tiles there are of which factors: whole ones, and what is left at the end of each axis."""
    parts: list[tuple[int, dict[str, int]]] = [(1, {})]
    for axis in reversed(axes):
        whole, left = divmod(extents[axis], factors[axis])
        cut = [(whole, factors[axis]), (1, left)] if left else [(whole, factors[axis])]
        parts = [(count * times, {axis: factor, **part}) for count, part in parts for times, factor in cut]
    return parts
