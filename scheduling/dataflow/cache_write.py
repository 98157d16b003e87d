"""cache_write: the computing moves into a cache, in another layout perhaps, and the stage copies out of it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilework.dialects.schedule import (
    CacheWriteOp,
    DecomposeReductionOp,
    FuseOp,
    ReorderOp,
    SetStorePredicateOp,
    SplitOp,
    StageOp,
    StorageAlignOp,
)
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import ComputeOp
from tilework.scheduling.bound_inference import bounds_alone
from tilework.scheduling.dataflow.bodies import copy_of
from tilework.scheduling.dataflow.earlier_uses import (
    made_of,
    order_spatial_axes_only,
    state_before,
    users_after,
    users_before,
)
from tilework.scheduling.dataflow.handles import (
    check_names,
    erase,
    new_handle,
    replace_values,
)
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.dataflow.layouts import is_another_layout, layout_primitives, relaid
from tilework.scheduling.state import Stage, refuse


def apply_cache_write(stages: KernelStages, op: CacheWriteOp) -> None:
    """Make the cache. Raises CompileError where there is one, or where it cannot have the axes that the stage has.

    The stage stays where it was placed. Its spatial axes stay too, with all that was asked of them, unless they were
    split, fused or reordered: then what came of them are the dimensions of the cache, and the stage has new ones.
    """
    compute, stage_op = stages.compute_of(op.stage, op)
    handles = state_before(stages, op, stage_op)
    stage = handles.stages[stage_op.handle]
    _check_no_cache(stages, op, stage)
    reduce_axes = stage_op.axes[len(stage.spatial) :]
    _check_reduction(stages, op, stage, stage_op.handle, reduce_axes)
    name = stages.names.fresh(f"{stage.name}.{op.scope.data}")
    if is_another_layout(stage):
        spent = layout_primitives(stages, op, stage, stage_op)
        cache, copy = relaid(op, stage, name, bounds_alone(handles.state, stage))
        fresh = _replace(stages, op, stage_op, compute, cache, copy)
        _leave_axes_to_cache(stages, op, stage_op, fresh, spent)
        stages.erase_together([op, *spent, stage_op])
        return
    order_spatial_axes_only(
        stages, stage_op, [u for u in users_before(stages, op, reduce_axes) if isinstance(u, ReorderOp)]
    )
    cache = ComputeOp(name, compute.spatial, compute.reduction, compute.result_types, compute.body.clone())
    fresh = _replace(stages, op, stage_op, compute, cache, copy_of(cache.results, stage.name, compute.spatial))
    replace_values(stage_op.axes[: len(fresh.axes)], fresh.axes)
    erase(op, stage_op)


def _check_no_cache(stages: KernelStages, op: CacheWriteOp, stage: Stage) -> None:
    scope = op.scope.data
    known = stages.named(f"{stage.name}.{scope}")
    if known is not None and any(read.tensor in known.results for read in stage.compute.reads):
        refuse(op, stage, f"stage '{stage.name}' has a cache in scope {scope} already; use that one")


def _check_reduction(
    stages: KernelStages, op: CacheWriteOp, stage: Stage, handle: SSAValue, axes: Sequence[SSAValue]
) -> None:
    """The reduction moves into the cache as it is; that its axes were ordered among the others is forgotten."""
    if users_after(stages, op, axes):
        message = f"after cache_write stage '{stage.name}' has no reduce axes; schedule those of the cache instead"
        refuse(op, stage, message)
    of_reduction = [
        u for u in users_before(stages, op, [handle]) if isinstance(u, DecomposeReductionOp | SetStorePredicateOp)
    ]
    for user in (*users_before(stages, op, made_of(axes)), *of_reduction):
        what = f"cache_write of stage '{stage.name}' comes after"
        if isinstance(user, SplitOp | FuseOp):
            message = f"{what} its reduce axes were scheduled: a layout is made within data parallel axes only"
            refuse(op, stage, f"{message}; schedule those of the cache instead")
        if not isinstance(user, ReorderOp):
            refuse(op, stage, f"{what} {user.name} used its reduction, which moves into the cache; call it first")


# -- handles


def _replace(
    stages: KernelStages, op: CacheWriteOp, stage_op: StageOp, compute: ComputeOp, cache: ComputeOp, copy: ComputeOp
) -> StageOp:
    """Put the cache and the copy in place of the compute; the new handle of the stage, whose axes are not used yet."""
    check_names(op, [a.data for a in op.axis_names], [n for n, _ in (*cache.spatial, *cache.reduction)])
    stages.replace(compute, cache, copy)
    fresh = new_handle(copy, stage_op)
    again = _taken_anew(stages, op, stage_op)
    if again is not None:
        check_names(again, [a.data for a in again.axis_names], [n for n, _ in copy.spatial])
        replace_values(again.results, fresh.results)
        erase(again)
    stage_op.handle.replace_all_uses_with(fresh.handle)
    replace_values(op.results, new_handle(cache, op, op.scope.data).results)
    return fresh


def _taken_anew(stages: KernelStages, op: CacheWriteOp, stage_op: StageOp) -> StageOp | None:
    """The `schedule.stage` that gives the axes that the stage has now, not those that it has after another cache."""
    again = stages.next_handle(stage_op.stage.data, op)
    caches = [user for user in users_after(stages, op, [stage_op.handle]) if isinstance(user, CacheWriteOp)]
    return None if again is None or (caches and stages.place(caches[0]) < stages.place(again)) else again


def _leave_axes_to_cache(
    stages: KernelStages, op: CacheWriteOp, stage_op: StageOp, fresh: StageOp, spent: Sequence[Operation]
) -> None:
    """Refuse what uses the old axes from now on; a stride asked for before is that of a dimension, which stays."""
    for old, new in zip(stage_op.axes, fresh.axes, strict=False):
        for user in users_before(stages, op, [old]):
            if isinstance(user, StorageAlignOp):
                user.operands[0] = new
    for axis in [*stage_op.axes, *(made for primitive in spent for made in primitive.results)]:
        late = next(iter(users_after(stages, op, [axis])), None)
        if late is not None:
            name = fresh.stage.data
            raise CompileError(
                f"{late.name} uses axis '{axis.name_hint}', which is a dimension of the cache of stage '{name}' now; "
                f"take the axes of stage '{name}' anew with schedule.stage \"{name}\"",
                late,
            )
