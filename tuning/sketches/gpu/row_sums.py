"""Reductions that share nothing: one thread sums up an element, or all threads of a block together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.common.axes import may_be_shared
from tilework.targets import Target
from tilework.tuning.sketches.base import Decision, SketchRule
from tilework.tuning.sketches.gpu.rows import deal_out_rows
from tilework.tuning.sketches.gpu.threads import deal_out, threads_of
from tilework.tuning.sketches.writer import SketchWriter


@dataclass(frozen=True)
class SumInThread(Decision):
    """Each thread makes sums by itself; at a row of what reads it, all threads make the same one."""

    def __str__(self) -> str:
        return f"{self.stage} summed in a thread"

    def rewrite(self, w: SketchWriter) -> None:
        if self.stage not in w.attached:
            w.stages[f"{self.stage}.sum"] = w.s.cache_write(w.stage(self.stage), "local")

    def write(self, w: SketchWriter) -> None:
        place, stage = w.place(self.stage), w.stage(self.stage)
        if place is not None:
            w.s.compute_at(stage, place, "local")
            return
        spatial = [stage.axes[name] for name, _ in w.compute(self.stage).spatial]
        thread = deal_out(w, self.stage, spatial or [w.s.singleton(stage)])
        w.s.compute_at(w.stages[f"{self.stage}.sum"], thread, "local")


@dataclass(frozen=True)
class SumTogether(Decision):
    """The threads of a block sum up an element together: each by itself at first, then in a tree."""

    def __str__(self) -> str:
        return f"{self.stage} summed by threads together"

    def rewrite(self, w: SketchWriter) -> None:
        if self.stage not in w.attached:
            w.stages[f"{self.stage}.sum"] = w.s.cache_write(w.stage(self.stage), "local")

    def write(self, w: SketchWriter) -> None:
        compute, place = w.compute(self.stage), w.place(self.stage)
        sums = w.stages.get(f"{self.stage}.sum") or w.stage(self.stage)
        if place is None:
            stage = w.stage(self.stage)
            rows = [stage.axes[name] for name, _ in compute.spatial]
            place = deal_out_rows(w, self.stage, rows, [])
        w.s.compute_at(sums, place, "local")
        terms = w.s.fuse([sums.axes[name] for name, _ in compute.reduction])
        turn, thread = w.s.split(terms, threads_of(w, self.stage))
        w.s.reorder([*(sums.axes[name] for name, _ in compute.spatial), thread, turn])
        w.s.bind(thread, "threadIdx.x")


class RowSums(SketchRule):
    """Sum up in a thread, and where parts may be summed up by themselves also by threads together."""

    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        if not compute.reduction or len(compute.results) > 1:
            return ()
        name = compute.stage.data
        together = [SumTogether(name)] if may_be_shared(compute) else []
        return (*together, SumInThread(name))
