"""Every te kernel gets a schedule."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.analysis.program_targets import target_of
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.rules.registry import plan_for
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class TeToSchedule(TileworkPass):
    """Write a schedule for every kernel that has none, by the target's most beneficial rule that matches.

    te.kernel @relu { te.compute "relu" [i: 64] }   ->   te.kernel @relu { ... }
                                                         schedule.sequence @relu {
                                                           %relu, %i = schedule.stage "relu" [i]
                                                           %io, %ii = schedule.split %i factor 16
                                                           schedule.vectorize %ii

    This is an algorithm and no pattern: a rule looks at a whole kernel, and rewrites nothing of it.
    Requires te kernels; leaves them as they are, each with a sequence behind it.
    """

    name = "te-to-schedule"
    anchor = ModuleOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        scheduled = {s.kernel_name for s in op.ops if isinstance(s, SequenceOp)}
        for kernel in [k for k in op.ops if isinstance(k, KernelOp)]:
            if kernel.sym_name.data in scheduled:
                continue
            sequence = plan_for(kernel, target_of(kernel)).schedule(kernel)
            sequence.location = kernel.location
            op.body.block.insert_op_after(sequence, kernel)
