"""Panels of a matrix that are copied before many tiles read them, since their rows lie far apart in memory.

A tile of a product reads a few vectors of every row. Where rows are long, each is on another page: no processor fetches
the next one ahead, and rows drive each other out of the nearest cache.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod

from xdsl.ir import BlockArgument, SSAValue

from tilework.algebra.index_expr import const
from tilework.analysis.sizes import bits_of, size_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.rules.common.axes import Axis
from tilework.rules.cpu.reads import Read, reads_of
from tilework.rules.cpu.register_tile import Tile
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class Panel:
    """A panel of the kernel's argument `number`: what tiles read at one point of the spatial axes along which it moves.

    The vector axis is the innermost of them.
    """

    number: int
    rank: int
    moving: Set[str]
    vector: str

    def copy(self, s: ScheduleBuilder, reader: StageHandle, loop: SSAValue) -> None:
        """Fill a buffer with it at every iteration of the loop, the innermost of those, for the reader inside."""
        axes = [f"p{dimension}" for dimension in range(self.rank)]
        stage = s.cache_read(s.argument(self.number), "local", [reader], axes)
        s.compute_at(stage, loop)
        s.vectorize(stage.axes[axes[-1]])


def panel_of(reduction: ComputeOp, tile: Tile | None, target: CpuTarget) -> Panel | None:
    """The panel that is worth a copy, if there is one: of a matrix that is read in one way only."""
    steps = _long(reduction.reduction)
    if tile is None or not steps or any(e.constant is None for _, e in steps):
        return None
    for read, op in zip(reads_of(reduction), reduction.reads, strict=True):
        is_read_once = sum(other.tensor == op.tensor for other in reduction.reads) == 1
        if isinstance(op.tensor, BlockArgument) and is_read_once and _is_matrix(read, reduction, tile):
            rows = size_of([axis for axis in steps if axis[0] in read.axes])
            element_bytes = bits_of(op.tensor.type) // 8
            is_far = read.step(steps[-1][0]) * element_bytes >= target.machine.caches.far_bytes
            is_small = rows * tile.span * element_bytes <= target.machine.buffers.panel
            if is_far and is_small and _is_worth(read, rows, reduction, tile, target):
                moving = frozenset(name for name, _ in reduction.spatial if name in read.axes)
                return Panel(op.tensor.index, len(read.indices), moving, tile.vector)
    return None


def _is_matrix(read: Read, reduction: ComputeOp, tile: Tile) -> bool:
    """Whether each index is one axis or none, the last the vector axis, and a tile moves along no other of them."""
    names = {name for name, _ in _long([*reduction.spatial, *reduction.reduction])}
    for e in read.indices:
        followed = names.intersection(e.variables())
        if len(followed) > 1 or any(e.coefficient(name) != 1 for name in followed):
            return False
    is_still = all(factor == 1 for name, factor in tile.factors.items() if name in read.axes)
    return is_still and tile.vector in set(read.indices[-1].variables() if read.indices else ())


def _is_worth(read: Read, rows: int, reduction: ComputeOp, tile: Tile, target: CpuTarget) -> bool:
    """Whether enough tiles read the panel; not where it is known to have few rows for those that they write.

    Each of these is at another row of the results then, far from the one before, too.
    """
    others = [(n, e) for n, e in reduction.spatial if n not in read.axes]
    passes = prod(-(-size_of([(n, e)]) // tile.factors.get(n, 1)) for n, e in others)
    is_read_often = passes >= target.machine.work.panel_passes
    return is_read_often and (4 * rows >= size_of(others) or any(e.constant is None for _, e in others))


def _long(axes: Sequence[Axis]) -> list[Axis]:
    return [axis for axis in axes if axis[1] != const(1)]
