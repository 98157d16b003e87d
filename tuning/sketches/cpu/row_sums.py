"""Reductions along what lies side by side in memory: lanes are parts of the sum, which are joined at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import var
from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import StageHandle
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.common.axes import joins_parts
from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.sketches.base import Decision, Limit, SketchRule
from tilework.tuning.sketches.facts import extent, powers, reads_by
from tilework.tuning.sketches.writer import SketchWriter

SPARE = 2
"""So many registers are left for what a step adds."""

VECTORS = (1, 2, 4, 8)
"""How many vectors of parts a row may have."""

ROWS = (1, 2, 4, 8)
"""How many rows may be summed at a time."""

MOST_ROWS = 64
"""So many rows a loop of the outermost level has at most."""


@dataclass(frozen=True)
class RowSums(Decision):
    """Factor the last axes of the reduction, `summed` by name, which together lie side by side, into lanes."""

    summed: tuple[str, ...]

    @property
    def levels(self) -> Sequence[str]:
        return ("rows",)

    def limits(self, kernel: KernelOp, target: Target) -> Sequence[Limit]:
        compute = kernel.compute(self.stage)
        assert compute is not None and isinstance(target, CpuTarget)
        lanes = target.lanes(bits_of(compute.result.type))
        return [Limit((f"{self.stage}.parts", f"{self.stage}.tile"), (target.vector_registers - SPARE) * lanes)]

    @property
    def parts(self) -> str:
        """The axis of the parts of a sum."""
        return f"{'.'.join(self.summed)}.inner"

    @property
    def steps(self) -> str:
        """The axis along which a part is summed."""
        return f"{'.'.join(self.summed)}.outer"

    def total(self, compute: ComputeOp) -> int:
        """How many terms lie side by side."""
        return prod(extent(compute, name) for name in self.summed)

    def __str__(self) -> str:
        return f"{self.stage} in lanes along {' '.join(self.summed)}"

    def rewrite(self, w: SketchWriter) -> None:
        compute = w.compute(self.stage)
        if self.stage not in w.attached:
            w.stages[f"{self.stage}.sum"] = w.s.cache_write(w.stage(self.stage), "local")
        inside = w.stages.get(f"{self.stage}.sum") or w.stage(self.stage)
        lanes = w.target.lanes(bits_of(compute.result.type))
        total = self.total(compute)
        choices = [lanes * count for count in VECTORS if total % (lanes * count) == 0] or [lanes]
        axis = w.s.fuse([inside.axes[name] for name in self.summed])
        _, parts = w.s.split(axis, w.knob(f"{self.stage}.parts", choices))
        spatial = [name for name, _ in compute.spatial]
        others = [name for name, _ in compute.reduction if name not in self.summed]
        axes = [*spatial, self.parts, *others, self.steps]
        factored, _ = w.s.rfactor(inside, parts, axes, -1)
        w.stages[f"{self.stage}.parts"] = factored
        w.stages[f"{self.stage}.parts.tile"] = w.s.cache_write(factored, "register", axes)
        joined = w.s.cache_write(inside, "register", [*spatial, self.parts])
        w.stages[f"{self.stage}.joined"] = joined

    def write(self, w: SketchWriter) -> None:
        compute = w.compute(self.stage)
        lanes = w.target.lanes(bits_of(compute.result.type))
        place = w.place(self.stage)
        inside = w.stages.get(f"{self.stage}.sum")
        if inside is not None:
            place = self._write_rows(w, place)
        inside = inside or w.stage(self.stage)
        assert place is not None
        self._write_parts(w, compute, place, lanes)
        self._write_joined(w, compute, inside, place, lanes)

    def _write_rows(self, w: SketchWriter, place: SSAValue | None) -> SSAValue:
        """The loops of an output; the one that blocks of rows are computed in."""
        final = w.stage(self.stage)
        *outer, last = [final.axes[name] for name, _ in w.compute(self.stage).spatial]
        size = extent(w.compute(self.stage), w.compute(self.stage).spatial[-1][0])
        block, rows = w.s.split(last, w.knob(f"{self.stage}.rows", powers(1, MOST_ROWS, size)), Tail.SHIFT)
        w.s.vectorize(rows)
        w.s.reorder([*outer, block, rows])
        around = w.s.fuse([*outer, block])
        if place is None:
            w.s.parallel(around)
        w.places[self.stage] = {"rows": around}
        return around

    def _write_parts(self, w: SketchWriter, compute: ComputeOp, place: SSAValue, lanes: int) -> None:
        parts, tile = w.stages[f"{self.stage}.parts"], w.stages[f"{self.stage}.parts.tile"]
        w.s.compute_at(parts, place, "local")
        *outer, last = [name for name, _ in compute.spatial]
        rows = w.knob(f"{self.stage}.tile", [count for count in ROWS if count <= extent(compute, last)] or [1])
        block, row = w.s.split(parts.axes[last], rows, Tail.PARTITION)
        lane = _vectors(w, parts.axes[self.parts], lanes, masked=False)
        w.s.reorder([*(parts.axes[name] for name in outer), block, row, *lane])
        w.s.unroll(row)
        w.s.compute_at(tile, block, "register")
        inner = _vectors(w, tile.axes[self.parts], lanes, masked=self.total(compute) % lanes != 0)
        spatial = [tile.axes[name] for name, _ in compute.spatial]
        others = [tile.axes[name] for name, _ in compute.reduction if name not in self.summed]
        w.s.reorder([*spatial[:-1], *others, tile.axes[self.steps], spatial[-1], *inner])
        w.s.unroll(spatial[-1])

    def _write_joined(
        self, w: SketchWriter, compute: ComputeOp, inside: StageHandle, place: SSAValue, lanes: int
    ) -> None:
        joined = w.stages[f"{self.stage}.joined"]
        w.s.compute_at(inside, place, "local")
        *outer, last = [name for name, _ in compute.spatial]
        block, row = w.s.split(inside.axes[last], min(lanes, extent(compute, last)), Tail.PARTITION)
        w.s.reorder([*(inside.axes[name] for name in outer), block, row])
        w.s.vectorize(row)
        w.s.compute_at(joined, block, "register")
        spatial = [joined.axes[name] for name, _ in compute.spatial]
        w.s.reorder([*spatial[:-1], joined.axes[self.parts], spatial[-1]])
        w.s.vectorize(spatial[-1])


def _vectors(w: SketchWriter, axis: SSAValue, lanes: int, masked: bool) -> list[SSAValue]:
    outer, inner = w.s.split(axis, lanes)
    w.s.unroll(outer)
    w.s.vectorize(inner, masked)
    return [outer, inner]


class ReductionFactoring(SketchRule):
    """Sum in lanes what lies side by side along the last axes of the reduction."""

    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        if not compute.reduction or not compute.spatial or not joins_parts(compute) or len(compute.results) > 1:
            return ()
        summed = _side_by_side(compute)
        return (RowSums(compute.stage.data, summed),) if summed else ()


def _side_by_side(compute: ComputeOp) -> tuple[str, ...]:
    """The last axes of the reduction that are the last indices, whole, of all that moves with them."""
    names = [name for name, _ in compute.reduction]
    for first in range(len(names)):
        axes = tuple(names[first:])
        moving = dict.fromkeys(read for axis in axes for read in reads_by(compute, axis))
        if moving and all(read.exprs[-len(axes) :] == tuple(map(var, axes)) for read in moving):
            return axes
    return ()
