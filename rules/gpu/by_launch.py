"""The rule for kernels of computes alone: each launch is scheduled by the rule for launches of its form."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp, KernelOp, ReturnOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.rules.gpu.launch import LaunchRule, LaunchSchedule
from tilework.rules.gpu.stages import Launches, launches_of
from tilework.rules.registry import ranked_in
from tilework.targets.gpu.target import GpuTarget


class ByLaunch(ScheduleRule[GpuTarget]):
    """A kernel that neither runs over time nor has statements is put together from launches."""

    def match(self, kernel: KernelOp, target: GpuTarget, parameters: Set[int]) -> Plan[GpuTarget] | None:
        if any(not isinstance(op, ComputeOp | ReturnOp) for op in kernel.body.block.ops):
            return None
        return ByLaunchPlan(kernel, target, parameters)


@dataclass(frozen=True, eq=False)
class ByLaunchPlan(Plan[GpuTarget]):
    """What is inlined, and how each launch runs, which is found out when it is first asked for."""

    @cached_property
    def launches(self) -> Launches:
        """The launches."""
        return launches_of(self.kernel)

    @cached_property
    def schedules(self) -> Sequence[LaunchSchedule]:
        """How each of them runs."""
        rules = ranked_in("rules/gpu/launches", LaunchRule)
        found = [[rule.match(launch, self.target) for rule in rules] for launch in self.launches.launches]
        return [next(filter(None, matches)) for matches in found]

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.launches.inlined:
            s.compute_inline(s.stage(name))
        for schedule in reversed(self.schedules):  # readers first: once it is cached, a stage has other axes
            schedule.write(s)
