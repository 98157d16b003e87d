"""Scope, alignment, double buffering and prefetching; and the handles of stages and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from tilework.dialects.schedule import (
    ArgumentOp,
    DoubleBufferOp,
    PrefetchOp,
    SetScopeOp,
    StageOp,
    StorageAlignOp,
)
from tilework.scheduling.state.handles import Handles
from tilework.scheduling.state.state import Prefetch, refuse


def _stage(handles: Handles, op: StageOp) -> None:
    handles.define_stage(op)


def _argument(handles: Handles, op: ArgumentOp) -> None:
    handles.define_argument(op)


def _set_scope(handles: Handles, op: SetScopeOp) -> None:
    stage = handles.stage(op, op.stage)
    stage.scope, stage.scope_op = op.scope.data, op


def _storage_align(handles: Handles, op: StorageAlignOp) -> None:
    axis = handles.axes[op.axis]
    stage = axis.stage
    if axis not in stage.spatial:
        refuse(
            op,
            stage,
            f"axis '{axis}' of stage '{stage.name}' is no dimension of its tensor: only those have strides; "
            f"align one of [{', '.join(map(str, stage.spatial))}]",
            axis,
        )
    knobs = handles.state.knobs
    stage.alignment[axis] = (knobs.known_number(op.factor), knobs.known_number(op.offset))
    stage.alignment_op = op


def _double_buffer(handles: Handles, op: DoubleBufferOp) -> None:
    handles.stage(op, op.stage).double_buffer = op


def _prefetch(handles: Handles, op: PrefetchOp) -> None:
    axis = handles.leaf(op, op.axis)
    offset, spread = handles.state.knobs.known_number(op.offset), op.spread is not None
    axis.prefetches += [Prefetch(tensor, offset, spread, op) for tensor in handles.tensors(op, op.source)]


STORAGE_PRIMITIVES: dict[type[Operation], Callable[[Handles, Any], None]] = {
    StageOp: _stage,
    ArgumentOp: _argument,
    SetScopeOp: _set_scope,
    StorageAlignOp: _storage_align,
    DoubleBufferOp: _double_buffer,
    PrefetchOp: _prefetch,
}
