"""What a scan computes in every step: the steps follow one another, so there is little to tile, but there are lanes."""

from __future__ import annotations

from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.register_tile import axes_in_extents


def schedule_scan_step(s: ScheduleBuilder, stage: StageHandle, compute: ComputeOp, lanes: int) -> None:
    """Vectorize along the last axis, unless that is time; what is summed runs around the lanes."""
    name, extent = compute.spatial[-1]
    if len(compute.spatial) == 1 or extent == 1 or name in axes_in_extents(compute.spatial, compute.reduction):
        return
    tail = Tail.MASK if extent.constant is None else Tail.PARTITION
    _, vector = s.split(stage.axes[name], lanes, tail)
    s.reorder([*(stage.axes[n] for n, _ in compute.reduction), vector])
    s.vectorize(vector)
