"""pad_to_multiple: an axis of a stage becomes longer, and nothing is read or reduced in the new part."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import ceildiv, var
from tilework.algebra.predicate import less_than
from tilework.dialects.schedule import PadToMultipleOp, StageOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import element_type, tensor_type
from tilework.dialects.te import ComputeOp
from tilework.scheduling.dataflow.bodies import guard_reads, guard_reduction
from tilework.scheduling.dataflow.earlier_uses import state_before
from tilework.scheduling.dataflow.handles import erase, is_returned, whole_reader
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.state import refuse


def apply_pad_to_multiple(stages: KernelStages, op: PadToMultipleOp) -> None:
    """Lengthen the axis. Raises CompileError for an axis that was split or fused into being, and for outputs."""
    stage_op = op.axis.owner
    if not isinstance(stage_op, StageOp):
        name = op.axis.name_hint or "it"
        message = f"axis '{name}' was made by a split or fuse: only an axis of a tensor is padded; pad before splitting"
        raise CompileError(message, op)
    compute, _ = stages.compute_of(stage_op.handle, op)
    at = list[SSAValue](stage_op.axes).index(op.axis)
    factor = stages.knobs.number(op.factor)
    axes = [*compute.spatial, *compute.reduction]
    name, extent = axes[at]
    spatial = len(compute.spatial)
    obstacle = _obstacle(compute, name) if at < spatial else None
    if obstacle is not None:
        stage = state_before(stages, op, stage_op).stages[stage_op.handle]
        message = f"stage '{stage.name}' {obstacle} cannot be longer; use cache_write and pad the cache"
        refuse(op, stage, message, stage.roots[at])
    axes[at] = (name, ceildiv(extent, factor) * factor)
    body = compute.body.clone()
    guard = guard_reads if at < spatial else guard_reduction
    guard(body, [] if axes[at][1] == extent else [less_than(var(name), extent)])
    dims = [e for _, e in axes[:spatial]]
    types = [tensor_type(dims, element_type(t)) for t in compute.result_types]
    stages.replace(compute, ComputeOp(compute.stage.data, axes[:spatial], axes[spatial:], types, body))
    erase(op)


def _obstacle(compute: ComputeOp, axis: str) -> str | None:
    if is_returned(compute):
        return f"is an output of the kernel, whose axis '{axis}'"
    taker = whole_reader(compute)
    return None if taker is None else f"is taken by {taker} as a whole: its axis '{axis}'"
