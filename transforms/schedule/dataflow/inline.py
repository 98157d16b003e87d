"""compute_inline: the producer's expression in place of every read of it."""

from __future__ import annotations

from tilework.algebra.index_expr import Expr, Key
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import ComputeInlineOp
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.transforms.schedule.dataflow.bodies import clone_scalars
from tilework.transforms.schedule.dataflow.handles import erase, stage_of, whole_reader


def apply_inline(kernel: KernelOp, op: ComputeInlineOp) -> None:
    """Inline a stage. Raises CompileError for a reduction, an output, several results, a scheduled stage."""
    compute, stage_op = stage_of(kernel, op.stage, op)
    name = compute.stage.data
    if compute.reduction:
        raise CompileError(f"stage '{name}' is a reduction and cannot be inlined; use compute_at", op)
    if len(compute.results) > 1:
        raise CompileError(
            f"stage '{name}' has {len(compute.results)} results and cannot be inlined; use compute_at", op
        )
    if compute.result in kernel.results_returned:
        raise CompileError(f"stage '{name}' is an output of the kernel and cannot be inlined; inline what it reads", op)
    taker = whole_reader(compute)
    if taker is not None:
        raise CompileError(f"stage '{name}' is taken by {taker} as a whole and cannot be inlined", op)
    users = {use.operation for result in stage_op.results for use in result.uses} - {op}
    if users:
        block = op.parent_block()
        assert block is not None
        other = next(o for o in block.ops if o in users)
        raise CompileError(
            f"stage '{name}' is inlined, so it cannot be scheduled: {other.name} uses it; leave that out", op
        )
    inline_compute(compute)
    erase(op, stage_op)


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
