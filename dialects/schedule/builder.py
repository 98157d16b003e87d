"""Write a `schedule.sequence` in Python.

s = ScheduleBuilder(kernel)
relu = s.stage("relu")
outer, inner = s.split(relu.axes["j"], factor=16, tail=Tail.SHIFT)
s.vectorize(inner)
sequence = s.finish()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.dialects.schedule import (
    ArgumentOp,
    BindOp,
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    ComputeRootOp,
    CreateGroupOp,
    DecomposeReductionOp,
    DoubleBufferOp,
    EnvThreadsOp,
    FuseOp,
    Number,
    PadToMultipleOp,
    ParallelOp,
    PragmaOp,
    PrefetchOp,
    ReindexOp,
    ReorderOp,
    ReverseComputeAtOp,
    RFactorOp,
    SequenceOp,
    SetScopeOp,
    SetStorePredicateOp,
    SingletonOp,
    SplitOp,
    StageOp,
    StorageAlignOp,
    Tail,
    TensorizeOp,
    UnrollOp,
    VectorizeOp,
)
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ScanOp

Op = TypeVar("Op", bound=Operation)


@dataclass(frozen=True)
class StageHandle:
    """A stage and its axes by name, the spatial ones first."""

    handle: SSAValue
    axes: dict[str, SSAValue]


class ScheduleBuilder:
    """Appends primitives to the schedule of one kernel."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.block = Block()

    @cached_property
    def _stages(self) -> Mapping[str, ComputeOp | ScanOp | ExternOp]:
        stages = (op for op in self.kernel.body.block.ops if isinstance(op, ComputeOp | ScanOp | ExternOp))
        return {op.stage.data: op for op in stages}

    # -- handles

    def stage(self, name: str) -> StageHandle:
        """The handle of a compute, a scan or an extern."""
        compute = self._stages[name]
        return self.stage_with_axes(name, [n for n, _ in (*compute.spatial, *compute.reduction)])

    def spatial_axes(self, name: str) -> list[str]:
        """The names of the axes of a stage's tensor."""
        return [n for n, _ in self._stages[name].spatial]

    def stage_with_axes(self, name: str, axes: Sequence[str]) -> StageHandle:
        """The handle of a stage that a cache or a factored reduction leaves behind, with these axes."""
        op = self._add(StageOp(name, axes))
        return StageHandle(op.handle, dict(zip(axes, op.axes, strict=True)))

    def argument(self, index: int) -> SSAValue:
        """The handle of an argument of the kernel."""
        return self._add(ArgumentOp(index)).handle

    # -- what rewrites te

    def cache_write(self, stage: StageHandle, scope: str, axes: Sequence[str] | None = None) -> StageHandle:
        """Move the computation into a buffer of that scope; the new stage.

        Its axes are the stage's own, or those named where the stage's axes were split, fused or reordered before.
        """
        names = list(stage.axes) if axes is None else list(axes)
        op = self._add(CacheWriteOp(stage.handle, scope, names))
        return StageHandle(op.handle, dict(zip(names, op.axes, strict=True)))

    def cache_read(
        self, source: SSAValue, scope: str, readers: Sequence[StageHandle], axes: Sequence[str]
    ) -> StageHandle:
        """Copy a stage (its handle) or an argument into a buffer of that scope for the readers; the new stage."""
        op = self._add(CacheReadOp(source, scope, [r.handle for r in readers], axes))
        return StageHandle(op.handle, dict(zip(axes, op.axes, strict=True)))

    def reindex(self, source: SSAValue, scope: str, reader: StageHandle, axes: Sequence[str]) -> StageHandle:
        """Copy what the reader reads of a stage (its handle) or an argument; the new stage.

        Its axes are those of the reader that say which element is read, in this order.
        """
        op = self._add(ReindexOp(source, scope, reader.handle, axes))
        return StageHandle(op.handle, dict(zip(axes, op.axes, strict=True)))

    def rfactor(
        self, stage: StageHandle, axis: SSAValue, axes: Sequence[str], factor_axis: int = 0
    ) -> tuple[StageHandle, SSAValue]:
        """Make a reduce axis a dimension of a new stage; that stage, and the reduce axis that the old one has left."""
        op = self._add(RFactorOp(stage.handle, axis, factor_axis, axes))
        return StageHandle(op.handle, dict(zip(axes, op.axes, strict=True))), op.rest

    def compute_inline(self, stage: StageHandle) -> None:
        """Put the stage's expression in place of its reads."""
        self._add(ComputeInlineOp(stage.handle))

    def pad_to_multiple(self, axis: SSAValue, factor: Number) -> None:
        """Lengthen an axis to a multiple of the factor."""
        self._add(PadToMultipleOp(axis, factor))

    # -- axes

    def split(
        self,
        axis: SSAValue,
        factor: Number | None = None,
        tail: Tail = Tail.GUARD,
        nparts: Number | None = None,
    ) -> tuple[SSAValue, SSAValue]:
        """An outer axis and an inner one: of extent `factor`, or with `nparts` outer iterations."""
        op = self._add(SplitOp(axis, factor, nparts, tail))
        return op.outer, op.inner

    def fuse(self, axes: Sequence[SSAValue]) -> SSAValue:
        """Adjacent axes as one; a single axis as it is."""
        return axes[0] if len(axes) == 1 else self._add(FuseOp(axes)).fused

    def singleton(self, stage: StageHandle) -> SSAValue:
        """A new outermost axis of extent 1."""
        return self._add(SingletonOp(stage.handle)).axis

    def reorder(self, axes: Sequence[SSAValue]) -> None:
        """The axes in this order, outermost first."""
        self._add(ReorderOp(axes))

    def vectorize(self, axis: SSAValue, masked: bool = False) -> None:
        """The axis becomes vector lanes, `masked` ones where some load and others do not."""
        self._add(VectorizeOp(axis, masked))

    def parallel(self, axis: SSAValue) -> None:
        """The axis runs on several threads."""
        self._add(ParallelOp(axis))

    def unroll(self, axis: SSAValue) -> None:
        """The axis becomes straight-line code."""
        self._add(UnrollOp(axis))

    def bind(self, axis: SSAValue, thread: str) -> None:
        """Each iteration is a thread of the axis `blockIdx.x`, ..., `threadIdx.x`, ... or `vthread`."""
        self._add(BindOp(axis, thread))

    def pragma(self, axis: SSAValue, key: str, value: Number) -> None:
        """A request about the axis's loop; the keys are `dialects.schedule.PRAGMAS`."""
        self._add(PragmaOp(axis, key, value))

    def tensorize(self, axis: SSAValue, intrinsic: str) -> None:
        """Everything from the axis inwards is one call of the intrinsic."""
        self._add(TensorizeOp(axis, intrinsic))

    # -- places

    def compute_at(self, stage: StageHandle, axis: SSAValue, scope: str | None = None) -> None:
        """Compute the stage in that axis of its consumer, in a buffer of that scope, if one is given."""
        self._add(ComputeAtOp(stage.handle, axis))
        if scope is not None:
            self.set_scope(stage, scope)

    def group_compute_at(self, group: SSAValue, axis: SSAValue) -> None:
        """Compute a group as a whole in that axis of its consumer."""
        self._add(ComputeAtOp(group, axis))

    def compute_root(self, stage: StageHandle) -> None:
        """Compute the stage in nests of its own."""
        self._add(ComputeRootOp(stage.handle))

    def reverse_compute_at(self, stage: StageHandle, axis: SSAValue) -> None:
        """Compute an element-wise consumer in that axis of its producer."""
        self._add(ReverseComputeAtOp(stage.handle, axis))

    def decompose_reduction(self, stage: StageHandle, axis: SSAValue) -> None:
        """Set the elements to the reducer's identity right before that axis."""
        self._add(DecomposeReductionOp(stage.handle, axis))

    def create_group(
        self, outputs: Sequence[StageHandle], inputs: Sequence[SSAValue], include_inputs: bool = False
    ) -> SSAValue:
        """The stages from the inputs (handles of stages or arguments) to the outputs as one group; its handle."""
        return self._add(CreateGroupOp([o.handle for o in outputs], inputs, include_inputs)).group

    def set_store_predicate(self, stage: StageHandle, axis: SSAValue, thread: int) -> None:
        """Let only that one of the threads store the result that a reduce axis is bound to."""
        self._add(SetStorePredicateOp(stage.handle, axis, thread))

    def env_threads(self, stage: StageHandle, thread: str, extent: Number) -> None:
        """Launch so many threads around a scan."""
        self._add(EnvThreadsOp(stage.handle, thread, extent))

    # -- storage

    def set_scope(self, stage: StageHandle, scope: str) -> None:
        """Where the stage's buffer lives."""
        self._add(SetScopeOp(stage.handle, scope))

    def storage_align(self, axis: SSAValue, factor: Number, offset: Number) -> None:
        """The stride of the axis is a multiple of the factor plus the offset."""
        self._add(StorageAlignOp(axis, factor, offset))

    def double_buffer(self, stage: StageHandle) -> None:
        """Fill the buffer for the next iteration while this one uses it."""
        self._add(DoubleBufferOp(stage.handle))

    def prefetch(self, source: SSAValue, axis: SSAValue, offset: Number, spread: bool = False) -> None:
        """Ask the cache for what the axis reads of a stage (its handle) or argument `offset` iterations later."""
        self._add(PrefetchOp(source, axis, offset, spread))

    # -- the whole

    def finish(self) -> SequenceOp:
        """The sequence, to be inserted behind the kernel."""
        return SequenceOp(self.kernel.sym_name.data, Region(self.block))

    def _add(self, op: Op) -> Op:
        self.block.add_op(op)
        return op
