"""What the primitives before a rewrite have done with the axes of the stage that it rewrites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from tilework.analysis.schedule_state import Split, Stage, refuse
from tilework.analysis.schedule_state.handles import Handles
from tilework.analysis.schedule_state.replay import handles_before
from tilework.dialects.schedule import FuseOp, ReorderOp, SequenceOp, SplitOp, StageOp, Tail
from tilework.dialects.te import KernelOp
from tilework.transforms.schedule.dataflow.handles import erase, position

SHAPING = (SplitOp, FuseOp, ReorderOp)
"""The primitives that make axes of axes, and that order them."""


def state_before(kernel: KernelOp, op: Operation) -> Handles:
    """What the primitives before `op` have made of the stages."""
    sequence = op.parent_op()
    assert isinstance(sequence, SequenceOp)
    return handles_before(kernel, sequence, op)


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


def users_before(op: Operation, values: Iterable[SSAValue]) -> list[Operation]:
    """The primitives before `op` that use these stages or axes, in the order of the sequence."""
    return [user for user in _users_of(values) if position(user) < position(op)]


def users_after(op: Operation, values: Iterable[SSAValue]) -> list[Operation]:
    """The primitives behind `op` that use these stages or axes, in the order of the sequence."""
    return [user for user in _users_of(values) if position(user) > position(op)]


def _users_of(values: Iterable[SSAValue]) -> list[Operation]:
    return sorted({use.operation for value in values for use in value.uses}, key=position)


def order_spatial_axes_only(kernel: KernelOp, stage_op: StageOp, reorders: Sequence[ReorderOp]) -> None:
    """Let these reorders name the spatial axes of the stage only, which keep their order; its reduce axes go away."""
    orders = [_spatial_order_after(kernel, stage_op, reorder) for reorder in reorders]
    for reorder, order in zip(reorders, orders, strict=True):
        reorder.operands = order
        if len(order) < 2:
            erase(reorder)


def _spatial_order_after(kernel: KernelOp, stage_op: StageOp, reorder: ReorderOp) -> list[SSAValue]:
    assert reorder.next_op is not None
    handles = state_before(kernel, reorder.next_op)
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
