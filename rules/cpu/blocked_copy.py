"""A copy of a matrix in blocks of vectors, made before all rows are multiplied by it, as parameters are packed.

Each block holds one vector of every row of the matrix, one after the other, where these lie far apart in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import BlockArgument

from tilework.algebra.index_expr import const
from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, ReadOp
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.reads import Read
from tilework.rules.cpu.relayout import copy_argument, in_blocks
from tilework.scheduling.dataflow.handles import stage_names
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class BlockedCopy:
    """A copy of the kernel's argument `number`, of these extents, in blocks: `lanes` elements at a time of dimension
    `vector`, for each of which dimension `depth` is summed along. read: how the copy is read."""

    number: int
    extents: tuple[int, ...]
    vector: int
    depth: int
    lanes: int
    read: Read

    def make(self, s: ScheduleBuilder, reader: StageHandle, target: CpuTarget) -> None:
        """Schedule the copy, in parallel, and let the reader read it."""
        names = [f"p{d}" for d in range(len(self.extents))]
        others = [d for d in range(len(names)) if d not in (self.vector, self.depth)]
        argument = s.kernel.body.block.args[self.number].name_hint or f"arg{self.number}"
        stage = stage_names(s.kernel).fresh(f"{argument}.global")
        order = [*(names[d] for d in others), names[self.vector], names[self.depth]]
        stored = copy_argument(s, self.number, reader, in_blocks(stage, order, names[self.vector], self.lanes))
        *around, _, lane = stored.axes.values()
        counts = [*(self.extents[d] for d in others), self.extents[self.vector] // self.lanes]
        work = tuple((name, const(n)) for name, n in zip(names, self.extents, strict=True))
        parallel_prefix(s, list(zip(around, map(const, counts), strict=True)), [work], target)
        s.vectorize(lane)


def blocked_copy(reduction: ComputeOp, op: ReadOp, vector: str, target: CpuTarget) -> BlockedCopy | None:
    """The copy that serves vectors along that axis of a reduction's results; None for what is no argument, or no matrix
    of whole vectors whose rows lie far apart."""
    dims = [dim.constant for dim in dims_of(op.tensor.type)]
    if not isinstance(op.tensor, BlockArgument) or None in dims or any(e.as_var is None for e in op.exprs if e != 0):
        return None
    summed = [d for d, e in enumerate(op.exprs) if e.as_var in dict(reduction.reduction) and dims[d] != 1]
    along = [d for d, e in enumerate(op.exprs) if e.as_var == vector]
    extents, bits = tuple(dim or 0 for dim in dims), bits_of(op.tensor.type)
    lanes = target.lanes(bits)
    if len(summed) != 1 or len(along) != 1 or extents[along[0]] % lanes:
        return None
    [depth], [at] = summed, along
    if prod(extents[depth + 1 :]) * bits // 8 < target.machine.caches.far_bytes and at == len(extents) - 1:
        return None
    others = [d for d in range(len(extents)) if d not in (at, depth)]
    e = op.exprs[at]
    indices = (*(op.exprs[d] for d in others), e // lanes, op.exprs[depth], e % lanes)
    sizes = (*(extents[d] for d in others), extents[at] // lanes, extents[depth], lanes)
    return BlockedCopy(op.tensor.index, extents, at, depth, lanes, Read(indices, tuple(map(const, sizes))))
