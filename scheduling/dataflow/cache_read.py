"""cache_read: readers read a copy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.dialects.schedule import CacheReadOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp
from tilework.scheduling.dataflow.bodies import copy_of
from tilework.scheduling.dataflow.handles import erase, new_handle, replace_values
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.dataflow.sources import copied_tensors, reader_of_copy, reads_of


def apply_cache_read(stages: KernelStages, op: CacheReadOp) -> None:
    """Make the copy. Raises CompileError where a reader does not read, or the names are not one for each dimension."""
    name, tensors = copied_tensors(stages, op)
    readers = [reader_of_copy(stages, op, handle, name, tensors) for handle in op.readers]
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


def _of_one_shape(
    op: CacheReadOp, name: str, tensors: Sequence[SSAValue], readers: Sequence[ComputeOp]
) -> Sequence[SSAValue]:
    """All tensors of a stage where they have one shape, as those of a compute have; else those that are read."""
    if len({dims_of(tensor.type) for tensor in tensors}) == 1:
        return tensors
    read = [tensor for tensor in tensors if any(reads_of(reader, [tensor]) for reader in readers)]
    if len({dims_of(tensor.type) for tensor in read}) > 1:
        message = f"the readers read tensors of '{name}' that differ in shape: copy each for other readers"
        raise CompileError(message, op)
    return read


def _redirect(readers: list[ComputeOp], old: SSAValue, new: SSAValue) -> None:
    for read in (read for reader in readers for read in reads_of(reader, [old])):
        read.operands[0] = new
