"""Apply a schedule's primitives that rewrite te, in the order that they have in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from xdsl.ir import Operation, SSAValue

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
from tilework.scheduling.dataflow.cache_read import apply_cache_read
from tilework.scheduling.dataflow.cache_write import apply_cache_write
from tilework.scheduling.dataflow.inline import apply_inlines
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.dataflow.pad_to_multiple import apply_pad_to_multiple
from tilework.scheduling.dataflow.rfactor import apply_rfactor
from tilework.scheduling.dataflow.simplify_reads import simplify_reads
from tilework.scheduling.open_knobs import NO_OPEN_KNOBS, OpenKnobs

PRIMITIVES: dict[type[Operation], Callable[[KernelStages, Any], None]] = {
    CacheReadOp: apply_cache_read,
    CacheWriteOp: apply_cache_write,
    RFactorOp: apply_rfactor,
    PadToMultipleOp: apply_pad_to_multiple,
}


def apply_dataflow(kernel: KernelOp, sequence: SequenceOp, knobs: OpenKnobs = NO_OPEN_KNOBS) -> None:
    """Rewrite the kernel in place and remove the primitives applied. Raises CompileError at a refused one."""
    ops = [op for op in sequence.body.block.ops if isinstance(op, ComputeInlineOp) or type(op) in PRIMITIVES]
    stages = KernelStages(kernel, sequence, knobs)
    for inlines, following in groupby(_in_order(ops), lambda op: isinstance(op, ComputeInlineOp)):
        if inlines:
            apply_inlines(stages, [op for op in following if isinstance(op, ComputeInlineOp)])
            continue
        for op in following:
            PRIMITIVES[type(op)](stages, op)
    for compute in kernel.computes if ops else ():
        simplify_reads(compute, knobs.ranges)


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
