"""The rule for every kernel: a thread computes an element, and what is cheap is computed where it is read."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.rules.common.readers import is_needed_whole
from tilework.targets.gpu.target import GpuTarget

THREADS = 256
"""Threads of a block: enough that some compute while others wait for memory, and few enough to have many registers."""


class Default(ScheduleRule[GpuTarget]):
    """Sound for any kernel: nothing is left without threads."""

    BENEFIT: ClassVar[int] = 0

    def match(self, kernel: KernelOp, target: GpuTarget, parameters: Set[int]) -> DefaultPlan:
        return DefaultPlan(kernel, target, parameters)


@dataclass(frozen=True, eq=False)
class DefaultPlan(Plan[GpuTarget]):
    """Each stage that sums, or is returned, has a launch of its own."""

    def write(self, s: ScheduleBuilder) -> None:
        for compute in self.kernel.computes:
            if self._is_inlined(compute):
                s.compute_inline(s.stage(compute.stage.data))
        for compute in self.kernel.computes:
            if not self._is_inlined(compute):
                self._bind(s, compute)

    def _is_inlined(self, compute: ComputeOp) -> bool:
        return not compute.reduction and len(compute.results) == 1 and not is_needed_whole(compute)

    def _bind(self, s: ScheduleBuilder, compute: ComputeOp) -> None:
        """Deal the elements of a stage out to blocks of threads."""
        stage = s.stage(compute.stage.data)
        axes = [stage.axes[name] for name, _ in compute.spatial]
        block, thread = s.split(s.fuse(axes) if axes else s.singleton(stage), min(self.target.threads, THREADS))
        s.bind(block, "blockIdx.x")
        s.bind(thread, "threadIdx.x")
