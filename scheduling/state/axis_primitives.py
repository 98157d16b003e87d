"""split, fuse, singleton, reorder, and what annotates an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from tilework.dialects.loop import Kind
from tilework.dialects.schedule import (
    BindOp,
    FuseOp,
    ParallelOp,
    PragmaOp,
    ReorderOp,
    SingletonOp,
    SplitOp,
    Tail,
    TensorizeOp,
    UnrollOp,
    VectorizeOp,
)
from tilework.dialects.te import ExternOp, ScanOp
from tilework.dialects.te.intrinsics import declaration_of
from tilework.scheduling.state.handles import Handles
from tilework.scheduling.state.state import Axis, Fuse, Singleton, Split, listed, refuse


def _split(handles: Handles, op: SplitOp) -> None:
    axis = handles.plain_leaf(op, op.axis)
    stage = axis.stage
    tail = op.tail.data
    if axis.reduce and tail is Tail.SHIFT:
        refuse(
            op,
            stage,
            f"axis '{axis}' of stage '{stage.name}' is a reduction: tail shift would count elements twice; "
            "use guard, partition or mask",
            axis,
        )
    if axis.ordered and tail in (Tail.SHIFT, Tail.PAD):
        message = f"axis '{axis}' of scan '{stage.name}' is time: tail {tail} would run steps that there are not"
        refuse(op, stage, f"{message}; use guard, partition or mask", axis)
    if tail is Tail.PAD:
        _check_pad(handles, op, axis)
    outer = Axis(f"{axis.name}.outer", stage, axis.reduce, partition=tail is Tail.PARTITION)
    inner = Axis(f"{axis.name}.inner", stage, axis.reduce)
    outer.ordered = inner.ordered = axis.ordered
    at = stage.leaves.index(axis)
    stage.leaves[at : at + 1] = [outer, inner]
    knobs = handles.state.knobs
    factor = None if op.factor is None else knobs.number(op.factor)
    nparts = None if op.nparts is None else knobs.number(op.nparts)
    stage.relations.append(Split(axis, outer, inner, factor, nparts, tail, op))
    handles.axes[op.outer], handles.axes[op.inner] = outer, inner


def _check_pad(handles: Handles, op: SplitOp, axis: Axis) -> None:
    """Tail pad writes elements that the tensor does not have: they need room."""
    stage = axis.stage
    what = f"axis '{axis}' of stage '{stage.name}'"
    if axis.reduce:
        message = f"{what} is a reduction: tail pad would count too many elements; use pad_to_multiple"
        refuse(op, stage, message, axis)
    if axis not in stage.spatial:
        message = f"{what} was made by a split or fuse: only an axis of the tensor is padded; use guard or partition"
        refuse(op, stage, message, axis)
    if stage.scan is not None or isinstance(stage.compute, ScanOp):
        message = f"{what} belongs to the steps of a scan, whose buffers have no room for padding; use guard"
        refuse(op, stage, message, axis)
    if stage.is_output:
        message = f"{what} belongs to an output of the kernel, whose buffer has no room for padding; use cache_write"
        refuse(op, stage, message, axis)


def _fuse(handles: Handles, op: FuseOp) -> None:
    axes = tuple(handles.leaf(op, v) for v in op.axes)
    stage = handles.common_stage(op, axes)
    for value in op.axes:
        handles.plain_leaf(op, value)
    if len({a.reduce for a in axes}) > 1:
        refuse(
            op,
            stage,
            f"cannot fuse spatial with reduce axes of stage '{stage.name}': {listed(axes)}; fuse each kind by itself",
        )
    at = stage.leaves.index(axes[0])
    if stage.leaves[at : at + len(axes)] != list(axes):
        message = f"axes {listed(axes)} of stage '{stage.name}' are not adjacent in this order; reorder first"
        refuse(op, stage, message)
    fused = Axis(".".join(a.name for a in axes), stage, axes[0].reduce, ordered=any(a.ordered for a in axes))
    stage.leaves[at : at + len(axes)] = [fused]
    stage.relations.append(Fuse(axes, fused))
    handles.axes[op.fused] = fused


def _singleton(handles: Handles, op: SingletonOp) -> None:
    stage = handles.stage(op, op.stage)
    if isinstance(stage.compute, ExternOp):
        refuse(op, stage, f"extern '{stage.name}' runs as a whole: it takes set_scope, and no axis")
    axis = Axis("singleton", stage, False)
    stage.leaves.insert(len(stage.launched), axis)
    stage.relations.append(Singleton(axis))
    handles.axes[op.axis] = axis


def _reorder(handles: Handles, op: ReorderOp) -> None:
    axes = [handles.leaf(op, v) for v in op.axes]
    stage = handles.common_stage(op, axes)
    stage.order_op = op
    places, time = sorted(stage.leaves.index(a) for a in axes), [a for a in stage.leaves if a.ordered]
    for place, axis in zip(places, axes, strict=True):
        stage.leaves[place] = axis
    if [a for a in stage.leaves if a.ordered] != time:
        what = f"axes {listed(time)} of scan '{stage.name}' are time: its iterations run one after another"
        refuse(op, stage, f"{what}; keep the axes in this order", time[0])


def _annotate(handles: Handles, op: VectorizeOp | ParallelOp | UnrollOp) -> None:
    axis = handles.plain_leaf(op, op.axis)
    if not isinstance(op, UnrollOp):
        _check_not_time(op, axis)
    kind = {VectorizeOp: Kind.VECTORIZED, ParallelOp: Kind.PARALLEL, UnrollOp: Kind.UNROLLED}[type(op)]
    if axis.reduce and kind is not Kind.UNROLLED:
        refuse(
            op,
            axis.stage,
            f"axis '{axis}' of stage '{axis.stage.name}' is a reduction and cannot be {kind}: "
            "its iterations write the same element; rfactor makes it spatial",
            axis,
        )
    axis.kind, axis.annotation = kind, op
    axis.masked = isinstance(op, VectorizeOp) and op.masked is not None


def _check_not_time(op: Operation, axis: Axis) -> None:
    if axis.ordered:
        message = f"axis '{axis}' of scan '{axis.stage.name}' is time: its iterations run one after another"
        refuse(op, axis.stage, message, axis)


def _bind(handles: Handles, op: BindOp) -> None:
    axis = handles.plain_leaf(op, op.axis)
    _check_not_time(op, axis)
    stage, kind = axis.stage, Kind(op.thread.data)
    if axis.reduce and not kind.startswith("threadIdx"):
        refuse(
            op,
            stage,
            f"axis '{axis}' of stage '{stage.name}' is a reduction: {kind} does not share results; bind it to a "
            "threadIdx axis, or rfactor it",
            axis,
        )
    twice = next((a for a in stage.leaves if a.kind is kind and kind is not Kind.VIRTUAL), None)
    if twice is not None:
        message = f"axis '{twice}' of stage '{stage.name}' is bound to {kind} already; fuse the two, or bind another"
        refuse(op, stage, message, twice)
    axis.kind, axis.annotation = kind, op


def _pragma(handles: Handles, op: PragmaOp) -> None:
    handles.leaf(op, op.axis).pragmas[op.key.data] = handles.state.knobs.number(op.value)


def _tensorize(handles: Handles, op: TensorizeOp) -> None:
    axis, declaration = handles.plain_leaf(op, op.axis), declaration_of(op, op.intrinsic)
    if declaration.is_on_scalars:
        message = f"@{declaration.label} is an intrinsic on scalars, which bodies call by te.call_intrinsic"
        refuse(op, axis.stage, message, axis)
    twice = next((a for a in axis.stage.leaves if a.intrinsic is not None), None)
    if twice is not None:
        message = f"axis '{twice}' of stage '{axis.stage.name}' is tensorized already, with all inside of it"
        refuse(op, axis.stage, message, twice)
    axis.intrinsic, axis.annotation = declaration, op


AXIS_PRIMITIVES: dict[type[Operation], Callable[[Handles, Any], None]] = {
    SplitOp: _split,
    FuseOp: _fuse,
    SingletonOp: _singleton,
    ReorderOp: _reorder,
    VectorizeOp: _annotate,
    ParallelOp: _annotate,
    UnrollOp: _annotate,
    BindOp: _bind,
    PragmaOp: _pragma,
    TensorizeOp: _tensorize,
}
