"""What the primitives before a rewrite have done with the axes of the stage that it rewrites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from tilework.dialects.schedule import FuseOp, ReorderOp, SingletonOp, SplitOp, StageOp, Tail
from tilework.scheduling.dataflow.handles import erase, users
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.state import ScheduleState, Split, Stage, refuse
from tilework.scheduling.state.handles import Handles
from tilework.scheduling.state.replay import replayed

SHAPING = (SplitOp, FuseOp, ReorderOp)
"""The primitives that make axes of axes, and that order them."""


def state_before(stages: KernelStages, op: Operation, stage_op: StageOp) -> Handles:
    """What the primitives before `op` have made of the axes of a stage.

    Only those are replayed that use these axes, and what they need, so that of other stages little is known.
    """
    return _state_at(stages, stages.place(op), stage_op)


def _state_at(stages: KernelStages, end: int, stage_op: StageOp) -> Handles:
    primitives = _shaping(stages, end, stage_op)
    named = [stages.named(op.stage.data) for op in primitives if isinstance(op, StageOp)]
    only = None if stages.has_scans else [staged for staged in named if staged is not None]
    return replayed(ScheduleState(stages.kernel, only, stages.knobs), primitives)


def _shaping(stages: KernelStages, end: int, stage_op: StageOp) -> list[Operation]:
    """The primitives in front of a place that use axes of a stage, and those that made what they use."""
    singletons = [use.operation for use in stage_op.handle.uses if isinstance(use.operation, SingletonOp)]
    pending: list[Operation] = [stage_op, *singletons, *users(stage_op.axes)]
    found: dict[Operation, None] = {}
    while pending:
        op = pending.pop()
        if op in found or stages.place(op) >= end:
            continue
        found[op] = None
        pending += [value.owner for value in op.operands if isinstance(value.owner, Operation)]
        pending += () if isinstance(op, StageOp) else users(op.results)
    return stages.in_order(found)


def made_of(axes: Iterable[SSAValue]) -> list[SSAValue]:
    """These axes, and those that splits and fuses have made of them."""
    found: dict[SSAValue, None] = {}
    pending = list(axes)
    while pending:
        axis = pending.pop(0)
        if axis not in found:
            found[axis] = None
            makers = [use.operation for use in axis.uses if isinstance(use.operation, SplitOp | FuseOp)]
            pending += [made for maker in makers for made in maker.results]
    return list(found)


def users_before(stages: KernelStages, op: Operation, values: Iterable[SSAValue]) -> list[Operation]:
    """The primitives before `op` that use these stages or axes, in the order of the sequence."""
    return stages.in_order(user for user in set(users(values)) if stages.place(user) < stages.place(op))


def users_after(stages: KernelStages, op: Operation, values: Iterable[SSAValue]) -> list[Operation]:
    """The primitives behind `op` that use these stages or axes, in the order of the sequence."""
    return stages.in_order(user for user in set(users(values)) if stages.place(user) > stages.place(op))


def order_spatial_axes_only(stages: KernelStages, stage_op: StageOp, reorders: Sequence[ReorderOp]) -> None:
    """Let these reorders name the spatial axes of the stage only, which keep their order; its reduce axes go away."""
    orders = [_spatial_order_after(stages, stage_op, reorder) for reorder in reorders]
    for reorder, order in zip(reorders, orders, strict=True):
        reorder.operands = order
        if len(order) < 2:
            erase(reorder)


def _spatial_order_after(stages: KernelStages, stage_op: StageOp, reorder: ReorderOp) -> list[SSAValue]:
    handles = _state_at(stages, stages.place(reorder) + 1, stage_op)
    value_of = {axis: value for value, axis in handles.axes.items()}
    return [value_of[axis] for axis in handles.stages[stage_op.handle].leaves if not axis.reduce]


def check_tails(op: Operation, stage: Stage, what: str, splits: Iterable[Split]) -> None:
    """Refuse splits with a tail other than guard: they become part of te, which has no tails."""
    odd = next((s for s in splits if s.tail is not Tail.GUARD), None)
    if odd is not None:
        message = (
            f"the split of axis '{odd.parent}' of stage '{stage.name}' becomes {what}, which has no tail {odd.tail}"
        )
        refuse(op, stage, f"{message}; use guard")
