"""Apply the primitives that rewrite te."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import (
    CacheReadOp,
    CacheWriteOp,
    ComputeInlineOp,
    PadToMultipleOp,
    RFactorOp,
    SequenceOp,
)
from tilework.dialects.te import KernelOp
from tilework.transforms.base import TileworkPass
from tilework.transforms.schedule.dataflow.cache_read import apply_cache_read
from tilework.transforms.schedule.dataflow.cache_write import apply_cache_write
from tilework.transforms.schedule.dataflow.inline import apply_inline
from tilework.transforms.schedule.dataflow.pad_to_multiple import apply_pad_to_multiple
from tilework.transforms.schedule.dataflow.rfactor import apply_rfactor
from tilework.transforms.schedule.dataflow.simplify_reads import simplify_reads

PRIMITIVES: dict[type[Operation], Callable[[KernelOp, Any], None]] = {
    ComputeInlineOp: apply_inline,
    CacheReadOp: apply_cache_read,
    CacheWriteOp: apply_cache_write,
    RFactorOp: apply_rfactor,
    PadToMultipleOp: apply_pad_to_multiple,
}


@dataclass(frozen=True)
class ApplyDataflow(TileworkPass):
    """Apply, in program order, the schedule's primitives that rewrite te; leave those that shape loops.

    %a = te.compute "a" [i: 8] { f(x[i]) }             te.compute "b" [i: 8] { g(f(x[i + 1])) }
    %b = te.compute "b" [i: 8] { g(a[i + 1]) }    ->
    schedule.compute_inline %a

    te.compute "c" [i: 8] reduce [k: 4] { ... }   ->   te.compute "c.register" [i: 8] reduce [k: 4] { ... }
    schedule.cache_write %c "register"                 te.compute "c" [i: 8] { c.register[i] }

    The primitives: compute_inline, cache_read, cache_write, rfactor, pad_to_multiple. Of a stage that is inlined
    nothing else is scheduled; of one that is cached or factored only splits, fuses and reorders came before. Handles
    to new stages become `schedule.stage`.
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


def apply_dataflow(kernel: KernelOp, sequence: SequenceOp) -> None:
    """Rewrite the kernel in place and remove the primitives applied. Raises CompileError at a refused one."""
    applied = [op for op in sequence.body.block.ops if type(op) in PRIMITIVES]
    for op in applied:
        PRIMITIVES[type(op)](kernel, op)
    for compute in kernel.computes if applied else ():
        simplify_reads(compute)
