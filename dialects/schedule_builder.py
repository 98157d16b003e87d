"""Write a `schedule.sequence` in Python.

s = ScheduleBuilder(kernel)
relu = s.stage("relu")
outer, inner = s.split(relu.axes["j"], factor=16, tail=Tail.SHIFT)
s.vectorize(inner)
sequence = s.finish()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.dialects.schedule import (
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    FuseOp,
    ParallelOp,
    ReorderOp,
    SequenceOp,
    SetScopeOp,
    SplitOp,
    StageOp,
    Tail,
    UnrollOp,
    VectorizeOp,
)
from tilework.dialects.te import KernelOp

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

    def stage(self, name: str) -> StageHandle:
        """The handle of a compute."""
        compute = self.kernel.compute(name)
        assert compute is not None, f"no stage {name}"
        names = [n for n, _ in (*compute.spatial, *compute.reduction)]
        op = self._add(StageOp(name, names))
        return StageHandle(op.handle, dict(zip(names, op.axes, strict=True)))

    def cache_write(self, stage: StageHandle, scope: str) -> StageHandle:
        """Move the computation into a buffer of that scope; the new stage."""
        op = self._add(CacheWriteOp(stage.handle, scope, list(stage.axes)))
        return StageHandle(op.handle, dict(zip(stage.axes, op.axes, strict=True)))

    def split(self, axis: SSAValue, factor: int, tail: Tail = Tail.GUARD) -> tuple[SSAValue, SSAValue]:
        """An outer axis and an inner one of extent `factor`."""
        op = self._add(SplitOp(axis, factor, tail=tail))
        return op.outer, op.inner

    def fuse(self, axes: Sequence[SSAValue]) -> SSAValue:
        """Adjacent axes as one; a single axis as it is."""
        return axes[0] if len(axes) == 1 else self._add(FuseOp(axes)).fused

    def reorder(self, axes: Sequence[SSAValue]) -> None:
        """The axes in this order, outermost first."""
        self._add(ReorderOp(axes))

    def compute_at(self, stage: StageHandle, axis: SSAValue, scope: str) -> None:
        """Compute the stage in that axis of its consumer, in a buffer of that scope."""
        self._add(ComputeAtOp(stage.handle, axis))
        self._add(SetScopeOp(stage.handle, scope))

    def compute_inline(self, stage: StageHandle) -> None:
        """Put the stage's expression in place of its reads."""
        self._add(ComputeInlineOp(stage.handle))

    def vectorize(self, axis: SSAValue) -> None:
        """The axis becomes vector lanes."""
        self._add(VectorizeOp(axis))

    def parallel(self, axis: SSAValue) -> None:
        """The axis runs on several threads."""
        self._add(ParallelOp(axis))

    def unroll(self, axis: SSAValue) -> None:
        """The axis becomes straight-line code."""
        self._add(UnrollOp(axis))

    def finish(self) -> SequenceOp:
        """The sequence, to be inserted behind the kernel."""
        return SequenceOp(self.kernel.sym_name.data, Region(self.block))

    def _add(self, op: Op) -> Op:
        self.block.add_op(op)
        return op
