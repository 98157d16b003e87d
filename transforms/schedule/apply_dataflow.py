"""Apply the primitives that rewrite te: compute_inline and cache_write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, Key, var
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import CacheWriteOp, ComputeInlineOp, SequenceOp, SetScopeOp, StageOp
from tilework.dialects.te import ComputeOp, IfThenElseOp, IndexOp, KernelOp, ReadOp, YieldOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class ApplyDataflow(TileworkPass):
    """Apply, in program order, the schedule's primitives that rewrite te; leave those that shape loops.

    %a = te.compute "a" [i: 8] { f(x[i]) }             te.compute "b" [i: 8] { g(f(x[i + 1])) }
    %b = te.compute "b" [i: 8] { g(a[i + 1]) }    ->
    schedule.compute_inline %a

    te.compute "c" [i: 8] reduce [k: 4] { ... }   ->   te.compute "c.register" [i: 8] reduce [k: 4] { ... }
    schedule.cache_write %c "register"                 te.compute "c" [i: 8] { c.register[i] }

    Requires that a stage is neither inlined nor cached after its axes were scheduled. Handles to new stages become
    `schedule.stage`.
    """

    name = "schedule-apply-dataflow"
    anchor = ModuleOp

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
    for primitive in list(sequence.body.block.ops):
        match primitive:
            case ComputeInlineOp():
                _inline(kernel, primitive)
            case CacheWriteOp():
                _cache_write(kernel, primitive)
            case _:
                pass


def _stage_of(kernel: KernelOp, handle: SSAValue, op: Operation) -> tuple[ComputeOp, StageOp]:
    stage_op = handle.owner
    assert isinstance(stage_op, StageOp), "handles of caches have become schedule.stage by now"
    compute = kernel.compute(stage_op.stage.data)
    if compute is None:
        names = ", ".join(c.stage.data for c in kernel.computes)
        message = f"kernel @{kernel.sym_name.data} has no stage '{stage_op.stage.data}'; its stages are {names}"
        raise CompileError(message, op)
    return compute, stage_op


# -- compute_inline


def _inline(kernel: KernelOp, op: ComputeInlineOp) -> None:
    compute, stage_op = _stage_of(kernel, op.stage, op)
    name = compute.stage.data
    if compute.reduction:
        raise CompileError(f"stage '{name}' is a reduction and cannot be inlined; use compute_at", op)
    if len(compute.results) > 1:
        raise CompileError(f"stage '{name}' has {len(compute.results)} results and cannot be inlined", op)
    if compute.result in kernel.results_returned:
        raise CompileError(f"stage '{name}' is an output of the kernel and cannot be inlined", op)
    users = {use.operation for result in stage_op.results for use in result.uses} - {op}
    if users:
        other = next(o for o in stage_op.parent_block().ops if o in users)  # pyright: ignore[reportOptionalMemberAccess]
        raise CompileError(f"stage '{name}' is inlined, so it cannot be scheduled: {other.name} uses it", op)
    inline_compute(compute)
    op.detach()
    op.erase()
    stage_op.detach()
    stage_op.erase()


def inline_compute(compute: ComputeOp) -> None:
    """Replace every read of a compute by its expression, and erase it. It is neither a reduction nor returned."""
    for use in list(compute.result.uses):
        assert isinstance(use.operation, ReadOp)
        _inline_read(use.operation, compute)
    compute.detach()
    compute.erase()


def _inline_read(read: ReadOp, producer: ComputeOp) -> None:
    block = read.parent_block()
    assert block is not None
    values: dict[Key, Expr] = {n: e for (n, _), e in zip(producer.spatial, read.exprs, strict=True)}
    cloned, value = _clone_body(producer.body.block, values, {})
    block.insert_ops_before(cloned, read)
    read.result.replace_all_uses_with(value)
    read.detach()
    read.erase()


def _clone_body(
    block: Block, values: dict[Key, Expr], mapped: dict[SSAValue, SSAValue]
) -> tuple[list[Operation], SSAValue]:
    """The operations of a scalar body at other indices, and the value that it yields."""
    cloned: list[Operation] = []
    for op in block.ops:
        if isinstance(op, YieldOp):
            return cloned, mapped.get(op.values[0], op.values[0])
        copy = _clone_scalar(op, values, mapped)
        copy.location = op.location
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
            mapped[old] = new
        cloned.append(copy)
    raise AssertionError("a body ends in te.yield")


def _clone_scalar(op: Operation, values: dict[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> Operation:
    if not isinstance(op, ReadOp | IndexOp | IfThenElseOp):
        return op.clone(mapped)
    data: dict[Key, Expr] = {v: var(mapped[v]) for v in op.index_operands}
    here = values | data
    match op:
        case ReadOp():
            return ReadOp(op.tensor, [e.substitute(here) for e in op.exprs])
        case IndexOp():
            return IndexOp(op.value.substitute(here))
        case IfThenElseOp():
            regions = [_clone_branch(r.block, values, mapped) for r in (op.then_body, op.else_body)]
            return IfThenElseOp([p.substitute(here) for p in op.conditions], op.result.type, *regions)


def _clone_branch(block: Block, values: dict[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> Region:
    ops, value = _clone_body(block, values, dict(mapped))
    return Region(Block([*ops, YieldOp([value])]))


# -- cache_write


def _cache_write(kernel: KernelOp, op: CacheWriteOp) -> None:
    compute, stage_op = _stage_of(kernel, op.stage, op)
    name = compute.stage.data
    spatial = len(compute.spatial)
    earlier = {use.operation for axis in stage_op.axes for use in axis.uses if use.operation.is_before_in_block(op)}
    if earlier:
        raise CompileError(f"cache_write of stage '{name}' comes after its axes were scheduled; call it first", op)
    if any(axis.uses for axis in stage_op.axes[spatial:]):
        raise CompileError(
            f"after cache_write stage '{name}' has no reduce axes; schedule those of the cache instead", op
        )
    cache_name = f"{name}.{op.scope.data}"
    if kernel.compute(cache_name) is not None:
        raise CompileError(f"stage '{name}' has a cache in scope {op.scope.data} already", op)
    cache = ComputeOp(
        cache_name,
        compute.spatial,
        compute.reduction,
        compute.result_types,
        compute.body.clone(),
    )
    cache.location = compute.location
    copy = _copy_of(cache.results, name, compute.spatial)
    copy.location = compute.location
    block = cast(Block, compute.parent_block())
    block.insert_ops_before([cache, copy], compute)
    for old, new in zip(compute.results, copy.results, strict=True):
        old.replace_all_uses_with(new)
    compute.detach()
    compute.erase()
    _replace_handles(op, stage_op, cache, copy, op.scope.data)


def _copy_of(tensors: Sequence[SSAValue], name: str, axes: list[tuple[str, Expr]]) -> ComputeOp:
    reads = [ReadOp(tensor, [var(n) for n, _ in axes]) for tensor in tensors]
    body = Region(Block([*reads, YieldOp([read.result for read in reads])]))
    return ComputeOp(name, axes, [], [tensor.type for tensor in tensors], body)


def _replace_handles(op: CacheWriteOp, stage_op: StageOp, cache: ComputeOp, copy: ComputeOp, scope: str) -> None:
    """The cache's handle becomes a schedule.stage with that scope; the old one loses its reduce axes."""
    block = cast(Block, op.parent_block())
    cache_axes = [n for n, _ in (*cache.spatial, *cache.reduction)]
    if [a.data for a in op.axis_names] != cache_axes:
        listed = ", ".join(a.data for a in op.axis_names)
        raise CompileError(f"the cache has axes [{', '.join(cache_axes)}], not [{listed}]", op)
    new_cache = StageOp(cache.stage.data, cache_axes)
    new_stage = StageOp(copy.stage.data, [n for n, _ in copy.spatial])
    for new, old in ((new_cache, op), (new_stage, stage_op)):
        new.location = old.location
        block.insert_op_before(new, old)
        for value, replacement in zip(old.results, new.results, strict=False):
            value.replace_all_uses_with(replacement)
    if scope != "global":
        block.insert_op_before(SetScopeOp(new_cache.handle, scope), op)
    for old in (op, stage_op):
        old.detach()
        old.erase()
