"""What a primitive that makes a copy copies, and who reads it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.dialects.schedule import ArgumentOp, CacheReadOp, ReindexOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import ComputeOp, ReadOp
from tilework.scheduling.dataflow.earlier_uses import state_before
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.state import refuse


def copied_tensors(stages: KernelStages, op: CacheReadOp | ReindexOp) -> tuple[str, list[SSAValue]]:
    """The name of what is copied, and its tensors. Raises CompileError for an argument that the kernel lacks."""
    if not isinstance(op.source.owner, ArgumentOp):
        staged, _ = stages.staged_of(op.source, op)
        return staged.stage.data, list(staged.results)
    kernel = stages.kernel
    index, arguments = op.source.owner.index.value.data, kernel.body.block.args
    if index >= len(arguments):
        message = f"kernel @{kernel.sym_name.data} has no argument {index}; it has {len(arguments)}, from 0 on"
        raise CompileError(message, op.source.owner)
    return arguments[index].name_hint or f"arg{index}", [arguments[index]]


def reader_of_copy(
    stages: KernelStages, op: CacheReadOp | ReindexOp, handle: SSAValue, name: str, tensors: Sequence[SSAValue]
) -> ComputeOp:
    """The stage of a handle, which reads the tensors of `name`. Raises CompileError for one that does not."""
    reader, stage_op = stages.compute_of(handle, op)
    if not reads_of(reader, tensors):
        readable = ", ".join(f"'{c.stage.data}'" for c in stages.kernel.computes if reads_of(c, tensors)) or "no stage"
        stage = state_before(stages, op, stage_op).stages[stage_op.handle]
        refuse(op, stage, f"stage '{reader.stage.data}' does not read '{name}'; {readable} does")
    return reader


def reads_of(compute: ComputeOp, tensors: Sequence[SSAValue]) -> list[ReadOp]:
    """What a stage reads of the tensors."""
    return [read for read in compute.reads if read.tensor in tensors]
