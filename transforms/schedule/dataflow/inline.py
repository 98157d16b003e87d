"""compute_inline: the producer's expression in place of every read of it."""

from __future__ import annotations

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.schedule_state import refuse
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.schedule import (
    ComputeAtOp,
    ComputeInlineOp,
    ComputeRootOp,
    ReverseComputeAtOp,
    SetScopeOp,
    StageOp,
)
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.transforms.schedule.dataflow.bodies import clone_scalars
from tilework.transforms.schedule.dataflow.earlier_uses import state_before, users_after, users_before
from tilework.transforms.schedule.dataflow.handles import compute_of, erase, whole_reader

PLACING = (ComputeInlineOp, ComputeAtOp, ComputeRootOp, ReverseComputeAtOp)
"""The primitives that say where a stage, their first operand, is computed. The last one holds."""


def apply_inline(kernel: KernelOp, op: ComputeInlineOp, names: UniqueNames) -> None:
    """Inline a stage. Raises CompileError for a reduction, an output, several results, a scheduled stage.

    Where the stage was to be computed and kept before is forgotten, and so is the inlining where a primitive behind it
    says that the stage is computed somewhere after all.
    """
    compute, stage_op = compute_of(kernel, op.stage, op)
    handle = stage_op.handle
    if any(isinstance(user, PLACING) and user.operands[0] is handle for user in users_after(op, [handle])):
        erase(op)
        return
    for user in users_before(op, [handle]):
        if isinstance(user, (*PLACING, SetScopeOp)) and user.operands[0] is handle:
            erase(user)
    obstacle = _obstacle(kernel, compute) or _scheduled(op, stage_op)
    if obstacle is not None:
        stage = state_before(kernel, op).stages[handle]
        refuse(op, stage, f"stage '{stage.name}' {obstacle}")
    inline_compute(compute)
    erase(op, stage_op)


def _obstacle(kernel: KernelOp, compute: ComputeOp) -> str | None:
    """Why a stage cannot be inlined, and what to do instead."""
    if compute.reduction:
        return "is a reduction and cannot be inlined; use compute_at"
    if len(compute.results) > 1:
        return f"has {len(compute.results)} results and cannot be inlined; use compute_at"
    if compute.result in kernel.results_returned:
        return "is an output of the kernel and cannot be inlined; inline what it reads"
    taker = whole_reader(compute)
    return None if taker is None else f"is taken by {taker} as a whole and cannot be inlined"


def _scheduled(op: ComputeInlineOp, stage_op: StageOp) -> str | None:
    users = [*users_before(op, stage_op.results), *users_after(op, stage_op.results)]
    if not users:
        return None
    return f"is inlined, so it cannot be scheduled: {users[0].name} uses it; leave that out"


def inline_compute(compute: ComputeOp) -> None:
    """Replace every read of a compute by its expression, and erase it. It is neither a reduction nor returned."""
    for use in list(compute.result.uses):
        assert isinstance(use.operation, ReadOp)
        _inline_read(use.operation, compute)
    erase(compute)


def _inline_read(read: ReadOp, producer: ComputeOp) -> None:
    block = read.parent_block()
    assert block is not None
    values: dict[Key, Expr] = {n: e for (n, _), e in zip(producer.spatial, read.exprs, strict=True)}
    cloned, value = clone_scalars(producer.body.block, values, {})
    block.insert_ops_before(cloned, read)
    read.result.replace_all_uses_with(value)
    erase(read)
