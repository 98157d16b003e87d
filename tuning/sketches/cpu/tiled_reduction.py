"""Multi-level tiles: a reduction computed in register tiles of the stage that takes its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import StageHandle
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.rules.common.axes import sums_windows
from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.sketches.base import Decision, Limit, SketchRule
from tilework.tuning.sketches.facts import (
    argument_of,
    consumers,
    extent,
    follows,
    is_contiguous,
    is_output,
    long_axes,
    powers,
    reads_by,
)
from tilework.tuning.sketches.writer import SketchWriter

REGISTERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
"""How many elements along an axis a tile in registers may have."""

SPARE = 2
"""So many registers are left for what a step multiplies."""

VECTORS = (1, 2, 3, 4)
"""How many vectors it may have along the axis of the lanes."""

MOST_TILES = 128
"""How many such tiles along an axis may be next to each other in a block."""

LONGEST_WINDOW = 7
"""A window of at most so many elements is unrolled where nothing else gives the units enough to do."""


@dataclass(frozen=True)
class TiledReduction(Decision):
    """Compute the stage `reduction` in a register tile of `stage`, which is the same stage where that is an output.

    order: the axes of the loops over blocks and over tiles, outermost first. vector: the axis of the lanes. packed:
    which argument is copied, block by block, so that lanes are neighbours; None for no copy.
    """

    reduction: str
    order: tuple[str, ...]
    vector: str
    packed: int | None
    unrolled: bool

    @property
    def covers(self) -> frozenset[str]:
        return frozenset({self.stage, self.reduction})

    @property
    def levels(self) -> Sequence[str]:
        return ("block", "tile")

    def fits(self, is_inside: bool) -> bool:
        return not is_inside

    def limits(self, kernel: KernelOp, target: Target) -> Sequence[Limit]:
        compute = kernel.compute(self.reduction)
        assert compute is not None and isinstance(target, CpuTarget)
        tiles = [f"{self.stage}.{name}.tile" for name in self.order if name != self.vector]
        lanes = _lanes(compute, target)
        return [Limit((*tiles, f"{self.stage}.{self.vector}.lanes"), (target.vector_registers - SPARE) * lanes)]

    def __str__(self) -> str:
        copy = "" if self.packed is None else f", argument {self.packed} packed"
        return f"{self.reduction} in tiles, lanes along {self.vector}, order {' '.join(self.order)}{copy}"

    def rewrite(self, w: SketchWriter) -> None:
        if self.reduction == self.stage:
            w.stages["tile"] = w.s.cache_write(w.stage(self.stage), "local")

    def write(self, w: SketchWriter) -> None:
        final, inside = w.stage(self.stage), w.stages.get("tile") or w.stage(self.reduction)
        lanes = _lanes(w.compute(self.reduction), w.target)
        blocks: dict[str, SSAValue] = {}
        tiles: dict[str, SSAValue] = {}
        elements: list[SSAValue] = []
        vectors: list[SSAValue] = []
        for name, axis in final.axes.items():
            if name not in self.order:
                continue
            outer, inner = self._split_registers(w, name, axis, lanes)
            (vectors if name == self.vector else elements).append(inner)
            count = -(-extent(w.compute(self.stage), name) // (lanes if name == self.vector else 1))
            choices = powers(1, MOST_TILES, count)
            blocks[name], tiles[name] = w.s.split(outer, w.knob(f"{self.stage}.{name}.block", choices))
        single = [axis for name, axis in final.axes.items() if name not in self.order and name in _spatial(w, self)]
        lane = self._lanes_of(w, vectors[0], lanes)
        around = [*single, *(blocks[name] for name in self.order)]
        w.s.reorder([*around, *(tiles[name] for name in self.order), *elements, *lane])
        block = w.s.fuse(around)
        w.s.parallel(block)
        for axis in elements:
            w.s.unroll(axis)
        innermost = tiles[self.order[-1]]
        w.places[self.stage] = {"block": block, "tile": innermost}
        w.s.compute_at(inside, innermost, "register")
        self._write_inside(w, inside, lanes)
        if self.packed is not None:
            self._pack(w, inside, tiles[self.order[0]])

    def _split_registers(self, w: SketchWriter, name: str, axis: SSAValue, lanes: int) -> tuple[SSAValue, SSAValue]:
        size = extent(w.compute(self.stage), name)
        if name == self.vector:
            choices = [lanes * count for count in VECTORS if lanes * (count - 1) < size]
            return w.s.split(axis, w.knob(f"{self.stage}.{name}.lanes", choices), Tail.SHIFT)
        choices = [count for count in REGISTERS if count <= size]
        return w.s.split(axis, w.knob(f"{self.stage}.{name}.tile", choices), Tail.PARTITION)

    def _lanes_of(self, w: SketchWriter, axis: SSAValue, lanes: int) -> list[SSAValue]:
        """The vectors along an axis, unrolled, and their lanes."""
        outer, inner = w.s.split(axis, lanes)
        w.s.unroll(outer)
        w.s.vectorize(inner)
        return [outer, inner]

    def _write_inside(self, w: SketchWriter, inside: StageHandle, lanes: int) -> None:
        compute = w.compute(self.reduction)
        summed = [inside.axes[name] for name, _ in compute.reduction]
        spatial = [name for name, _ in compute.spatial]
        vector = spatial[[name for name, _ in w.compute(self.stage).spatial].index(self.vector)]
        lane = self._lanes_of(w, inside.axes[vector], lanes)
        others = [inside.axes[name] for name in spatial if name != vector]
        w.s.reorder([*summed, *others, *lane])
        for axis in others:
            w.s.unroll(axis)
        if self.unrolled:
            for name, _ in compute.reduction:
                if extent(compute, name) <= LONGEST_WINDOW:
                    w.s.unroll(inside.axes[name])

    def _pack(self, w: SketchWriter, inside: StageHandle, place: SSAValue) -> None:
        compute = w.compute(self.reduction)
        vector = _own_axis(w, self)
        [read] = [r for r in reads_by(compute, vector) if argument_of(r) == self.packed]
        axes = [f"p{i}" for i in range(len(read.exprs))]
        copy = w.s.cache_read(w.s.argument(self.packed or 0), "local", [inside], axes)
        w.s.compute_at(copy, place)
        moving = next(i for i, e in enumerate(read.exprs) if vector in e.variables())
        lane = copy.axes[axes[moving]]
        w.s.reorder([*(axis for axis in copy.axes.values() if axis is not lane), lane])
        w.s.vectorize(lane)


def _spatial(w: SketchWriter, decision: TiledReduction) -> set[str]:
    return {name for name, _ in w.compute(decision.stage).spatial}


def _own_axis(w: SketchWriter, decision: TiledReduction) -> str:
    """The axis of the reduction that is the axis of the lanes of the stage around it."""
    at = [name for name, _ in w.compute(decision.stage).spatial].index(decision.vector)
    return w.compute(decision.reduction).spatial[at][0]


def _lanes(compute: ComputeOp, target: Target) -> int:
    return target.lanes(bits_of(compute.result.type))


class MultiLevelTiling(SketchRule):
    """Tile a reduction, inside the stage that alone reads it element by element, or, as an output, inside its copy."""

    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        reduction = _reduction_for(compute, kernel)
        if reduction is None or not long_axes(compute):
            return ()
        return tuple(_tilings(compute, reduction))


def _reduction_for(compute: ComputeOp, kernel: KernelOp) -> ComputeOp | None:
    """The reduction that a stage takes the results of: itself, or the one that it follows."""
    if compute.reduction:
        return compute if is_output(compute) else None
    found = [c for c in kernel.computes if c.reduction and follows(compute, c)]
    alone = [c for c in found if consumers(c) == [compute] and not is_output(c)]
    return alone[0] if len(alone) == 1 else None


def _tilings(compute: ComputeOp, reduction: ComputeOp) -> Iterator[TiledReduction]:
    own = {name: axis for name, axis in _axes(compute, reduction) if axis in _tiled_axes(reduction)}
    axes = list(own)
    windows = sums_windows(reduction)
    for vector in _vectors(reduction, axes, own):
        others = [axis for axis in axes if axis != vector]
        orders = dict.fromkeys([(vector, *others), (*others, vector)])
        for order in orders:
            for packed in _packings(reduction, own[vector], order[0] == vector and len(axes) > 1):
                yield TiledReduction(compute.stage.data, reduction.stage.data, order, vector, packed, windows)


def _axes(compute: ComputeOp, reduction: ComputeOp) -> list[tuple[str, str]]:
    """The axes of a stage, and those of the reduction that it follows."""
    return [(name, axis) for (name, _), (axis, _) in zip(compute.spatial, reduction.spatial, strict=True)]


def _tiled_axes(reduction: ComputeOp) -> list[str]:
    """The axes of which a tile may have several elements: some read is the same for all of them.

    Where there is no such axis, a tile brings no reuse, but more to do at a time: the last two are taken then.
    """
    reads = list(reduction.reads)
    axes = long_axes(reduction)
    shared = [axis for axis in axes if len(reads_by(reduction, axis)) < len(reads)]
    return shared or axes[-2:]


def _vectors(reduction: ComputeOp, axes: Sequence[str], own: dict[str, str]) -> list[str]:
    """The last axis, and others along which everything that is read lies side by side."""
    good = [a for a in axes[:-1] if all(is_contiguous(r, own[a]) for r in reads_by(reduction, own[a]))]
    last = axes[-1]
    scattered = [r for r in reads_by(reduction, own[last]) if not is_contiguous(r, own[last])]
    others = [a for a in axes[:-1] if a not in good] if scattered and not good else []
    return [last, *good, *others[-1:]]


def _packings(reduction: ComputeOp, vector: str, is_outside: bool) -> list[int | None]:
    """Which arguments may be copied: those that move with the lanes, and with no other axis of the result."""
    found: list[int | None] = [None]
    for read in reads_by(reduction, vector) if is_outside else ():
        argument = argument_of(read)
        if argument is not None and _reads_once(reduction, read) and not _moves(reduction, read, vector):
            found.append(argument)
    return found


def _reads_once(reduction: ComputeOp, read: ReadOp) -> bool:
    return [r.tensor for r in reduction.reads].count(read.tensor) == 1


def _moves(reduction: ComputeOp, read: ReadOp, vector: str) -> bool:
    """Whether the place of a read depends on an axis of several elements besides that of the lanes."""
    others = {name for name in _tiled_axes(reduction) if name != vector}
    return any(others.intersection(e.variables()) for e in read.exprs)
