"""Stages that are computed part by part, right before a reduction reads the part: of large ones some rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, var
from tilework.analysis.sizes import bits_of, bytes_of, size_of
from tilework.dialects.te import ComputeOp
from tilework.rules.common.readers import readers_of
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import Tile, choose_tile
from tilework.rules.cpu.stages import StagePlan
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class Rows:
    """`count` positions at a time along `axis` of a reduction take `needed` rows of what its windows read.

    dimension: which one of the producer's dimensions rows are counted along. outermost: the axes whose loops are around
    all others, so that rows are there for all that reads them.
    """

    axis: str
    count: int
    needed: int
    dimension: int
    outermost: frozenset[str]

    @property
    def loop(self) -> str:
        """A name for the loop over blocks of positions."""
        return f"{self.axis}.rows"


def rows_for(
    plan: StagePlan, producer: ComputeOp, reduction: ComputeOp, tile: Tile | None, most: int, target: CpuTarget
) -> Rows | None:
    """The most rows of a part of the producer that take at most `most` bytes; None where all of them do, or none.

    Fewer rows where cores are done sooner with them.
    """
    _, shared = plan.parts[producer]
    window = _window(producer, reduction, shared)
    if window is None:
        return None
    dimension, axis, index = window
    extent = dict(reduction.spatial)[axis].constant
    whole = size_of(producer.spatial[len(shared) :]) * bits_of(producer.result.type) // 8
    if whole <= most or extent is None or (tile is not None and axis == tile.vector):
        return None
    row = whole // size_of(producer.spatial[dimension : dimension + 1])
    step, reach = index.coefficient(axis), _reach(index, axis, reduction)
    if step < 1 or reach is None:
        return None
    factor = 1 if tile is None else tile.factors.get(axis, 1)
    counts = [n for n in range(1, extent) if extent % n == 0 and n % factor == 0]
    needed = {n: (n - 1) * step + reach for n in counts}
    fitting = [n for n in counts if needed[n] * row <= most and needed[n] <= target.machine.work.repeated * n * step]
    points = size_of(producer.spatial[: len(shared)])
    if axis != reduction.spatial[len(shared)][0]:  # all else is read again for every block, and no other axis is shared
        if points >= target.cores and whole <= target.machine.buffers.part:
            return None
        fitting = [n for n in fitting if points * extent // n >= target.cores]
        if _others(producer, reduction) > target.near_bytes:  # then once by each core
            fitting = [n for n in fitting if plan.sums(producer) and points * extent // n == target.cores]
    of_a_core = {n: -(-points * extent // n // target.cores) * n for n in fitting}
    tile_rows = 1
    if plan.sums(producer):
        tile_rows = _rows_of_tile(plan.anchored.get(producer, producer), dimension, target)
        even = target.machine.work.uneven * points * extent / target.cores
        fitting = [n for n in fitting if needed[n] >= tile_rows and of_a_core[n] <= even]
    count = min(fitting, key=lambda n: (of_a_core[n], needed[n] % tile_rows > 0, -n), default=None)
    return None if count is None else Rows(axis, count, needed[count], dimension, frozenset({*shared, axis}))


def _rows_of_tile(summed: ComputeOp, dimension: int, target: CpuTarget) -> int:
    """How many rows of the dimension the tiles of a reduction have."""
    tile = choose_tile(summed, reads_of(summed), target)
    return 1 if tile is None else tile.extent(summed.spatial[dimension][0])


def _window(producer: ComputeOp, reduction: ComputeOp, shared: Sequence[str]) -> tuple[int, str, Expr] | None:
    """The first dimension that windows move along inside a part: its number, with which axis, the index."""
    reads = [read for reader, read in readers_of(producer) if reader is reduction]
    spatial = {name for name, _ in reduction.spatial[len(shared) :]}
    for dimension in range(len(shared), len(producer.spatial)):
        indices = {read.exprs[dimension] for read in reads}
        moving = sorted(name for name in spatial if any(name in e.variables() for e in indices))
        if moving:
            return (dimension, moving[0], indices.pop()) if len(moving) == len(indices) == 1 else None
    return None


def _others(producer: ComputeOp, reduction: ComputeOp) -> int:
    """Bytes of all else that a reduction reads."""
    return sum(bytes_of(tensor.type) for tensor in {r.tensor for r in reduction.reads} if tensor != producer.result)


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


def rows_of(plan: StagePlan, root: ComputeOp, reduction: ComputeOp, target: CpuTarget) -> Rows | None:
    """How many positions of a reduction to take at a time, so that what they read of a producer's part is small.

    It stays in the nearest cache where that is possible, if it can be beside as much of what it is made of.
    """
    tile = choose_tile(reduction, reads_of(reduction), target)
    for producer, (reader, _) in plan.parts.items():
        if reader is root:
            most = _most_bytes(plan, producer, target)
            return next(filter(None, (rows_for(plan, producer, reduction, tile, m, target) for m in most)), None)
    return None


def _most_bytes(plan: StagePlan, producer: ComputeOp, target: CpuTarget) -> Sequence[int]:
    """How large a part may be, what is better first."""
    if plan.sums(producer):
        _, shared = plan.parts[producer]
        of_a_core = size_of(producer.spatial[len(shared) :]) * bits_of(producer.result.type) // 8 // target.cores
        near = int(target.cache_bytes[1] * target.machine.caches.windows_share)
        return [min(near, target.machine.buffers.summed_part, of_a_core)]
    nearest = target.cache_bytes[0]
    return [int(nearest * target.machine.caches.stored_share), nearest, target.machine.buffers.part]


def loop_of_part(
    plan: StagePlan, compute: ComputeOp, around: Sequence[Around], rows: Rows | None, target: CpuTarget
) -> SSAValue | None:
    """The innermost of the loops around the reader's tile in which a stage has a part that is small."""
    _, shared = plan.parts[compute]
    found: SSAValue | None = None
    for loop in around:
        by_rows = rows is not None and rows.loop in loop.fixed
        fixed = loop.fixed - {rows.loop} if rows is not None else loop.fixed
        inside = [axis for i, axis in enumerate(compute.spatial) if i >= len(shared) or shared[i] not in fixed]
        elements = size_of(inside)
        if rows is not None and by_rows:
            elements = elements // size_of([compute.spatial[rows.dimension]]) * rows.needed
        small = elements * bits_of(compute.result.type) // 8 <= _most_bytes(plan, compute, target)[-1]
        if small and fixed <= set(shared) and elements < size_of(compute.spatial):
            found = loop.axis
    return found
