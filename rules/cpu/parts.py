"""Stages that are computed part by part, right before a reduction reads the part: of large ones some rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, var
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.readers import readers_of
from tilework.rules.cpu.reads import bits_of, reads_of, size_of
from tilework.rules.cpu.register_tile import Tile, choose_tile
from tilework.rules.cpu.stages import Plan
from tilework.targets.target import Target

PART_BYTES = 96 << 10
"""What is computed just before it is read should be found in a near cache then, and fits on the stack."""

AGAIN = 1.5
"""How many times a row may be computed, on average, for the windows of several blocks of rows."""


@dataclass(frozen=True)
class Rows:
    """`count` positions at a time along `axis` of a reduction take `needed` rows of what its windows read."""

    axis: str
    count: int
    needed: int

    @property
    def loop(self) -> str:
        """A name for the loop over blocks of positions."""
        return f"{self.axis}.rows"


def rows_for(
    producer: ComputeOp, reduction: ComputeOp, shared: Sequence[str], tile: Tile | None, most: int
) -> Rows | None:
    """The most rows of a part of the producer that take at most `most` bytes; None where all of them do, or none.

    shared: the first axes of both, at each point of which the reduction reads a part of its own.
    """
    at = len(shared)
    if at == len(reduction.spatial):
        return None  # at each of its points the reduction needs all that it reads
    row = size_of(producer.spatial[at + 1 :]) * bits_of(producer.result.type) // 8
    axis, extent = reduction.spatial[at]
    if size_of(producer.spatial[at : at + 1]) * row <= most or (tile is not None and axis == tile.vector):
        return None
    windows = {read.exprs[at] for reader, read in readers_of(producer) if reader is reduction}
    if len(windows) != 1 or extent.constant is None:
        return None
    [window] = windows
    step, reach = window.coefficient(axis), _reach(window, axis, reduction)
    if step < 1 or reach is None:
        return None
    factor = 1 if tile is None else tile.factors.get(axis, 1)
    for count in range(extent.constant - 1, 0, -1):
        needed = (count - 1) * step + reach
        if extent.constant % count == 0 and count % factor == 0 and needed * row <= most:
            return Rows(axis, count, needed) if needed <= AGAIN * count * step else None
    return None


def _reach(window: Expr, axis: str, reduction: ComputeOp) -> int | None:
    """How many rows one position's window reaches over; None where another axis moves it."""
    taps = window - window.coefficient(axis) * var(axis)
    if not set(taps.variables()) <= {n for n, _ in reduction.reduction}:
        return None
    domain = Domain({n: (0, e - 1) for n, e in reduction.reduction})
    first, last = domain.lower(taps), domain.upper(taps)
    return None if first is None or last is None else last - first + 1


@dataclass(frozen=True)
class Around:
    """A loop around a tile, and the axes of which it and those outside it fix the point; of `Rows`, the loop's name."""

    axis: SSAValue
    fixed: frozenset[str]


def rows_of(plan: Plan, root: ComputeOp, reduction: ComputeOp, target: Target) -> Rows | None:
    """How many positions of a reduction to take at a time, so that what they read of a producer's part is small.

    It stays in the nearest cache where that is possible, if it can be beside as much of what it is made of.
    """
    tile = choose_tile(reduction, reads_of(reduction), target)
    for producer, (reader, shared) in plan.parts.items():
        if reader is root:
            nearest = target.cache_bytes[0]
            most = (nearest // 2, nearest, PART_BYTES)
            return next(filter(None, (rows_for(producer, reduction, shared, tile, m) for m in most)), None)
    return None


def loop_of_part(plan: Plan, compute: ComputeOp, around: Sequence[Around], rows: Rows | None) -> SSAValue | None:
    """The innermost of the loops around the reader's tile in which a stage has a part that is small."""
    _, shared = plan.parts[compute]
    found: SSAValue | None = None
    for loop in around:
        by_rows = rows is not None and rows.loop in loop.fixed
        fixed = loop.fixed - {rows.loop} if rows is not None else loop.fixed
        inside = [axis for i, axis in enumerate(compute.spatial) if i >= len(shared) or shared[i] not in fixed]
        elements = size_of(inside)
        if rows is not None and by_rows:
            elements = elements // size_of(compute.spatial[len(shared) : len(shared) + 1]) * rows.needed
        small = elements * bits_of(compute.result.type) // 8 <= PART_BYTES
        if small and fixed <= set(shared) and elements < size_of(compute.spatial):
            found = loop.axis
    return found
