"""The rule for the toy: a dense layer in tiles of 8 x 8."""

from collections.abc import Set

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.targets import Target


class Dense(ScheduleRule[Target]):
    """For a kernel that is one sum."""

    def match(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> Plan[Target] | None:
        return DensePlan(kernel, target, parameters) if len(kernel.computes) == 1 else None


class DensePlan(Plan[Target]):
    """Outputs and summands are split by 8, and the inner loops are the instruction."""

    def write(self, s: ScheduleBuilder) -> None:
        stage = s.stage(self.kernel.computes[0].stage.data)
        *_, j, k = stage.axes.values()
        j_outer, j_inner = s.split(j, 8)
        k_outer, k_inner = s.split(k, 8)
        s.reorder([j_outer, k_outer, j_inner, k_inner])
        s.tensorize(j_inner, "npu.dot")
