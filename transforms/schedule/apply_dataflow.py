"""Apply the primitives that rewrite te."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class ApplyDataflow(TileworkPass):
    """Apply, in program order, the schedule's primitives that rewrite te; leave those that shape loops.

    %a = te.compute "a" [i: 8] { f(x[i]) }             te.compute "b" [i: 8] { g(f(x[i + 1])) }
    %b = te.compute "b" [i: 8] { g(a[i + 1]) }    ->
    schedule.compute_inline %a

    te.compute "c" [i: 8] reduce [k: 4] { ... }   ->   te.compute "c.register" [i: 8] reduce [k: 4] { ... }
    schedule.cache_write %c "register"                 te.compute "c" [i: 8] { c.register[i] }

    The primitives: compute_inline, cache_read, cache_write, reindex, rfactor, pad_to_multiple. They may stand anywhere:
    what was done before to the axes that a stage keeps, and where it is computed, stays; splits, fuses and reorders of
    the axes that go become part of the new stage, anything else that was done to them is refused. A stage is inlined as
    the other primitives leave it, and is not scheduled. Handles to new stages become `schedule.stage`.
    This is an algorithm and no pattern: the primitives are applied one after the other, each to the stages and axes
    that those before it have left.
    """

    name = "schedule-apply-dataflow"
    anchor = ModuleOp
    numerics = "reassociates"  # rfactor does

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        kernels = {k.sym_name.data: k for k in op.ops if isinstance(k, KernelOp)}
        for sequence in [s for s in op.ops if isinstance(s, SequenceOp)]:
            kernel = kernels.get(sequence.kernel_name)
            if kernel is None:
                raise CompileError(f"schedule of @{sequence.kernel_name}, but there is no such kernel", sequence)
            apply_dataflow(kernel, sequence)
