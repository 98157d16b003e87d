"""reindex: a stage reads a copy of what it reads, which has the axes of the stage for dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.rewriter import Rewriter

from tilework.algebra.index_expr import Expr, var
from tilework.dialects.schedule import ReindexOp, StageOp
from tilework.dialects.support.shapes import element_type, tensor_type
from tilework.dialects.te import ComputeOp, ReadOp
from tilework.scheduling.dataflow.bodies import gather_of
from tilework.scheduling.dataflow.earlier_uses import state_before
from tilework.scheduling.dataflow.handles import erase, new_handle, replace_values
from tilework.scheduling.dataflow.kernel_stages import KernelStages
from tilework.scheduling.dataflow.simplify_reads import simplify_reads
from tilework.scheduling.dataflow.sources import copied_tensors, reader_of_copy, reads_of
from tilework.scheduling.state import refuse


def apply_reindex(stages: KernelStages, op: ReindexOp) -> None:
    """Make the copy. Raises CompileError where the reads do not say one element for each point of the named axes."""
    name, tensors = copied_tensors(stages, op)
    reader = reader_of_copy(stages, op, op.reader, name, tensors)
    simplify_reads(reader)  # a layout may have left axes in the indices that decide nothing
    reads = reads_of(reader, tensors)
    names = [axis.data for axis in op.axis_names]
    obstacle = _obstacle(reader, reads, names)
    if obstacle is not None:
        _, stage_op = stages.compute_of(op.reader, op)
        stage = state_before(stages, op, stage_op).stages[stage_op.handle]
        refuse(op, stage, f"what stage '{reader.stage.data}' reads of '{name}' cannot be copied: {obstacle}")
    extents = dict((*reader.spatial, *reader.reduction))
    copy = _copy(stages.names.fresh(f"{name}.{op.scope.data}"), reads[0], [(n, extents[n]) for n in names])
    copy.location = reader.location
    stages.insert_before(reader, copy)
    for read in reads:
        moved = ReadOp(copy.result, [var(n) for n in names])
        moved.location = read.location
        Rewriter.replace_op(read, moved)
    replace_values(op.results, new_handle(copy, op, op.scope.data).results)
    source = op.source.owner
    erase(op)
    if isinstance(source, StageOp) and not any(result.uses for result in source.results):
        erase(source)  # its axes may change before anyone asks for them


def _copy(name: str, read: ReadOp, axes: Sequence[tuple[str, Expr]]) -> ComputeOp:
    type_ = tensor_type([extent for _, extent in axes], element_type(read.tensor.type))
    return gather_of([read.tensor], name, axes, read.exprs, [type_])


def _obstacle(reader: ComputeOp, reads: Sequence[ReadOp], names: Sequence[str]) -> str | None:
    """Why the reads cannot go to a copy with these axes, and what to do instead."""
    first = reads[0]
    if any(read.tensor is not first.tensor or read.exprs != first.exprs for read in reads):
        return "it reads several elements at a time; copy them with cache_read"
    if any(read.parent_op() is not reader for read in reads):
        return "it is read under a condition; inline the stage with the condition into the copy instead"
    keys = {key for e in first.exprs for key in e.variables()}
    if not all(isinstance(key, str) for key in keys):
        return "data say which element it is; copy all with cache_read"
    axes = dict((*reader.spatial, *reader.reduction))
    deciding = [name for name in axes if name in keys]
    if sorted(deciding) != sorted(names):
        return f"its axes [{', '.join(deciding)}] say which element it is, not [{', '.join(names)}]; name those"
    changing = next((n for n in deciding if not axes.keys().isdisjoint(axes[n].variables())), None)
    return None if changing is None else f"how long its axis '{changing}' is changes with another; use cache_read"
