"""cache_read: readers read a copy."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import ArgumentOp, CacheReadOp
from tilework.dialects.shapes import dims_of
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.transforms.schedule.dataflow.bodies import copy_of
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
    dims = dims_of(tensors[0].type)
    if len(op.axis_names) != len(dims):
        message = f"cache_read of '{name}' names {len(op.axis_names)} axes; it has {len(dims)} dimensions, name each"
        raise CompileError(message, op)
    readers = [compute_of(kernel, handle, op)[0] for handle in op.readers]
    for reader in readers:
        if not any(read.tensor in tensors for read in reader.reads):
            readable = ", ".join(f"'{c.stage.data}'" for c in kernel.computes if _reads(c, tensors)) or "no stage"
            raise CompileError(f"stage '{reader.stage.data}' does not read '{name}'; {readable} does", op)
    axes = [(n.data, e) for n, e in zip(op.axis_names, dims, strict=True)]
    copy = copy_of(tensors, names.fresh(f"{name}.{op.scope.data}"), axes)
    copy.location = readers[0].location
    first = next(c for c in kernel.computes if c in readers)
    kernel.body.block.insert_op_before(copy, first)
    for old, new in zip(tensors, copy.results, strict=True):
        _redirect(readers, old, new)
    replace_values(op.results, new_handle(copy, op, op.scope.data).results)
    erase(op)


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


def _reads(compute: ComputeOp, tensors: list[SSAValue]) -> bool:
    return any(read.tensor in tensors for read in compute.reads)


def _redirect(readers: list[ComputeOp], old: SSAValue, new: SSAValue) -> None:
    for reader in readers:
        for read in reader.reads:
            if read.tensor is old:
                read.operands[0] = new
