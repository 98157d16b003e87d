"""Replaying a sequence over a kernel, primitive by primitive."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from tilework.dialects.schedule import (
    CacheReadOp,
    CacheWriteOp,
    ComputeInlineOp,
    PadToMultipleOp,
    RFactorOp,
    SequenceOp,
)
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.scheduling.open_knobs import NO_OPEN_KNOBS, OpenKnobs
from tilework.scheduling.state.attachments import check_attachments
from tilework.scheduling.state.axis_primitives import AXIS_PRIMITIVES
from tilework.scheduling.state.handles import Handles
from tilework.scheduling.state.place_primitives import PLACE_PRIMITIVES, place_groups
from tilework.scheduling.state.state import ScheduleState
from tilework.scheduling.state.storage_primitives import STORAGE_PRIMITIVES

PRIMITIVES = {**AXIS_PRIMITIVES, **PLACE_PRIMITIVES, **STORAGE_PRIMITIVES}


def read_schedule(kernel: KernelOp, sequence: SequenceOp | None, knobs: OpenKnobs = NO_OPEN_KNOBS) -> ScheduleState:
    """Replay the sequence over the kernel; without one every stage is at the root, in its own order.

    Raises CompileError for what is not a schedule of this kernel.
    """
    handles = replayed(ScheduleState(kernel, knobs=knobs), () if sequence is None else sequence.body.block.ops)
    place_groups(handles)
    handles.state.place_steps()
    check_attachments(handles.state)
    return handles.state


def replayed(state: ScheduleState, primitives: Iterable[Operation]) -> Handles:
    """What these primitives make of the stages."""
    handles = Handles(state)
    for op in primitives:
        _apply(handles, op)
    return handles


def _apply(handles: Handles, op: Operation) -> None:
    if isinstance(op, CacheReadOp | CacheWriteOp | ComputeInlineOp | PadToMultipleOp | RFactorOp):
        raise CompileError(f"{op.name} rewrites the kernel: run schedule-apply-dataflow first", op)
    primitive = PRIMITIVES.get(type(op))
    if primitive is None:
        raise CompileError(f"{op.name} is not a schedule primitive", op)
    primitive(handles, op)
