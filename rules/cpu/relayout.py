"""Stages stored in another layout than their axes say, so that vectors read them in one piece.

In blocks, as the tensors around them are: between an input that is read at [n, c floordiv 16, y, x, c mod 16] and a
result made of [n, 16 * co + ci, y, x], a stage with axes (n, c, y, x) is stored as (n, co, y, x, ci); `graph.pack` and
`graph.unpack` leave such indices. In phases, where windows move by more than one: a stage that is read at [n, c, y,
2 * x + r] is stored as (n, c, y, xi, xo), even and odd elements apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilework.algebra.index_expr import Compound, Expr, var
from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.rules.common.axes import sums_windows
from tilework.rules.common.readers import is_needed_whole, readers_of
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget

FARTHEST = 4
"""How far windows may move for phases: as many pieces are read of each row of the source."""


@dataclass(frozen=True)
class Relayout:
    """The stage is stored with `axis` split by `size`; `order`: the names of the dimensions, outermost first."""

    stage: str
    axis: str
    size: int
    order: tuple[str, ...]

    @property
    def stored(self) -> str:
        """The name of the stage that fills the new layout."""
        return f"{self.stage}.global"


def relayout_stages(kernel: KernelOp, target: CpuTarget, reductions: bool) -> list[Relayout]:
    """Store reductions, or all others, as suits what reads them, or as what they read is stored.

    Of reductions readers come first, which decide; of others what they read.
    """
    found: list[Relayout] = []
    computes = [c for c in kernel.computes if bool(c.reduction) == reductions]
    for compute in reversed(computes) if reductions else computes:
        relayout = _relayout_of(compute, target)
        if relayout is not None:
            s = ScheduleBuilder(kernel)
            store_as(s, relayout)
            apply_dataflow(kernel, s.finish())
            found.append(relayout)
    return found


def store_as(s: ScheduleBuilder, relayout: Relayout) -> StageHandle:
    """Let a new stage fill the layout, and inline the old one, which reads it; the new one."""
    stage = s.stage(relayout.stage)
    return store_stage_as(s, stage, relayout, s.spatial_axes(relayout.stage))


def store_stage_as(s: ScheduleBuilder, stage: StageHandle, relayout: Relayout, spatial: Sequence[str]) -> StageHandle:
    """The same of a stage with these spatial axes that the schedule itself has made."""
    axis, leaves = relayout.axis, dict(stage.axes)
    leaves[_outer(axis)], leaves[_inner(axis)] = s.split(leaves.pop(axis), relayout.size)
    order = [*relayout.order, *(n for n in stage.axes if n not in spatial)]
    s.reorder([leaves[n] for n in order])
    stored = s.cache_write(stage, "global", order)
    s.compute_inline(s.stage_with_axes(relayout.stage, spatial))
    return stored


def copy_argument(s: ScheduleBuilder, number: int, reader: StageHandle, relayout: Relayout) -> StageHandle:
    """Let a stage read a copy of the kernel's argument `number`, with axes p0, p1, .., in the layout; what fills it."""
    names = [f"p{d}" for d in range(len(relayout.order) - 1)]
    return store_stage_as(s, s.cache_read(s.argument(number), "global", [reader], names), relayout, names)


def in_blocks(stage: str, axes: Sequence[str], axis: str, size: int) -> Relayout:
    """Blocks along one of these axes, the place in a block innermost."""
    return Relayout(stage, axis, size, (*(_outer(n) if n == axis else n for n in axes), _inner(axis)))


def _outer(axis: str) -> str:
    return f"{axis}.outer"


def _inner(axis: str) -> str:
    return f"{axis}.inner"


def _relayout_of(compute: ComputeOp, target: CpuTarget) -> Relayout | None:
    if len(compute.results) > 1 or is_needed_whole(compute):
        return None
    names, extents = [n for n, _ in compute.spatial], {n: e.constant for n, e in compute.spatial}
    for axis, size in (*_as_read(compute), *_as_it_reads(compute), *_as_summed(compute, target)):
        if (extents[axis] or 1) % size == 0:
            return in_blocks(compute.stage.data, names, axis, size)
    step = _step_of_readers(compute)
    if step > 1:
        order = (*names[:-1], _inner(names[-1]), _outer(names[-1]))
        return Relayout(compute.stage.data, names[-1], step, order)
    return None


def _step_of_readers(compute: ComputeOp) -> int:
    """How far apart a reduction reads elements of the last axis at neighbours of its own; 1 where that is too far."""
    if compute.reduction or not compute.spatial:
        return 1
    readers = [(reader, read) for reader, read in readers_of(compute) if reader.reduction and reader.spatial]
    steps = {read.exprs[-1].coefficient(reader.spatial[-1][0]) for reader, read in readers}
    [step, *others] = steps or {1}
    return step if not others and 1 < step <= FARTHEST else 1


def _as_read(compute: ComputeOp) -> Iterator[tuple[str, int]]:
    """The axes that readers take block by block, their last axis being the place in a block of so many."""
    for reader, read in readers_of(compute):
        lane, size = (reader.spatial[-1][0], reader.spatial[-1][1].constant) if reader.spatial else ("", None)
        for (axis, _), e in zip(compute.spatial[:-1], read.exprs, strict=False):
            if size is not None and size > 1 and _is_block_of(e, lane, size):
                yield axis, size


def _is_block_of(e: Expr, lane: str, size: int) -> bool:
    """Whether an index is `size` times another variable, and the lane."""
    others = [key for key in e.variables() if key != lane]
    return len(others) == 1 and e == size * var(others[0]) + var(lane)


def _as_it_reads(compute: ComputeOp) -> Iterator[tuple[str, int]]:
    """The axes along which the stage itself reads blocks: at [a floordiv 16, a mod 16].

    Not of a reduction: that computes what its readers want, whatever the layout of a weight.
    """
    spatial = set[str]() if compute.reduction else {n for n, _ in compute.spatial}
    for read in [op for op in compute.body.walk() if isinstance(op, ReadOp)]:
        for e in read.exprs:
            place = place_in_block(e)
            if place is not None and place[0] in spatial and var(place[0]) // place[1] in read.exprs:
                yield place


def _as_summed(compute: ComputeOp, target: CpuTarget) -> Iterator[tuple[str, int]]:
    """The axes that sums go along, if lanes go along none of the stage: its lines hold what steps read in turn."""
    readers = readers_of(compute)
    if compute.reduction:
        if sums_windows(compute):
            yield from _as_summed_behind(compute, target)
        return
    if not readers or not all(reader.reduction for reader, _ in readers):
        return
    for reader, read in readers:
        tile = choose_tile(reader, reads_of(reader), target)
        if tile is None or any(tile.vector in e.variables() for e in read.exprs):
            return
    for at, (axis, _) in enumerate(compute.spatial[:-1]):  # along the last one elements are side by side
        if all(read.exprs[at].as_var in dict(reader.reduction) for reader, read in readers):
            yield axis, LINE_BYTES * 8 // bits_of(compute.result.type)


def _as_summed_behind(compute: ComputeOp, target: CpuTarget) -> Iterator[tuple[str, int]]:
    """Such axes of the stage that takes all results one by one."""
    readers = {reader for reader, _ in readers_of(compute)}
    for reader in readers:
        own = tuple(var(name) for name, _ in reader.spatial)
        if len(readers) == 1 and all(read.exprs == own for _, read in readers_of(compute)):
            names = {theirs: name for (theirs, _), (name, _) in zip(reader.spatial, compute.spatial, strict=True)}
            yield from ((names[axis], size) for axis, size in _as_summed(reader, target))


def place_in_block(e: Expr) -> tuple[str, int] | None:
    """(a, 16) of an index that is a mod 16."""
    atom = e.terms[0][0] if len(e.terms) == 1 else None
    if not isinstance(atom, Compound) or atom.kind != "mod" or e != Expr(((atom, 1),), 0):
        return None
    axis, size = atom.args[0].as_var, atom.args[1].constant
    return (axis, size) if isinstance(axis, str) and size else None
