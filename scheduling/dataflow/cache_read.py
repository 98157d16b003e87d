"""cache_read: readers read a copy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.dialects.schedule import ArgumentOp, CacheReadOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp
from tilework.scheduling.dataflow.bodies import copy_of
from tilework.scheduling.dataflow.earlier_uses import state_before
from tilework.scheduling.dataflow.handles import erase, new_handle, replace_values
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.state import refuse


def apply_cache_read(stages: KernelStages, op: CacheReadOp) -> None:
    """Make the copy. Raises CompileError where a reader does not read, or the names are not one for each dimension."""
    name, tensors = _source(stages, op)
    readers = [_reader(stages, op, handle, name, tensors) for handle in op.readers]
    tensors = _of_one_shape(op, name, tensors, readers)
    dims = dims_of(tensors[0].type)
    if len(op.axis_names) != len(dims):
        message = f"cache_read of '{name}' names {len(op.axis_names)} axes; it has {len(dims)} dimensions, name each"
        raise CompileError(message, op)
    axes = [(n.data, e) for n, e in zip(op.axis_names, dims, strict=True)]
    copy = copy_of(tensors, stages.names.fresh(f"{name}.{op.scope.data}"), axes)
    stages.insert_before(stages.in_program_order(set(readers))[0], copy)
    copy.location = readers[0].location
    for old, new in zip(tensors, copy.results, strict=True):
        _redirect(readers, old, new)
    replace_values(op.results, new_handle(copy, op, op.scope.data).results)
    erase(op)


def _reader(
    stages: KernelStages, op: CacheReadOp, handle: SSAValue, name: str, tensors: Sequence[SSAValue]
) -> ComputeOp:
    reader, stage_op = stages.compute_of(handle, op)
    if not _reads(reader, tensors):
        readable = ", ".join(f"'{c.stage.data}'" for c in stages.kernel.computes if _reads(c, tensors)) or "no stage"
        stage = state_before(stages, op, stage_op).stages[stage_op.handle]
        refuse(op, stage, f"stage '{reader.stage.data}' does not read '{name}'; {readable} does")
    return reader


def _of_one_shape(
    op: CacheReadOp, name: str, tensors: Sequence[SSAValue], readers: Sequence[ComputeOp]
) -> Sequence[SSAValue]:
    """All tensors of a stage where they have one shape, as those of a compute have; else those that are read."""
    if len({dims_of(tensor.type) for tensor in tensors}) == 1:
        return tensors
    read = [tensor for tensor in tensors if any(_reads(reader, [tensor]) for reader in readers)]
    if len({dims_of(tensor.type) for tensor in read}) > 1:
        message = f"the readers read tensors of '{name}' that differ in shape: copy each for other readers"
        raise CompileError(message, op)
    return read


def _source(stages: KernelStages, op: CacheReadOp) -> tuple[str, list[SSAValue]]:
    """The name of what is copied, and its tensors."""
    if not isinstance(op.source.owner, ArgumentOp):
        staged, _ = stages.staged_of(op.source, op)
        return staged.stage.data, list(staged.results)
    kernel = stages.kernel
    index, arguments = op.source.owner.index.value.data, kernel.body.block.args
    if index >= len(arguments):
        message = f"kernel @{kernel.sym_name.data} has no argument {index}; it has {len(arguments)}, from 0 on"
        raise CompileError(message, op.source.owner)
    return arguments[index].name_hint or f"arg{index}", [arguments[index]]


def _reads(compute: ComputeOp, tensors: Sequence[SSAValue]) -> bool:
    return any(read.tensor in tensors for read in compute.reads)


def _redirect(readers: list[ComputeOp], old: SSAValue, new: SSAValue) -> None:
    for reader in readers:
        for read in reader.reads:
            if read.tensor is old:
                read.operands[0] = new
