"""The rule for every kernel: inline what is cheap, tile reductions, vectorize, run the outside in parallel."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Packing, Plan, ScheduleRule
from tilework.rules.cpu.any_order import is_row, schedule_rows
from tilework.rules.cpu.consumer_rows import Around, Rows, loop_of_part, rows_of
from tilework.rules.cpu.costs import kernel_cycles
from tilework.rules.cpu.elementwise import schedule_elementwise, shared_work
from tilework.rules.cpu.full_reduction import schedule_full_reduction
from tilework.rules.cpu.packings import packings_for_tiles
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.rules.cpu.relayout import store_as
from tilework.rules.cpu.scan_steps import schedule_scan_step
from tilework.rules.cpu.stages import StagePlan, plan_stages
from tilework.rules.cpu.tiled_reduction import tile_reduction, tile_within
from tilework.targets.cpu.target import CpuTarget


class Default(ScheduleRule[CpuTarget]):
    """Sound for any kernel.

    Each reduction is computed tile by tile at its consumer, or at the copy of its own result, with the tile in
    registers. Stages that are neither inlined nor computed at a consumer, padding among them, fill a buffer of
    their own. Matrices whose rows lie far apart are copied panel by panel. A reduction with a single result has no
    tiles: parts of it are computed side by side.
    """

    BENEFIT: ClassVar[int] = 0

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> DefaultPlan:
        return DefaultPlan(kernel, target, parameters)


@dataclass(frozen=True, eq=False)
class DefaultPlan(Plan[CpuTarget]):
    """What becomes of the stages, which is found out when it is first asked for."""

    @cached_property
    def stages(self) -> StagePlan:
        """What becomes of the stages."""
        return plan_stages(self.kernel, self.target, self.parameters)

    @property
    def cycles(self) -> float:
        return kernel_cycles(self.kernel, self.stages.stages, self.target, self.parameters)

    @property
    def packings(self) -> Sequence[Packing]:
        return packings_for_tiles(self.stages, self.target, self.parameters)

    @property
    def computes_in_parts(self) -> bool:
        plan, target = self.stages, self.target
        readers = [root for producer, (root, _) in plan.parts.items() if plan.sums(producer)]
        return any(rows_of(plan, root, plan.anchored.get(root, root), target) is not None for root in readers)

    def write(self, s: ScheduleBuilder) -> None:
        plan, target = self.stages, self.target
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
            is_sum = bool(reduction.reduction and compute.spatial)
            if is_sum and is_row(reduction, choose_tile(reduction, reads_of(reduction), target), target):
                inside = stage if reduction is compute else stage_of(reduction.stage.data)
                schedule_rows(s, stage, inside, reduction, compute, target)
                continue
            around = loops.get(plan.parts[compute][0]) if compute in plan.parts else None
            loop = None if around is None else loop_of_part(plan, compute, *around, target)
            if is_sum:
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
                schedule_full_reduction(s, summed, reduction, target)
        for compute in plan.steps:
            schedule_scan_step(s, s.stage(compute.stage.data), compute, target.lanes(bits_of(compute.results[0].type)))


def _sum_part(
    s: ScheduleBuilder,
    final: StageHandle,
    inside: StageHandle,
    reduction: ComputeOp,
    rows: Rows | None,
    target: CpuTarget,
) -> None:
    """Windows for a part, in tiles that leave no rest of its rows."""
    block = None if rows is None else (reduction.spatial[rows.dimension][0], rows.needed)
    tile_within(s, final, inside, reduction, choose_tile(reduction, reads_of(reduction), target, block), target)
