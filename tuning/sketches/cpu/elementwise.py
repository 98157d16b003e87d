"""Stages without a reduction: vectors along the last axis, blocks along another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule import Tail
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.targets import Target
from tilework.tuning.sketches.base import Decision, SketchRule
from tilework.tuning.sketches.facts import extent, is_contiguous, long_axes, powers, reads_by
from tilework.tuning.sketches.writer import SketchWriter

VECTORS = (1, 2, 4, 8)
"""How many vectors a step of the innermost loop may take."""

MOST_ROWS = 64
"""How many elements along its axis a block may have."""


@dataclass(frozen=True)
class InBlocks(Decision):
    """Run in blocks of rows along the axis `rows`, if there is one, with lanes along the last axis.

    crossed: whether the loop over blocks is inside the one over the last axis, as suits what is read across.
    """

    lanes: str
    rows: str | None
    crossed: bool

    @property
    def levels(self) -> Sequence[str]:
        return ("rows",) if not self.crossed else ()

    def __str__(self) -> str:
        return f"{self.stage} in blocks{' across' if self.crossed else ''} of {self.rows or self.lanes}"

    def rewrite(self, w: SketchWriter) -> None:
        """Nothing: no stage is added."""

    def write(self, w: SketchWriter) -> None:
        compute, stage = w.compute(self.stage), w.stage(self.stage)
        lanes = w.target.lanes(bits_of(compute.result.type))
        size = extent(compute, self.lanes)
        choices = [lanes * count for count in VECTORS if lanes * (count - 1) < size]
        outer = [stage.axes[n] for n, _ in compute.spatial if n not in (self.lanes, self.rows)]
        step, lane = w.s.split(stage.axes[self.lanes], w.knob(f"{self.stage}.lanes", choices), Tail.PARTITION)
        w.s.vectorize(lane)
        if self.rows is None:
            loops, around = [step, lane], [*outer, step]
        else:
            limit = powers(1, MOST_ROWS, extent(compute, self.rows))
            block, row = w.s.split(stage.axes[self.rows], w.knob(f"{self.stage}.rows", limit), Tail.SHIFT)
            loops = [step, block, row, lane] if self.crossed else [block, row, step, lane]
            around = [*outer, loops[0]]
        w.s.reorder([*outer, *loops])
        place = w.place(self.stage)
        if place is not None:
            w.places[self.stage] = {"rows": loops[0]}
            w.s.compute_at(stage, place, "local")
            return
        fused = w.s.fuse(around)
        w.s.parallel(fused)
        w.places[self.stage] = {"rows": fused}


class Elementwise(SketchRule):
    """Run in blocks of rows; where something is read across, also in blocks of columns."""

    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        return () if compute.reduction or not compute.spatial else tuple(_ways(compute))


def _ways(compute: ComputeOp) -> Iterator[InBlocks]:
    name = compute.stage.data
    axes = long_axes(compute) or [compute.spatial[-1][0]]
    *others, last = axes
    if not others:
        yield InBlocks(name, last, None, crossed=False)
        return
    across = [r for r in reads_by(compute, last) if not is_contiguous(r, last)]
    beside = [a for a in others if any(is_contiguous(r, a) for r in across)]
    yield InBlocks(name, last, beside[0] if beside else others[-1], crossed=False)
    if across:
        yield InBlocks(name, last, beside[0] if beside else others[-1], crossed=True)
