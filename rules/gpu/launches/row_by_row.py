"""Softmax, normalizations, sums of rows: threads of a block sum up a row together, and go through it side by side."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.analysis.sizes import size_of
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.rules.common.axes import may_be_shared
from tilework.rules.gpu.launch import Inside, Launch, LaunchRule, LaunchSchedule, handle_inside, names_inside
from tilework.rules.gpu.shared_rows import (
    THREADS,
    Shares,
    across_memory,
    along_memory,
    sums_along_memory,
)
from tilework.targets.gpu.target import GpuTarget

LEAST_TERMS = 8
"""A thread adds up a sum of fewer terms alone."""


class RowByRow(LaunchRule):
    """For sums along what lies side by side in memory, and for so few sums that threads have to share them."""

    BENEFIT = 2

    def match(self, launch: Launch, target: GpuTarget) -> RowByRowSchedule | None:
        sums = launch.reductions
        if not sums or not all(map(may_be_shared, sums)):
            return None
        terms, rows = max(size_of(stage.reduction) for stage in sums), size_of(launch.row_axes)
        if terms < LEAST_TERMS:
            return None
        if _runs_along_memory(launch):
            shares = along_memory(terms, rows, target)
        elif size_of(launch.column_axes) == 1 and rows < target.cores * THREADS:
            shares = across_memory(terms, target)
        else:
            return None
        if shares.threads == 1:
            return None
        return RowByRowSchedule(launch.root.stage.data, names_inside(launch), tuple(launch.rows), shares)


def _runs_along_memory(launch: Launch) -> bool:
    """Whether elements of a row lie side by side: those of the root or, where it has one for each row, of what is
    summed up."""
    if size_of(launch.column_axes) == 1:
        return sums_along_memory(launch.reductions[-1])
    long = [name for name, extent in launch.root.spatial if extent != 1]
    return long[-1] not in launch.rows


@dataclass(frozen=True)
class RowByRowSchedule(LaunchSchedule):
    """What is inside of a row is computed at the row, by its threads."""

    root: str
    inside: tuple[Inside, ...]
    rows: tuple[str, ...]
    shares: Shares

    def write(self, s: ScheduleBuilder) -> None:
        stage = s.stage(self.root)
        inside = [(handle_inside(s, other, self.root, stage), other.summed) for other in self.inside]
        rows = [stage.axes[name] for name in self.rows]
        columns = [stage.axes[name] for name in s.spatial_axes(self.root) if name not in self.rows]
        row = self.shares.deal_out(s, stage, rows, columns)
        for sums, summed in inside:
            self.shares.sum_up(s, sums, summed, row)
