"""The rule for kernels in Python: compute in place what is no sum."""

from __future__ import annotations

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import ScheduleRule
from tilework.targets import Target


class InlineAll(ScheduleRule):
    """For every kernel: a stage that is neither a reduction nor a result is computed where it is read."""

    def matches(self, kernel: KernelOp, target: Target) -> bool:
        return True

    def schedule(self, kernel: KernelOp, target: Target) -> SequenceOp:
        s = ScheduleBuilder(kernel)
        for compute in kernel.computes:
            if not compute.reduction and not any(r in kernel.results_returned for r in compute.results):
                s.compute_inline(s.stage(compute.stage.data))
        return s.finish()
