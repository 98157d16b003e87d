"""The rule for kernels in Python: what is no sum is computed where it is read."""

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import ScheduleRule
from tilework.targets import Target


class InlineAll(ScheduleRule[Target]):
    """For every kernel."""

    def matches(self, kernel: KernelOp, target: Target) -> bool:
        return True

    def schedule(self, kernel: KernelOp, target: Target) -> SequenceOp:
        s = ScheduleBuilder(kernel)
        for compute in kernel.computes:
            if not compute.reduction and compute.result not in kernel.results_returned:
                s.compute_inline(s.stage(compute.stage.data))
        return s.finish()
