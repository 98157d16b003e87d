"""Nests of loops that go through whole tiles: how they move from tile to tile, whatever order they have within one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilework.algebra.index_expr import Expr
from tilework.analysis.loop_nest import LoopNest, NoNest, Steps
from tilework.dialects.loop import ForOp, Kind


@dataclass(frozen=True)
class Dim:
    """A loop: how often it runs, and how far each access moves with it.

    written_out: whether each iteration is an operation of its own. valid: the iterations in which something is read,
    from the first up to the end, where these are not all; zeros are written in the others.
    """

    name: str
    trip: int
    steps: tuple[int, ...]
    written_out: bool = False
    valid: tuple[int, int] | None = None


ALL_VALID: Mapping[ForOp, tuple[int, int]] = {}


@dataclass(frozen=True)
class TileNest:
    """Loops over tiles, outermost first; those that are written out stand in front.

    starts: the first tile of each access, over SSA values.
    """

    dims: tuple[Dim, ...]
    starts: tuple[Expr, ...]


def tile_nest(
    nest: LoopNest, accesses: Sequence[Steps], elements: int, valid: Mapping[ForOp, tuple[int, int]] = ALL_VALID
) -> TileNest:
    """How the accesses of a nest move from tile to tile. Raises NoNest where they do not take whole tiles, in order.

    valid: as in `Dim`, for those loops where something is not read in each iteration.
    """
    is_read = all(first < end for first, end in valid.values())
    dims = [
        Dim(
            loop.axis.data,
            trip,
            tuple(access.steps[at] for access in accesses),
            loop.kind.data is Kind.UNROLLED,
            valid.get(loop) if is_read else None,
        )
        for at, (loop, trip) in enumerate(zip(nest.loops, nest.trips, strict=True))
        if trip != 1 or (is_read and loop in valid)
    ]
    starts = [tile_number(access.start, elements, nest.text_of(access.access)) for access in accesses]
    outside = _without_elements(dims, elements)
    for dim in outside:
        for step, access in zip(dim.steps, accesses, strict=True):
            if step % elements or step < 0:
                raise NoNest(
                    f"{nest.text_of(access.access)} moves by {step} elements with '{dim.name}', which is no number "
                    f"of tiles of {elements} elements"
                )
    scaled = [replace(dim, steps=tuple(step // elements for step in dim.steps)) for dim in outside]
    if not is_read:
        scaled = _unread(scaled, len(accesses))
    return TileNest(tuple(sorted(scaled, key=lambda dim: not dim.written_out)), tuple(starts))


def part_of(tiles: TileNest, at: int, first: int, end: int, *, is_read: bool) -> TileNest:
    """Some iterations of one loop of a nest, in all of which something is read, or in none."""
    loop = tiles.dims[at]
    starts = tuple(start + step * first for start, step in zip(tiles.starts, loop.steps, strict=True))
    dims = [replace(dim, trip=end - first, valid=None) if i == at else dim for i, dim in enumerate(tiles.dims)]
    return TileNest(tuple(dims if is_read else _unread(dims, len(starts))), starts)


def _unread(dims: Sequence[Dim], accesses: int) -> list[Dim]:
    """The loops, of which the one that goes from tile to tile of the chip reads nothing at all."""
    plain = [replace(dim, valid=None) for dim in dims]
    at = next((i for i, dim in enumerate(dims) if not dim.written_out and dim.steps[0] == 1), None)
    if at is None:
        return [*plain, Dim("", 1, (1,) * accesses, valid=(0, 0))]
    return [*plain[:at], replace(plain[at], valid=(0, 0)), *plain[at + 1 :]]


def tile_number(position: Expr, elements: int, text: str) -> Expr:
    """The number of the tile that begins at an element. Raises NoNest, about an access, where none is known to."""
    number = position // elements
    if number * elements != position:
        raise NoNest(f"{text} does not begin with a tile: tiles have {elements} elements")
    return number


def merged(dims: Sequence[Dim]) -> list[Dim]:
    """The same loops, with two that go through tiles as one would as this one."""
    found: list[Dim] = []
    for dim in dims:
        whole = tuple(dim.trip * step for step in dim.steps)
        if found and found[-1].steps == whole and _is_plain(dim) and _is_plain(found[-1]):
            dim = replace(dim, trip=found.pop().trip * dim.trip)
        found.append(dim)
    return found


def _is_plain(dim: Dim) -> bool:
    return not dim.written_out and dim.valid is None


def _without_elements(dims: Sequence[Dim], elements: int) -> list[Dim]:
    """The loops without those that go through the elements of a tile, one behind the other in all accesses."""
    rest, reached = list(dims), 1
    while reached < elements:
        at = next((i for i, dim in enumerate(rest) if set(dim.steps) == {reached} and dim.valid is None), None)
        if at is None:
            raise NoNest(f"they do not go through whole tiles of {elements} elements")
        dim, needed = rest[at], elements // reached
        if needed % dim.trip == 0:
            rest.pop(at)
            reached *= dim.trip
        elif dim.trip % needed == 0:
            rest[at] = replace(dim, trip=dim.trip // needed, steps=(elements,) * len(dim.steps))
            reached = elements
        else:
            raise NoNest(
                f"'{dim.name}' runs {dim.trip} times, which is no whole number of tiles of {elements} elements"
            )
    return rest
