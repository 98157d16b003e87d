"""rfactor: a reduce axis becomes a dimension of a stage that reduces over the other ones."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Block, Operation, Region

from tilework.algebra.index_expr import Expr, Key, var
from tilework.algebra.predicate import Predicate
from tilework.dialects.schedule import ReorderOp, RFactorOp, StageOp
from tilework.dialects.support.shapes import element_type, tensor_type
from tilework.dialects.te import ComputeOp, ReadOp, ReduceOp
from tilework.dialects.te.cloning import clone_body
from tilework.scheduling.bound_inference import StageBounds, bounds_alone
from tilework.scheduling.dataflow.bodies import guard_reduction, reducer_of
from tilework.scheduling.dataflow.earlier_uses import (
    SHAPING,
    check_tails,
    made_of,
    order_spatial_axes_only,
    state_before,
    users_after,
    users_before,
)
from tilework.scheduling.dataflow.handles import check_names, erase, new_handle, replace_values
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.state import Axis, Fuse, Singleton, Split, Stage, refuse


def apply_rfactor(stages: KernelStages, op: RFactorOp) -> None:
    """Factor the reduction. Raises CompileError for an axis that cannot become a dimension.

    What was done to the spatial axes before goes on being done to the stage, which stays where it was placed.
    """
    compute, stage_op = stages.compute_of(op.stage, op)
    state = state_before(stages, op, stage_op)
    stage = state.stages[stage_op.handle]
    axis = state.leaf(op, op.axis)
    at = _check(op, stage, axis)
    _check_reducer(op, stage, compute)
    users = _reduce_users(stages, op, stage, stage_op)
    check_tails(op, stage, "a stage", (r for r in stage.relations if isinstance(r, Split) and r.parent.reduce))
    stage = _reduction_only(stage)
    b = bounds_alone(state.state, stage)
    if set(b.extents[axis].variables()) - set(state.state.symbols):
        refuse(op, stage, f"the extent {b.extents[axis]} of axis '{axis}' depends on other axes; rfactor another", axis)
    order_spatial_axes_only(stages, stage_op, [user for user in users if isinstance(user, ReorderOp)])
    factored = _factored(compute, stages.names.fresh(f"{stage.name}.rf"), stage, axis, at, b)
    check_names(op, [a.data for a in op.axis_names], [n for n, _ in (*factored.spatial, *factored.reduction)])
    rest = _rest(compute, factored, axis, at, b)
    stages.replace(compute, factored, rest)
    _renew_handles(op, stage_op, factored, rest)
    stages.erase_together([user for user in users if not isinstance(user, ReorderOp)])
    erase(stage_op)


def _reduction_only(stage: Stage) -> Stage:
    """The stage as if its spatial axes had not been scheduled: what is done to them goes on being done to the rest."""
    relations = [r for r in stage.relations if not isinstance(r, Singleton) and _parent(r).reduce]
    leaves = [*stage.spatial, *(a for a in stage.leaves if a.reduce)]
    return replace(stage, relations=relations, leaves=leaves)


def _parent(relation: Split | Fuse) -> Axis:
    return relation.parent if isinstance(relation, Split) else relation.parents[0]


def _check(op: RFactorOp, stage: Stage, axis: Axis) -> int:
    """The position of the new dimension."""
    if axis.stage is not stage or not axis.reduce:
        refuse(
            op,
            stage,
            f"axis '{axis}' of stage '{axis.stage.name}' is not a reduce axis of stage '{stage.name}'; take one of "
            f"[{', '.join(str(a) for a in stage.leaves if a.reduce)}]",
            axis,
        )
    if sum(a.reduce for a in stage.leaves) < 2:
        message = f"axis '{axis}' is the only reduce axis of stage '{stage.name}': split it first"
        refuse(op, stage, message, axis)
    rank, at = len(stage.spatial), op.factor_axis.value.data
    at = at + rank + 1 if at < 0 else at
    if not 0 <= at <= rank:
        message = f"position {op.factor_axis.value.data} is none of a tensor of {rank + 1} dimensions; take 0 to {rank}"
        refuse(op, stage, message)
    if stage.scan is not None and at == 0:
        what = f"stage '{stage.name}' is part of every step of scan '{stage.scan.name}'"
        refuse(op, stage, f"{what}: axis '{stage.spatial[0]}' is time and stays its first dimension; take 1 to {rank}")
    return at


def _check_reducer(op: RFactorOp, stage: Stage, compute: ComputeOp) -> None:
    reduce = compute.terminator
    if isinstance(reduce, ReduceOp) and (why := reduce.why_not_in_parts) is not None:
        refuse(op, stage, f"rfactor of stage '{stage.name}' joins parts of its elements by themselves: {why}")


def _reduce_users(stages: KernelStages, op: RFactorOp, stage: Stage, stage_op: StageOp) -> list[Operation]:
    """What used the reduce axes, and axes made of them, before: splits, fuses and reorders, and nothing else."""
    axes = made_of(stage_op.axes[len(stage.spatial) :])
    for user in users_after(stages, op, axes):
        used = next(axis for axis in axes if axis in user.operands)
        name = f"axis '{used.name_hint}', which rfactor has taken from stage '{stage.name}'"
        refuse(user, stage, f"{user.name} uses {name}; use the axes that schedule.rfactor gives")
    users = users_before(stages, op, axes)
    for user in users:
        if not isinstance(user, SHAPING):
            message = f"rfactor of stage '{stage.name}' comes after {user.name} used its reduce axes; call it first"
            refuse(op, stage, message)
    return users


def _factored(compute: ComputeOp, name: str, stage: Stage, axis: Axis, at: int, b: StageBounds) -> ComputeOp:
    """The stage with the new dimension: reduces over the other reduce leaves, where there is something to reduce."""
    leaves = [a for a in stage.leaves if a.reduce]
    names: dict[Key, Expr] = {leaf: var(leaf.name) for leaf in stage.leaves}
    body = clone_body(compute, {a.name: b.indices[a].substitute(names) for a in stage.reduction})
    guard_reduction(body, [Predicate(g.expr.substitute(names), g.kind) for g in b.reduce_guards])
    spatial = list(compute.spatial)
    spatial.insert(at, (axis.name, b.extents[axis]))
    types = [tensor_type([e for _, e in spatial], element_type(t)) for t in compute.result_types]
    reduction = [(a.name, b.extents[a].substitute(names)) for a in leaves if a is not axis]
    return ComputeOp(name, spatial, reduction, types, body)


def _rest(compute: ComputeOp, factored: ComputeOp, axis: Axis, at: int, b: StageBounds) -> ComputeOp:
    """The stage as it was, which now reduces over the new dimension only."""
    indices = [var(n) for n, _ in compute.spatial]
    indices.insert(at, var(axis.name))
    reads = [ReadOp(tensor, indices) for tensor in factored.results]
    reduce = compute.terminator
    assert isinstance(reduce, ReduceOp)
    body = Region(Block([*reads, ReduceOp(reducer_of(reduce), [r.result for r in reads])]))
    reduction = [(axis.name, b.extents[axis])]
    return ComputeOp(compute.stage.data, compute.spatial, reduction, compute.result_types, body)


def _renew_handles(op: RFactorOp, stage_op: StageOp, factored: ComputeOp, rest: ComputeOp) -> None:
    fresh = new_handle(rest, stage_op)
    kept = 1 + len(rest.spatial)
    replace_values(stage_op.results[:kept], fresh.results[:kept])
    op.rest.replace_all_uses_with(fresh.axes[-1])
    replace_values(op.results[:-1], new_handle(factored, op).results)
    erase(op)
