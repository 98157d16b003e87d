"""The rule for every launch: a thread computes an element, or a row."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.rules.gpu.launch import Inside, Launch, LaunchRule, LaunchSchedule, handle_inside, names_inside
from tilework.targets.gpu.target import GpuTarget

THREADS = 256
"""Threads of a block: enough that some compute while others wait for memory, and few enough to have many registers."""


class EachThread(LaunchRule):
    """Sound for any launch: nothing is left without threads."""

    BENEFIT = 0

    def match(self, launch: Launch, target: GpuTarget) -> EachThreadSchedule:
        threads = min(target.threads, THREADS)
        return EachThreadSchedule(launch.root.stage.data, names_inside(launch), tuple(launch.rows), threads)


@dataclass(frozen=True)
class EachThreadSchedule(LaunchSchedule):
    """Rows are dealt out to blocks of so many threads; a thread computes by itself what it needs to know of its row."""

    root: str
    inside: tuple[Inside, ...]
    rows: tuple[str, ...]
    threads: int

    def write(self, s: ScheduleBuilder) -> None:
        stage = s.stage(self.root)
        inside = [handle_inside(s, other, self.root, stage) for other in self.inside]
        spatial = s.spatial_axes(self.root)
        rows = [stage.axes[name] for name in self.rows]
        order = [*rows, *(stage.axes[name] for name in spatial if name not in self.rows)]
        if order != [stage.axes[name] for name in spatial]:
            s.reorder(order)
        block, thread = s.split(s.fuse(rows) if rows else s.singleton(stage), self.threads)
        s.bind(block, "blockIdx.x")
        s.bind(thread, "threadIdx.x")
        for other in inside:
            s.compute_at(other, thread, "local")
