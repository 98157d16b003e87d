"""cache_read: readers read a copy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.analysis.schedule_state import refuse
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import ArgumentOp, CacheReadOp
from tilework.dialects.shapes import dims_of
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.transforms.schedule.dataflow.bodies import copy_of
from tilework.transforms.schedule.dataflow.earlier_uses import state_before
from tilework.transforms.schedule.dataflow.handles import (
    compute_of,
    erase,
    new_handle,
    replace_values,
    staged_of,
)


def apply_cache_read(kernel: KernelOp, op: CacheReadOp, names: UniqueNames) -> None:
    """Make the copy. Raises CompileError where a reader does not read, or the names are not one for each dimension."""
    name, tensors = _source(kernel, op)
    readers = [_reader(kernel, op, handle, name, tensors) for handle in op.readers]
    tensors = _of_one_shape(op, name, tensors, readers)
    dims = dims_of(tensors[0].type)
    if len(op.axis_names) != len(dims):
        message = f"cache_read of '{name}' names {len(op.axis_names)} axes; it has {len(dims)} dimensions, name each"
        raise CompileError(message, op)
    axes = [(n.data, e) for n, e in zip(op.axis_names, dims, strict=True)]
    copy = copy_of(tensors, names.fresh(f"{name}.{op.scope.data}"), axes)
    copy.location = readers[0].location
    first = next(c for c in kernel.computes if c in readers)
    kernel.body.block.insert_op_before(copy, first)
    for old, new in zip(tensors, copy.results, strict=True):
        _redirect(readers, old, new)
    replace_values(op.results, new_handle(copy, op, op.scope.data).results)
    erase(op)


def _reader(kernel: KernelOp, op: CacheReadOp, handle: SSAValue, name: str, tensors: Sequence[SSAValue]) -> ComputeOp:
    reader, stage_op = compute_of(kernel, handle, op)
    if not _reads(reader, tensors):
        readable = ", ".join(f"'{c.stage.data}'" for c in kernel.computes if _reads(c, tensors)) or "no stage"
        stage = state_before(kernel, op).stages[stage_op.handle]
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


def _source(kernel: KernelOp, op: CacheReadOp) -> tuple[str, list[SSAValue]]:
    """The name of what is copied, and its tensors."""
    if not isinstance(op.source.owner, ArgumentOp):
        staged, _ = staged_of(kernel, op.source, op)
        return staged.stage.data, list(staged.results)
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
