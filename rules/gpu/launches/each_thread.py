"""The rule for every launch: a thread computes an element."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.rules.gpu.launch import Launch, LaunchRule, LaunchSchedule
from tilework.targets.gpu.target import GpuTarget

THREADS = 256
"""Threads of a block: enough that some compute while others wait for memory, and few enough to have many registers."""


class EachThread(LaunchRule):
    """Sound for any launch: nothing is left without threads."""

    BENEFIT = 0

    def match(self, launch: Launch, target: GpuTarget) -> EachThreadSchedule:
        summed = None if launch.summed is None else launch.summed.stage.data
        return EachThreadSchedule(launch.root.stage.data, summed, min(target.threads, THREADS))


@dataclass(frozen=True)
class EachThreadSchedule(LaunchSchedule):
    """Elements are dealt out to blocks of so many threads; a thread sums up by itself."""

    root: str
    summed: str | None
    threads: int

    def write(self, s: ScheduleBuilder) -> None:
        stage = s.stage(self.root)
        sums = None if self.summed is None else self._sums(s, stage, self.summed)
        axes = [stage.axes[name] for name in s.spatial_axes(self.root)]
        block, thread = s.split(s.fuse(axes) if axes else s.singleton(stage), self.threads)
        s.bind(block, "blockIdx.x")
        s.bind(thread, "threadIdx.x")
        if sums is not None:
            s.compute_at(sums, thread, "local")

    def _sums(self, s: ScheduleBuilder, root: StageHandle, summed: str) -> StageHandle:
        """The stage that sums: a cache of the root's own results, if it is the root."""
        return s.cache_write(root, "local") if summed == self.root else s.stage(summed)
