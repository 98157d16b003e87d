"""compute_at and its relatives: where stages are computed, alone or in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from tilework.dialects.loop import Kind
from tilework.dialects.schedule import (
    ComputeAtOp,
    ComputeRootOp,
    CreateGroupOp,
    DecomposeReductionOp,
    EnvThreadsOp,
    ReverseComputeAtOp,
    SetStorePredicateOp,
)
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import ScanOp
from tilework.scheduling.state.handles import Group, Handles
from tilework.scheduling.state.state import Axis, ScheduleState, Singleton, Stage, refuse


def _compute_at(handles: Handles, op: ComputeAtOp) -> None:
    axis = handles.axes[op.axis]
    if op.stage in handles.groups:
        group = handles.groups[op.stage]
        group.axis, group.place_op = axis, op
        return
    stage = handles.stage(op, op.stage)
    stage.attach, stage.attach_op, stage.after = axis, op, None


def _compute_root(handles: Handles, op: ComputeRootOp) -> None:
    if op.stage in handles.groups:
        handles.groups[op.stage].axis = None
        return
    stage = handles.stage(op, op.stage)
    stage.attach, stage.attach_op, stage.after = None, op, None


def _reverse_compute_at(handles: Handles, op: ReverseComputeAtOp) -> None:
    stage = handles.stage(op, op.stage)
    stage.attach, stage.attach_op, stage.after = None, op, handles.axes[op.axis]


def _decompose_reduction(handles: Handles, op: DecomposeReductionOp) -> None:
    stage, axis = handles.own_axis(op, op.stage, op.axis)
    if not stage.reduction:
        refuse(op, stage, f"stage '{stage.name}' is not a reduction: it needs no decomposing", axis)
    stage.init_at, stage.init_op = axis, op


def _set_store_predicate(handles: Handles, op: SetStorePredicateOp) -> None:
    stage, axis = handles.own_axis(op, op.stage, op.axis)
    if not (axis.reduce and axis.kind.startswith("threadIdx")):
        refuse(
            op,
            stage,
            f"axis '{axis}' of stage '{stage.name}' is not a reduce axis bound to threads: only these would store the "
            "same element; bind it first, or leave the predicate out",
            axis,
        )
    axis.storing = op.thread.value.data


def _env_threads(handles: Handles, op: EnvThreadsOp) -> None:
    stage, kind = handles.stage(op, op.stage), Kind(op.thread.data)
    if not isinstance(stage.compute, ScanOp):
        refuse(op, stage, f"stage '{stage.name}' is not a scan: threads around it come from its axes; use bind")
    if kind is Kind.VIRTUAL:
        message = f"{kind} cannot run around scan '{stage.name}': every virtual thread would compute all of it"
        refuse(op, stage, f"{message}; bind an axis of a stage of its steps to {kind}")
    if any(a.kind is kind for a in stage.leaves):
        refuse(op, stage, f"{kind} runs around scan '{stage.name}' already; a thread axis is launched once")
    axis = Axis(kind, stage, False, kind=kind, annotation=op)
    stage.relations.append(Singleton(axis, handles.state.knobs.number(op.extent)))
    stage.leaves.insert(len(stage.launched), axis)
    stage.launched.append(axis)


# -- groups


def _create_group(handles: Handles, op: CreateGroupOp) -> None:
    outputs = [handles.stage(op, v) for v in op.outputs]
    inputs = [handles.stages[v] for v in op.inputs if v in handles.stages]
    members = _between(handles.state, outputs, inputs)
    if op.include_inputs is None:
        members = [m for m in members if m not in inputs]
    for group in handles.groups.values():
        shared = set(group.members) & set(members)
        if shared and not shared == set(group.members) and not shared == set(members):
            name = next(iter(shared)).name
            raise CompileError(f"stage '{name}' is in another group already; groups nest or are apart", op)
    handles.groups[op.group] = Group(members, op)


def _between(state: ScheduleState, outputs: list[Stage], inputs: list[Stage]) -> list[Stage]:
    """The outputs and what they read, directly or not, down to the inputs; in program order."""
    found: set[Stage] = set()
    pending = list(outputs)
    while pending:
        stage = pending.pop()
        if stage not in found:
            found.add(stage)
            pending += [] if stage in inputs else state.producers(stage)
    return [s for s in state.stages.values() if s in found]


def place_groups(handles: Handles) -> None:
    """Compute the members of every group at its axis, but for those that have a place inside it; inner groups first."""
    for group in sorted(handles.groups.values(), key=lambda g: len(g.members)):
        if group.axis is None:
            continue
        if group.axis.stage in group.members:
            refuse(
                group.place_op,
                group.axis.stage,
                f"the group is computed at axis '{group.axis}' of stage '{group.axis.stage.name}', which is one of its "
                "own; take a stage outside",
                group.axis,
            )
        for stage in group.members:
            if stage.place is None:
                stage.attach, stage.attach_op = group.axis, group.place_op


PLACE_PRIMITIVES: dict[type[Operation], Callable[[Handles, Any], None]] = {
    ComputeAtOp: _compute_at,
    ComputeRootOp: _compute_root,
    ReverseComputeAtOp: _reverse_compute_at,
    DecomposeReductionOp: _decompose_reduction,
    SetStorePredicateOp: _set_store_predicate,
    EnvThreadsOp: _env_threads,
    CreateGroupOp: _create_group,
}
