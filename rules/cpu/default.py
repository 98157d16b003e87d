"""The rule for every kernel: inline what is cheap, tile reductions, vectorize, run the outside in parallel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import ClassVar

from tilework.algebra.index_expr import const, var
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.schedule_builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Packing, ScheduleRule
from tilework.rules.cpu.any_order import is_row, schedule_rows
from tilework.rules.cpu.costs import bytes_of, kernel_cycles
from tilework.rules.cpu.elementwise import schedule_elementwise, shared_work
from tilework.rules.cpu.parts import Around, Rows, loop_of_part, rows_of
from tilework.rules.cpu.reads import bits_of, reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.rules.cpu.relayout import store_as
from tilework.rules.cpu.stages import plan_stages
from tilework.rules.cpu.steps import schedule_step
from tilework.rules.cpu.tiled_reduction import block_sizes, tile_reduction, tile_within
from tilework.rules.cpu.total import schedule_total
from tilework.targets.target import LINE_BYTES, Target


class Default(ScheduleRule):
    """Sound for any kernel.

    Each reduction is computed tile by tile at its consumer, or at the copy of its own result, with the tile in
    registers. Stages that are neither inlined nor computed at a consumer, padding among them, fill a buffer of
    their own. Matrices whose rows lie far apart are copied panel by panel. A reduction with a single result has no
    tiles: parts of it are computed side by side.
    """

    BENEFIT: ClassVar[int] = 0

    def matches(self, kernel: KernelOp, target: Target) -> bool:
        return True

    def cycles(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> float:
        return kernel_cycles(kernel, plan_stages(kernel, target, parameters).stages, target, parameters)

    def computes_in_parts(self, kernel: KernelOp, target: Target) -> bool:
        plan = plan_stages(kernel, target)
        readers = [root for producer, (root, _) in plan.parts.items() if plan.sums(producer)]
        return any(rows_of(plan, root, plan.anchored.get(root, root), target) is not None for root in readers)

    def packings(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> Sequence[Packing]:
        plan = plan_stages(kernel, target, parameters)
        tiled = [*plan.anchored.values(), *(c for c in plan.roots if c.reduction and c.spatial)]
        wanted: dict[int, list[Packing]] = {}
        for compute in reversed(tiled):  # of several that read a parameter, the first has its way
            wanted |= _packings(compute, target, parameters)
        return [packing for packings in wanted.values() for packing in packings]

    def schedule(self, kernel: KernelOp, target: Target) -> SequenceOp:
        s = ScheduleBuilder(kernel)
        plan = plan_stages(kernel, target)
        for name in plan.inlined:
            s.compute_inline(s.stage(name))
        stored = {r.stored: store_as(s, r) for r in plan.relayouts}

        def stage_of(name: str) -> StageHandle:
            return stored.get(name) or s.stage(name)

        for copy in plan.copies:
            reader = stored[copy.reader] = stage_of(copy.reader)
            stored[copy.stored] = copy.make(s, reader)
        loops: dict[ComputeOp, tuple[list[Around], Rows | None]] = {}
        for compute in sorted(plan.roots, key=lambda c: c in plan.parts):
            stage = stage_of(compute.stage.data)
            reduction = plan.anchored.get(compute, compute)
            if compute.spatial and is_row(reduction, choose_tile(reduction, reads_of(reduction), target)):
                inside = stage if reduction is compute else stage_of(reduction.stage.data)
                schedule_rows(s, stage, inside, reduction, compute, target)
                continue
            around = loops.get(plan.parts[compute][0]) if compute in plan.parts else None
            loop = None if around is None else loop_of_part(plan, compute, *around, target)
            if reduction.reduction and compute.spatial:
                inside = s.cache_write(stage, "local") if reduction is compute else stage_of(reduction.stage.data)
                if around is not None and loop is not None:
                    _sum_part(s, stage, inside, reduction, around[1], target)
                    s.compute_at(stage, loop, "local")
                    continue
                rows = rows_of(plan, compute, reduction, target)
                work = shared_work(reduction, compute)
                parts = {axis for reader, shared in plan.parts.values() if reader is compute for axis in shared}
                loops[compute] = tile_reduction(s, stage, inside, reduction, work, target, rows, parts), rows
            elif compute.spatial:
                schedule_elementwise(s, stage, compute, target, loop)
            elif reduction.reduction:
                summed = stage if reduction is compute else stage_of(reduction.stage.data)
                schedule_total(s, summed, reduction, target)
        for compute in plan.steps:
            schedule_step(s, s.stage(compute.stage.data), compute, target.lanes(bits_of(compute.results[0].type)))
        return s.finish()


def _sum_part(
    s: ScheduleBuilder, final: StageHandle, inside: StageHandle, reduction: ComputeOp, rows: Rows | None, target: Target
) -> None:
    """Windows for a part, in tiles that leave no rest of its rows."""
    block = None if rows is None else (reduction.spatial[rows.dimension][0], rows.needed)
    tile_within(s, final, inside, reduction, choose_tile(reduction, reads_of(reduction), target, block), target)


def _packings(compute: ComputeOp, target: Target, parameters: Set[int]) -> dict[int, list[Packing]]:
    """By parameter, blocks along the vector axis of the best tile: what the tile reads lies in one piece, or in two.

    Around them those of the reduce axes that run block by block, so that it is read in one piece from tile to tile; of
    windows, channels that fill a line do.
    """
    reads = reads_of(compute, parameters)
    tile = choose_tile(compute, reads, target)
    if tile is None or not tile.aligned:
        return {}
    sizes = _lines_of_channels(compute) | block_sizes(compute)
    wanted: dict[int, list[Packing]] = {}
    for read, op in zip(reads, compute.reads, strict=True):
        axis, block = read.axis_to_pack(tile.vector), tile.block(bytes_of(op.tensor.type), target)
        if read.argument is None or axis is None or read.dims[axis:] == (const(block),) or read.argument in wanted:
            continue
        packings = wanted[read.argument] = list[Packing]()
        if len([e for _, e in compute.reduction if e != const(1)]) > 1:  # blocks of a single axis follow each other
            places = [(d, sizes.get(e.as_var)) for d, e in enumerate(read.indices)]
            packings += [Packing(read.argument, d, b) for d, b in places if b and (read.dims[d] % b).constant == 0]
        packings.append(Packing(read.argument, axis, block))
    return wanted


def _lines_of_channels(reduction: ComputeOp) -> dict[Hashable, int]:
    """The reduce axes along which no window reaches, and how many elements of them fill a line of a cache."""
    indices = [e for r in reduction.reads for e in r.exprs]
    alone = [name for name, _ in reduction.reduction if all(e == var(name) for e in indices if name in e.variables())]
    return dict.fromkeys(alone, LINE_BYTES * 8 // bits_of(reduction.results[0].type))
