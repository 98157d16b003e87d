"""Which loops run on several threads, and what these share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.dialects.schedule_builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.costs import bytes_of
from tilework.rules.cpu.parts import Rows
from tilework.rules.cpu.reads import Axis, bits_of, reads_of, size_of
from tilework.rules.cpu.register_tile import Tile
from tilework.targets.target import Target

PARALLEL_WORK = 1 << 15
"""Scalar operations below which starting threads costs more than it gains."""

TASKS_PER_CORE = 4
"""Parallel iterations for each core, so that an uneven end costs little."""

NO_DIFFERENCE = 1.05
"""How much more a core may read as if it were the same."""

PIECE_BYTES = 4 << 10
"""What lies side by side of the results in a core's piece, at least: it is read and written as a stream."""


def parallel_prefix(
    s: ScheduleBuilder, outer: Sequence[tuple[SSAValue, int]], work: int, target: Target
) -> list[SSAValue]:
    """Fuse as many of the outermost loops as it takes to feed the cores and run them in parallel; the loops left.

    Leading axes of one element stay apart: of a fused axis, their part is a quotient of sizes, perhaps symbolic.
    """
    axes = [a for a, _ in outer]
    first = next((i for i, (_, count) in enumerate(outer) if count != 1), len(outer))
    if first == len(outer) or work < PARALLEL_WORK:
        return axes
    taken, tasks = first, 1
    while taken < len(outer) and tasks < TASKS_PER_CORE * target.cores:
        tasks *= outer[taken][1]
        taken += 1
    fused = s.fuse(axes[first:taken])
    s.parallel(fused)
    return [*axes[:first], fused, *axes[taken:]]


def axis_to_share(
    compute: ComputeOp, axes: Sequence[Axis], tile: Tile | None, rows: Rows | None, cores: int
) -> str | None:
    """The axis of which each core takes a piece before all else; None for the first of `axes`.

    All cores read what does not move along it, and half of the rest comes from the cache of another: each should read
    little. Where that makes no difference it is the longest, for matrices that are multiplied before and behind it have
    more rows than columns then, or more columns than rows.
    """
    operands = [(read.axes, bytes_of(r.tensor.type)) for read, r in zip(reads_of(compute), compute.reads, strict=True)]

    def read_by_each(axis: Axis) -> int:
        return sum(size // cores if axis[0] in moving else size for moving, size in operands)

    long = [axis for axis in axes if axis[1].constant != 1]
    even = [
        axis for axis in long if _is_even(axis, tile, rows, cores) and _run_bytes(compute, axis) >= cores * PIECE_BYTES
    ]
    least = min(map(read_by_each, even), default=0)
    good = [axis for axis in even if read_by_each(axis) <= NO_DIFFERENCE * least]
    shared = max(good, key=lambda axis: axis[1].constant or 0, default=None)
    return None if shared is None or shared == long[0] else shared[0]


def _is_even(axis: Axis, tile: Tile | None, rows: Rows | None, cores: int) -> bool:
    """Whether pieces for cores are as long as each other, and make no more tiles and blocks of rows than the whole."""
    name, extent = axis
    if extent.constant is None or extent.constant % cores:
        return False
    piece = extent.constant // cores
    if rows is not None and name == rows.axis:
        return piece % rows.count == 0
    size = 1 if tile is None else tile.span if name == tile.vector else tile.factors.get(name, 1)
    return cores * -(-piece // size) == -(-extent.constant // size)


def _run_bytes(compute: ComputeOp, axis: Axis) -> int:
    """How much lies side by side of the results along an axis and those inside it."""
    return size_of(compute.spatial[compute.spatial.index(axis) :]) * bits_of(compute.results[0].type) // 8
