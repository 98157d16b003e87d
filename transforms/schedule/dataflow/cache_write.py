"""cache_write: the computing moves into a cache, in another layout perhaps, and the stage copies out of it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.bound_inference import domain_of
from tilework.analysis.schedule_state import Axis, Fuse, Singleton, Split, Stage, refuse
from tilework.analysis.stage_bounds import StageBounds, add_conditions, extents_of
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import CacheWriteOp, FuseOp, ReorderOp, SplitOp, StageOp
from tilework.dialects.shapes import element_type, tensor_type
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.transforms.schedule.dataflow.bodies import clone_body, copy_of, gather_of, guard_reads
from tilework.transforms.schedule.dataflow.handles import (
    check_names,
    check_tails,
    erase,
    last_first,
    new_handle,
    replace_compute,
    replace_values,
    stage_of,
    state_before,
)


def apply_cache_write(kernel: KernelOp, op: CacheWriteOp) -> None:
    """Make the cache. Raises CompileError where there is one, or where it cannot have the axes that the stage has."""
    compute, stage_op = stage_of(kernel, op.stage, op)
    name = compute.stage.data
    if kernel.compute(f"{name}.{op.scope.data}") is not None:
        raise CompileError(f"stage '{name}' has a cache in scope {op.scope.data} already; use that one", op)
    if _used_before(stage_op, op):
        _relayout(kernel, op, compute, stage_op)
        return
    if any(axis.uses for axis in stage_op.axes[len(compute.spatial) :]):
        raise CompileError(
            f"after cache_write stage '{name}' has no reduce axes; schedule those of the cache instead", op
        )
    cache = ComputeOp(
        f"{name}.{op.scope.data}", compute.spatial, compute.reduction, compute.result_types, compute.body.clone()
    )
    copy = copy_of(cache.results, name, compute.spatial)
    check_names(op, [a.data for a in op.axis_names], [n for n, _ in (*cache.spatial, *cache.reduction)])
    replace_compute(compute, cache, copy)
    fresh = new_handle(copy, stage_op)
    replace_values(stage_op.results[: len(fresh.results)], fresh.results)
    replace_values(op.results, new_handle(cache, op, op.scope.data).results)
    erase(op, stage_op)


def _used_before(stage_op: StageOp, op: Operation) -> list[Operation]:
    """What uses the stage's axes before the primitive."""
    uses = [use.operation for axis in stage_op.axes for use in axis.uses]
    return [user for user in uses if user.is_before_in_block(op)]


# -- another layout


def _relayout(kernel: KernelOp, op: CacheWriteOp, compute: ComputeOp, stage_op: StageOp) -> None:
    """The leaves that the spatial axes have become are the dimensions of the cache; the stage starts anew."""
    state = state_before(kernel, op)
    stage = state.stages[stage_op.handle]
    made = _layout_ops(op, stage, stage_op)
    b = extents_of(stage, [(const(0), e) for _, e in compute.spatial])
    add_conditions(stage, b, domain_of(state.state, stage, {stage: b}))
    leaves = [a for a in stage.leaves if not a.reduce]
    cache = _cache_of(compute, f"{stage.name}.{op.scope.data}", leaves, b)
    check_names(op, [a.data for a in op.axis_names], [n for n, _ in (*cache.spatial, *cache.reduction)])
    forward = _forward(stage, b)
    indices = [forward[leaf] for leaf in leaves]
    copy = gather_of(cache.results, stage.name, compute.spatial, indices, compute.result_types)
    replace_compute(compute, cache, copy)
    _renew_handles(op, stage_op, made, cache, copy)


def _layout_ops(op: CacheWriteOp, stage: Stage, stage_op: StageOp) -> list[Operation]:
    """The operations that made the leaves; only such may have used the stage's axes."""
    found: dict[Operation, None] = {}
    pending: list[SSAValue] = list(stage_op.axes)
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if user in found or not user.is_before_in_block(op):
                continue
            if not isinstance(user, SplitOp | FuseOp | ReorderOp):
                refuse(
                    op,
                    stage,
                    f"cache_write of stage '{stage.name}' comes after {user.name} used its axes: only splits, fuses "
                    "and reorders become a layout; call it first",
                )
            found[user] = None
            pending += user.results
    if not _reduction_is_untouched(stage):
        refuse(
            op,
            stage,
            f"cache_write of stage '{stage.name}' comes after its reduce axes were scheduled: a layout is made within "
            "data parallel axes only; schedule those of the cache instead",
        )
    if stage.scan is not None and stage.leaves[0] is not stage.spatial[0]:
        what = f"stage '{stage.name}' is part of every step of scan '{stage.scan.name}'"
        refuse(op, stage, f"{what}: axis '{stage.spatial[0]}' is time and stays its first dimension", stage.leaves[0])
    check_tails(op, stage, "a layout", (r for r in stage.relations if isinstance(r, Split)))
    return list(found)


def _reduction_is_untouched(stage: Stage) -> bool:
    return stage.leaves[len(stage.leaves) - len(stage.reduction) :] == stage.reduction


def _cache_of(compute: ComputeOp, name: str, leaves: Sequence[Axis], b: StageBounds) -> ComputeOp:
    """The compute over the leaves; elements that the tensor does not have are left out."""
    names: dict[Key, Expr] = {leaf: var(leaf.name) for leaf in leaves}
    values: dict[Key, Expr] = {n: b.values[n].substitute(names) for n, _ in compute.spatial}
    body = clone_body(compute, values)
    guard_reads(body, [Predicate(g.expr.substitute(names), g.kind) for g in b.guards])
    spatial = [(leaf.name, b.extents[leaf]) for leaf in leaves]
    reduction = [(n, e.substitute(values)) for n, e in compute.reduction]
    types = [tensor_type([e for _, e in spatial], element_type(t)) for t in compute.result_types]
    return ComputeOp(name, spatial, reduction, types, body)


def _forward(stage: Stage, b: StageBounds) -> dict[Axis, Expr]:
    """The index of every axis in terms of the names of the stage's own axes."""
    index: dict[Axis, Expr] = {a: var(a.name) for a in stage.spatial}
    for relation in stage.relations:
        match relation:
            case Singleton():
                index[relation.axis] = const(0)
            case Split():
                factor = b.extents[relation.inner]
                index[relation.outer] = index[relation.parent] // factor
                index[relation.inner] = index[relation.parent] % factor
            case Fuse():
                total = const(0)
                for parent in relation.parents:
                    total = total * b.extents[parent] + index[parent]
                index[relation.fused] = total
    return index


def _renew_handles(
    op: CacheWriteOp, stage_op: StageOp, made: Sequence[Operation], cache: ComputeOp, copy: ComputeOp
) -> None:
    """The cache has the leaves now; the stage's handle stays, its axes are those that `schedule.stage` gives next."""
    fresh = new_handle(copy, stage_op)
    stage_op.handle.replace_all_uses_with(fresh.handle)
    again = next((o for o in _after(op) if isinstance(o, StageOp) and o.stage == copy.stage), None)
    if again is not None:
        check_names(again, [a.data for a in again.axis_names], [n for n, _ in copy.spatial])
        replace_values(again.results, fresh.results)
        erase(again)
    _refuse_late_uses(op, [*stage_op.axes, *(r for m in made for r in m.results)], made, copy)
    replace_values(op.results, new_handle(cache, op, op.scope.data).results)
    erase(op, *last_first(made), stage_op)


def _after(op: Operation) -> Sequence[Operation]:
    block = op.parent_block()
    assert block is not None
    return [o for o in block.ops if op.is_before_in_block(o)]


def _refuse_late_uses(op: CacheWriteOp, axes: Sequence[SSAValue], made: Sequence[Operation], copy: ComputeOp) -> None:
    for axis in axes:
        late = next((use.operation for use in axis.uses if use.operation not in made), None)
        if late is not None:
            name = copy.stage.data
            raise CompileError(
                f"{late.name} uses axis '{axis.name_hint}', which is a dimension of the cache of stage '{name}' now; "
                f"take the axes of stage '{name}' anew with schedule.stage \"{name}\"",
                late,
            )
