"""Whether every stage can be computed where the schedule says."""

from __future__ import annotations

from tilework.algebra.index_expr import var
from tilework.dialects.loop import Kind
from tilework.dialects.support.memory_scopes import has_no_addresses
from tilework.dialects.te import ComputeOp, ExternOp, ReduceOp, ScanOp
from tilework.scheduling.state.state import Axis, ScheduleState, Stage, refuse


def check_attachments(state: ScheduleState) -> None:
    """Raise CompileError for a stage at an axis where it cannot be computed."""
    for stage in state.stages.values():
        _check_whole(stage)
        _check_order(state, stage)
    for stage in state.stages.values():
        if stage.attach is not None:
            _check_place(stage, stage.attach)
        elif stage.after is not None:
            _check_after(state, stage, stage.after)
        else:
            _check_root(stage)
        _check_step(stage)
        _check_init(stage)
        _check_storage(state, stage)
    for stage in state.stages.values():
        _check_consumers(state, stage)


def _check_whole(stage: Stage) -> None:
    """A scan and an extern run as a whole, and an extern reads whole what it reads."""
    if isinstance(stage.compute, ScanOp) and stage.place is not None:
        refuse(stage.attach_op, stage, f"scan '{stage.name}' is computed at the root: it runs over time itself")
    extern, asked = isinstance(stage.compute, ExternOp), stage.double_buffer or stage.attach_op
    if extern and asked is not None and (stage.place is not None or asked is stage.double_buffer):
        refuse(asked, stage, f"extern '{stage.name}' runs as a whole, at the root: it takes set_scope, nothing else")
    users = (use.operation for result in stage.compute.results for use in result.uses)
    reader = next((user for user in users if isinstance(user, ExternOp)), None)
    if reader is not None and stage.place is not None:
        what = f"stage '{stage.name}' is read whole by extern '{reader.stage.data}'"
        refuse(stage.attach_op, stage, f"{what}: it is computed at the root")


def _check_root(stage: Stage) -> None:
    if has_no_addresses(stage.scope) and not stage.is_output:
        message = f"stage '{stage.name}' of scope {stage.scope} is at the root; compute it at a consumer's axis"
        refuse(stage.scope_op, stage, message)


def _check_order(state: ScheduleState, stage: Stage) -> None:
    """A stage is computed in one behind it, or follows one at the root: so no stage is around itself."""
    op = stage.attach_op
    if stage.attach is not None:
        consumer = stage.attach.stage
        if state.positions[consumer] <= state.positions[stage]:
            what = f"stage '{stage.name}' is computed at '{consumer.name}', which does not consume it"
            refuse(op, consumer, f"{what}; take a consumer", stage.attach)
    if stage.after is not None and stage.after.stage.place is not None:
        producer = stage.after.stage
        what = f"stage '{stage.name}' cannot follow axis '{stage.after}' of stage '{producer.name}'"
        refuse(op, producer, f"{what}: '{producer.name}' is not at the root; use compute_root", stage.after)


def _check_step(stage: Stage) -> None:
    """What is part of every step of a scan is computed where time is known; its results in no other stage."""
    if stage.place is None:
        return
    if not stage.kept and any(isinstance(use.operation, ScanOp) for r in stage.compute.results for use in r.uses):
        message = f"stage '{stage.name}' is where a scan begins: it is computed at the root"
        refuse(stage.attach_op, stage, message)
    if stage.scan is None:
        return
    around, axis = stage.place.stage, stage.place
    if around is stage.scan and axis is not stage.scan.leaves[-1]:
        refuse(
            stage.attach_op,
            around,
            f"stage '{stage.name}' is part of every step of scan '{around.name}': compute it at the innermost axis "
            f"'{around.leaves[-1]}'",
            axis,
        )
    storage = stage.scope_op or stage.alignment_op or stage.double_buffer
    if stage.kept and storage is not None:
        message = f"stage '{stage.name}' is a result of scan '{stage.scan.name}' and lives in its buffer"
        refuse(storage, stage, f"{message}: it has no storage of its own; use cache_write")
    if stage.kept and around is not stage.scan:
        refuse(
            stage.attach_op,
            around,
            f"stage '{stage.name}' is a result of scan '{stage.scan.name}', of which every step makes all: compute it "
            f"at axis '{stage.scan.leaves[-1]}' of the scan",
            axis,
        )


def _check_place(stage: Stage, axis: Axis) -> None:
    """The axis is a leaf and not inside lanes."""
    around = axis.stage
    if axis not in around.leaves:
        refuse(
            stage.attach_op,
            around,
            f"stage '{stage.name}' is computed at axis '{axis}' of stage '{around.name}', "
            "which is not a leaf: it was split or fused; use one of the axes made from it",
        )
    inside = around.leaves[: around.leaves.index(axis) + 1]
    vectorized = next((a for a in inside if a.kind is Kind.VECTORIZED), None)
    if vectorized is not None:
        message = (
            f"stage '{stage.name}' cannot be computed inside the vectorized axis '{vectorized}'; take an axis outside"
        )
        refuse(stage.attach_op, around, message, vectorized)


def _check_consumers(state: ScheduleState, stage: Stage) -> None:
    """Every consumer must lie below the axis that the stage is computed at."""
    if stage.attach is None:
        return
    for consumer, _ in state.consumers(stage):
        if consumer is not stage.attach.stage and stage.attach not in state.attach_path(consumer):
            refuse(
                stage.attach_op,
                stage.attach.stage,
                f"stage '{stage.name}' is computed at axis '{stage.attach}' of stage '{stage.attach.stage.name}', "
                f"but its consumer '{consumer.name}' is not computed there; compute that there too, or "
                f"'{stage.name}' at the root",
                stage.attach,
            )


# -- reverse_compute_at


def _check_after(state: ScheduleState, stage: Stage, axis: Axis) -> None:
    producer, op = axis.stage, stage.attach_op
    what = f"stage '{stage.name}' cannot follow axis '{axis}' of stage '{producer.name}'"
    _check_place(stage, axis)
    if any(a.reduce for a in producer.leaves[: producer.leaves.index(axis) + 1]):
        message = f"{what}: inside a reduce axis its elements are not finished; take an axis outside the reduction"
        refuse(op, producer, message, axis)
    _check_elementwise(stage, producer, what)
    late = _not_ready(state, stage, producer)
    if late is not None:
        message = f"{what}: it also needs '{late.name}', which is not finished there; compute that one inside it"
        refuse(op, producer, message, axis)


def _not_ready(state: ScheduleState, stage: Stage, producer: Stage) -> Stage | None:
    """What the stage, and what is computed inside it, read of stages whose nests end after the producer's begins."""
    inside = [s for s in state.stages.values() if s is stage or stage in _around(s)]
    for reader in inside:
        for other in state.producers(reader):
            if other in inside or (other is producer and reader is stage):
                continue
            nest = [other, *_around(other)][-1]
            part = other is producer or (other.after is not None and nest is producer)
            if part or state.positions[nest] > state.positions[producer]:
                return other
    return None


def _around(stage: Stage) -> list[Stage]:
    """The stages in whose nests a stage is computed, innermost first."""
    return [] if stage.place is None else [stage.place.stage, *_around(stage.place.stage)]


def _check_elementwise(stage: Stage, producer: Stage, what: str) -> None:
    own = [var(a.name) for a in stage.spatial]
    reads = [r for r in stage.compute.reads if r.tensor in producer.compute.results]
    if not reads:
        refuse(stage.attach_op, stage, f"{what}: it does not read that; use compute_at on a producer")
    same = [a.extent for a in stage.spatial] == [a.extent for a in producer.spatial]
    reduces = not isinstance(stage.compute, ComputeOp) or isinstance(stage.compute.terminator, ReduceOp)
    if reduces or not same or any(list(r.exprs) != own for r in reads):
        refuse(stage.attach_op, stage, f"{what}: it does not read that element by element; use compute_at")


# -- reductions and buffers


def _check_init(stage: Stage) -> None:
    """The elements are set before the first reduce axis, so that nothing added is lost."""
    if stage.init_at is None:
        return
    axis = stage.init_at
    if axis not in stage.leaves:
        message = f"the reduction of stage '{stage.name}' is set before axis '{axis}', which was split or fused since"
        refuse(stage.init_op, stage, f"{message}; decompose it last")
    outside = next((a for a in stage.leaves[: stage.leaves.index(axis)] if a.reduce), None)
    if outside is not None:
        refuse(
            stage.init_op,
            stage,
            f"stage '{stage.name}' cannot be set before axis '{axis}': every iteration of reduce axis '{outside}' "
            "outside would set it again; take that axis or one outside it",
            axis,
        )


def _check_storage(state: ScheduleState, stage: Stage) -> None:
    """Alignment and double buffers are for buffers that the kernel allocates inside its loops."""
    for op, what in ((stage.alignment_op, "storage_align"), (stage.double_buffer, "double_buffer")):
        if op is not None and (stage.attach is None or stage.is_output):
            refuse(
                op,
                stage,
                f"{what} of stage '{stage.name}': its buffer is not allocated in a loop; use compute_at",
            )
