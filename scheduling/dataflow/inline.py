"""compute_inline: the producer's expression in place of every read of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilework.algebra.index_expr import Expr, Key
from tilework.dialects.schedule import (
    ComputeAtOp,
    ComputeInlineOp,
    ComputeRootOp,
    ReverseComputeAtOp,
    SetScopeOp,
    StageOp,
)
from tilework.dialects.te import ComputeOp, ReadOp, ReturnOp
from tilework.dialects.te.cloning import clone_scalars
from tilework.scheduling.dataflow.earlier_uses import state_before, users_after, users_before
from tilework.scheduling.dataflow.handles import erase, is_returned, users, whole_reader
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.state import refuse

PLACING = (ComputeInlineOp, ComputeAtOp, ComputeRootOp, ReverseComputeAtOp)
"""The primitives that say where a stage, their first operand, is computed. The last one holds."""


def apply_inlines(stages: KernelStages, ops: Sequence[ComputeInlineOp]) -> None:
    """Inline stages. Raises CompileError for a reduction, several results, a scheduled stage, one that none reads.

    An output of the kernel that other stages read is computed by these, and for the caller too.
    Where a stage was to be computed and kept before is forgotten, and so is the inlining where a primitive behind it
    says that the stage is computed somewhere after all.
    """
    inlined: dict[ComputeOp, None] = {}
    for op in ops:
        compute, stage_op = stages.compute_of(op.stage, op)
        if _is_placed_later(stages, op):
            erase(op)
            continue
        _check(stages, op, compute, stage_op)
        inlined[compute] = None
        erase(op)
        if not is_returned(compute):
            erase(stage_op)
    inline_computes(stages.in_program_order(inlined.keys()))
    for compute in inlined:
        if not is_returned(compute):
            stages.forget(compute)


def _is_placed_later(stages: KernelStages, op: ComputeInlineOp) -> bool:
    handle = op.stage
    return any(isinstance(user, PLACING) and user.operands[0] is handle for user in users_after(stages, op, [handle]))


def _check(stages: KernelStages, op: ComputeInlineOp, compute: ComputeOp, stage_op: StageOp) -> None:
    """Raise CompileError where the stage cannot be inlined; drop what was said about its place and storage before."""
    handle = stage_op.handle
    for user in users_before(stages, op, [handle]):
        if isinstance(user, (*PLACING, SetScopeOp)) and user.operands[0] is handle:
            erase(user)
    obstacle = _obstacle(compute)
    if obstacle is None and not is_returned(compute):
        obstacle = _scheduled(stages, op, stage_op)
    if obstacle is not None:
        stage = state_before(stages, op, stage_op).stages[handle]
        refuse(op, stage, f"stage '{stage.name}' {obstacle}")


def _obstacle(compute: ComputeOp) -> str | None:
    """Why a stage cannot be inlined, and what to do instead."""
    if compute.reduction:
        return "is a reduction and cannot be inlined; use compute_at"
    if len(compute.results) > 1:
        return f"has {len(compute.results)} results and cannot be inlined; use compute_at"
    if is_returned(compute) and all(isinstance(user, ReturnOp) for user in users(compute.results)):
        return "is an output of the kernel and cannot be inlined; inline what it reads"
    taker = whole_reader(compute)
    return None if taker is None else f"is taken by {taker} as a whole and cannot be inlined"


def _scheduled(stages: KernelStages, op: ComputeInlineOp, stage_op: StageOp) -> str | None:
    users = [*users_before(stages, op, stage_op.results), *users_after(stages, op, stage_op.results)]
    if not users:
        return None
    return f"is inlined, so it cannot be scheduled: {users[0].name} uses it; leave that out"


def inline_computes(computes: Iterable[ComputeOp]) -> None:
    """Replace every read of these computes by their expressions, and erase those that the kernel does not return.

    They are given in program order, and are no reductions. The last one goes first: it is still as
    small as it was written then, where the first one would be copied from each to the next.
    """
    for compute in reversed(list(computes)):
        inline_compute(compute)


def inline_compute(compute: ComputeOp) -> None:
    """Replace every read of a compute, no reduction, by its expression; erase it unless the kernel returns it."""
    for user in users(compute.results):
        if isinstance(user, ReadOp):
            _inline_read(user, compute)
    if not is_returned(compute):
        erase(compute)


def _inline_read(read: ReadOp, producer: ComputeOp) -> None:
    block = read.parent_block()
    assert block is not None
    values: dict[Key, Expr] = {n: e for (n, _), e in zip(producer.spatial, read.exprs, strict=True)}
    cloned, value = clone_scalars(producer.body.block, values, {})
    block.insert_ops_before(cloned, read)
    read.result.replace_all_uses_with(value)
    erase(read)
