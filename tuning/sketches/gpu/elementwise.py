"""Stages without a reduction: each thread computes a few elements, or the threads of a block share rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilework.dialects.te import ComputeOp, KernelOp
from tilework.targets import Target
from tilework.tuning.sketches.base import Decision, SketchRule
from tilework.tuning.sketches.facts import argument_of, extent, is_contiguous, is_output, long_axes, reads_by
from tilework.tuning.sketches.gpu.rows import deal_out_rows
from tilework.tuning.sketches.gpu.threads import deal_out, threads_of
from tilework.tuning.sketches.writer import SketchWriter


@dataclass(frozen=True)
class InThreads(Decision):
    """Deal elements out to threads, neighbours along the last of the axes `order` to neighbours."""

    order: tuple[str, ...]

    def fits(self, is_inside: bool) -> bool:
        return not is_inside

    def __str__(self) -> str:
        return f"{self.stage} in threads along {' '.join(self.order)}"

    def rewrite(self, w: SketchWriter) -> None:
        """Nothing: no stage is added."""

    def write(self, w: SketchWriter) -> None:
        stage = w.stage(self.stage)
        axes = [stage.axes[name] for name in self.order]
        if axes != [*stage.axes.values()]:
            w.s.reorder(axes)
        deal_out(w, self.stage, axes)


@dataclass(frozen=True)
class InRows(Decision):
    """Deal rows, along the last axis, out to blocks; the threads of a block go through a row side by side."""

    @property
    def levels(self) -> Sequence[str]:
        return ("row",)

    def fits(self, is_inside: bool) -> bool:
        return not is_inside

    def __str__(self) -> str:
        return f"{self.stage} in rows"

    def rewrite(self, w: SketchWriter) -> None:
        """Nothing: no stage is added."""

    def write(self, w: SketchWriter) -> None:
        *rows, column = [w.stage(self.stage).axes[name] for name, _ in w.compute(self.stage).spatial]
        w.places[self.stage] = {"row": deal_out_rows(w, self.stage, rows, [column])}


@dataclass(frozen=True)
class PartOfRow(Decision):
    """Compute what a row needs by all of its threads, into shared memory, where each reads what others made."""

    def fits(self, is_inside: bool) -> bool:
        return is_inside

    def __str__(self) -> str:
        return f"{self.stage} in shared memory"

    def rewrite(self, w: SketchWriter) -> None:
        """Nothing: no stage is added."""

    def write(self, w: SketchWriter) -> None:
        stage, place = w.stage(self.stage), w.place(self.stage)
        assert place is not None
        w.s.compute_at(stage, place, "shared")
        _, thread = w.s.split(w.s.fuse([*stage.axes.values()]), threads_of(w, self.stage))
        w.s.bind(thread, "threadIdx.x")


class Elementwise(SketchRule):
    """Run in threads; where something is read across, with threads along another axis, too; or row by row."""

    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        return () if compute.reduction or not compute.spatial else tuple(_ways(compute))


def _ways(compute: ComputeOp) -> Iterator[Decision]:
    name = compute.stage.data
    order = tuple(axis for axis, _ in compute.spatial)
    last = order[-1]
    if len(order) > 1 and extent(compute, last) > 1 and _reads_stages(compute):
        yield InRows(name)
    if not is_output(compute):
        yield PartOfRow(name)
    yield InThreads(name, order)
    across = [read for read in reads_by(compute, last) if not is_contiguous(read, last)]
    for axis in long_axes(compute):
        if axis != last and any(is_contiguous(read, axis) for read in across):
            yield InThreads(name, (*(other for other in order if other != axis), axis))


def _reads_stages(compute: ComputeOp) -> bool:
    """Whether it reads stages of the kernel, which may be computed in its rows."""
    return any(argument_of(read) is None for read in compute.reads)
