"""The rule for kernels in Python: what is no sum is computed where it is read."""

from collections.abc import Set

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.targets import Target


class InlineAll(ScheduleRule[Target]):
    """Inlines all stages of every kernel."""

    def match(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> Plan[Target]:
        return InlinePlan(kernel, target, parameters)


class InlinePlan(Plan[Target]):
    """Everything is inlined but for sums and results."""

    def write(self, s: ScheduleBuilder) -> None:
        for compute in self.kernel.computes:
            if not compute.reduction and compute.result not in self.kernel.results_returned:
                s.compute_inline(s.stage(compute.stage.data))
