"""Apply the primitives that rewrite te."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import (
    CacheReadOp,
    CacheWriteOp,
    ComputeInlineOp,
    PadToMultipleOp,
    RFactorOp,
    SequenceOp,
    StageOp,
)
from tilework.dialects.te import KernelOp
from tilework.transforms.base import TileworkPass
from tilework.transforms.schedule.dataflow.cache_read import apply_cache_read
from tilework.transforms.schedule.dataflow.cache_write import apply_cache_write
from tilework.transforms.schedule.dataflow.inline import apply_inlines
from tilework.transforms.schedule.dataflow.kernel_stages import KernelStages
from tilework.transforms.schedule.dataflow.pad_to_multiple import apply_pad_to_multiple
from tilework.transforms.schedule.dataflow.rfactor import apply_rfactor
from tilework.transforms.schedule.dataflow.simplify_reads import simplify_reads

PRIMITIVES: dict[type[Operation], Callable[[KernelStages, Any], None]] = {
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

    The primitives: compute_inline, cache_read, cache_write, rfactor, pad_to_multiple. They may stand anywhere: what was
    done before to the axes that a stage keeps, and where it is computed, stays; splits, fuses and reorders of the axes
    that go become part of the new stage, anything else that was done to them is refused. A stage is inlined as the
    other primitives leave it, and is not scheduled. Handles to new stages become `schedule.stage`.
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
    ops = [op for op in sequence.body.block.ops if isinstance(op, ComputeInlineOp) or type(op) in PRIMITIVES]
    stages = KernelStages(kernel, sequence)
    for inlines, following in groupby(_in_order(ops), lambda op: isinstance(op, ComputeInlineOp)):
        if inlines:
            apply_inlines(stages, [op for op in following if isinstance(op, ComputeInlineOp)])
            continue
        for op in following:
            PRIMITIVES[type(op)](stages, op)
    for compute in kernel.computes if ops else ():
        simplify_reads(compute)


def _in_order(ops: Sequence[Operation]) -> list[Operation]:
    """The primitives in the order of the sequence, but compute_inline behind the others that name its stage.

    So a stage that is inlined may be a reader of a copy, or be copied itself, whichever is said first.
    """
    last: dict[str | SSAValue, int] = {}
    for place, op in enumerate(ops):
        if not isinstance(op, ComputeInlineOp):
            last.update(dict.fromkeys(map(_stage_named, op.operands), place))

    def when(place: int) -> tuple[int, bool]:
        op = ops[place]
        if not isinstance(op, ComputeInlineOp):
            return place, False
        return max(place, last.get(_stage_named(op.stage), place)), True

    return [ops[place] for place in sorted(range(len(ops)), key=when)]


def _stage_named(operand: SSAValue) -> str | SSAValue:
    """The stage whose handle or axis an operand is: its name, or the handle of one that a primitive makes."""
    maker = operand.owner
    assert isinstance(maker, Operation)
    return maker.stage.data if isinstance(maker, StageOp) else maker.results[0]
