"""Which axes are cut into pieces before all else: for cores, so that each reads little, and for the second cache."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from tilework.algebra.index_expr import Key
from tilework.analysis.sizes import bits_of, bytes_of, size_of
from tilework.dialects.te import ComputeOp
from tilework.rules.common.axes import Axis
from tilework.rules.cpu.consumer_rows import Rows
from tilework.rules.cpu.reads import Read, reads_of
from tilework.rules.cpu.register_tile import Tile
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class AxisSplit:
    """An axis is cut into `count` equal ones."""

    axis: str
    count: int


def axis_splits(
    compute: ComputeOp, axes: Sequence[Axis], tile: Tile | None, rows: Rows | None, target: CpuTarget
) -> list[AxisSplit]:
    """The loops over pieces in front of those along these axes, which begin with the outermost; cores' first."""
    long = [axis for axis in axes if axis[1].constant != 1]
    cut = _Cut(compute, long, tile, rows, target)
    shared = cut.shared()
    block = cut.block(shared)
    if shared is None or (shared == long[0] and block is None):
        return []
    if block is not None and block.axis == shared[0]:
        pieces = [AxisSplit(block.axis, target.cores * block.count)]
    else:
        pieces = [AxisSplit(shared[0], target.cores), *([] if block is None else [block])]
    return [piece for piece in pieces if piece.count > 1]


@dataclass(frozen=True)
class _Cut:
    """What axes of more than one element may be cut for."""

    compute: ComputeOp
    axes: Sequence[Axis]
    tile: Tile | None
    rows: Rows | None
    target: CpuTarget

    @property
    def operands(self) -> list[tuple[Set[Key], int]]:
        """The axes along which each moves, and its bytes."""
        reads = zip(reads_of(self.compute), self.compute.reads, strict=True)
        return [(read.axes, bytes_of(r.tensor.type)) for read, r in reads]

    def shared(self) -> Axis | None:
        """The axis that cores share.

        All cores read what does not move along it: each should read little, above all of what another has written.
        Where that makes no difference it is rows of an image whose channels are lanes, as before and behind it, or the
        longest, for matrices that are multiplied there have more rows than columns then, or more columns than rows.
        """
        even = [a for a in self.axes if self._is_even(a, self.target.cores) and self._makes_runs(a)]
        if self.rows is not None:  # one that moves inside computes the same rows again
            even = [a for a in even if a[0] in self.rows.outermost]
        least = min(map(self._read_by_each, even), default=0)
        good = [axis for axis in even if self._read_by_each(axis) <= self.target.machine.work.same_reading * least]
        rows = self._window_axes
        if self.tile is None or self.tile.vector in rows:
            rows = frozenset[Key]()
        return max(good, key=lambda axis: (axis[0] in rows, axis[1].constant or 0), default=None)

    def _read_by_each(self, axis: Axis) -> float:
        """Bytes that a core reads if cores share an axis.

        What windows are taken of, another kernel has made: the parts of other cores count for as much as could be read
        of weights meanwhile.
        """
        cores, speed = self.target.cores, self.target.bandwidth
        total = 0.0
        for (moving, size), read in zip(self.operands, reads_of(self.compute), strict=True):
            others = 0 if axis[0] in moving else size * (cores - 1)
            total += (size + others * (speed.shared / speed.exchange if self._windows(read) else 1.0)) / cores
        return total

    @cached_property
    def _window_axes(self) -> Set[Key]:
        """Those that windows move along."""
        return frozenset[Key]().union(*map(self._windows, reads_of(self.compute)))

    def _windows(self, read: Read) -> Set[Key]:
        """The axes of the results that an index adds to one that is summed over."""
        spatial, summed = ({name for name, _ in axes} for axes in (self.compute.spatial, self.compute.reduction))
        indices = [{*e.variables()} for e in read.indices]
        return frozenset[Key]().union(*(i & spatial for i in indices if i & summed))

    def block(self, shared: Axis | None) -> AxisSplit | None:
        """Pieces for the second cache of what is read at every iteration of the outermost loop, if it is too large.

        What moves with that loop is read again for each of them.
        """
        if self.tile is None or self.rows is not None or shared is None:
            return None
        near, first = self.target.near_bytes, self.axes[0][0]
        again = [(moving, size) for moving, size in self.operands if first not in moving]
        moving, size = max(again, key=lambda operand: operand[1], default=(frozenset[Key](), 0))
        for axis in self.axes[1:]:
            cores = self.target.cores if axis == shared else 1
            count = -(-size // (cores * near))
            if axis[0] in moving and 1 < count <= (axis[1].constant or 0):
                counts = [n for n in range(count, 2 * count + 1) if self._is_even(axis, cores * n)]
                return AxisSplit(axis[0], counts[0]) if counts else None
        return None

    def _is_even(self, axis: Axis, pieces: int) -> bool:
        """Whether pieces are as long as each other, and make no more tiles and blocks of rows than the whole."""
        name, extent = axis
        if extent.constant is None or extent.constant % pieces:
            return False
        piece = extent.constant // pieces
        if self.rows is not None and name == self.rows.axis:
            return piece % self.rows.count == 0
        tile = self.tile
        if tile is not None and name == tile.vector and tile.aligned and piece % tile.span:
            return False
        size = 1 if tile is None else tile.extent(name)
        return pieces * -(-piece // size) <= 1.04 * -(-extent.constant // size)

    def _makes_runs(self, axis: Axis) -> bool:
        """Whether enough lies side by side of the results in a core's piece; of what comes first it need not."""
        spatial = self.compute.spatial
        run = size_of(spatial[spatial.index(axis) :]) * bits_of(self.compute.results[0].type) // 8
        return axis == self.axes[0] or run >= self.target.cores * self.target.machine.work.run_bytes
