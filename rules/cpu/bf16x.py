"""The rule for products in numbers of bfloat16: numbers of rows, tiles of their products, and what is behind these.

Either the numbers of all rows come first, and the outermost loop runs over outputs, whose weights are read once; or it
runs over blocks of rows, each of which does everything.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import ceildiv, const
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.rules.common.axes import axes_of
from tilework.rules.common.fast_products import sizes_of, vectors_and_lanes
from tilework.rules.cpu.bf16x_form import COLUMNS, ROWS, Bf16xForm, Place, bf16x_form, cycles_alone
from tilework.rules.cpu.costs import elementwise_cycles, memory_cycles
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.parallel import Loop, parallel_prefix
from tilework.rules.cpu.reads import reads_of
from tilework.targets.cpu.target import CpuTarget

SCOPE = "amx"
"""The scope of tiles of sums."""

MULTIPLY, STORE = "amx.tile_mulf", "amx.tile_store"


class Bf16x(ScheduleRule[CpuTarget]):
    """For known numbers of points and outputs that fill a tile's columns, on machines that multiply tiles."""

    BENEFIT: ClassVar[int] = 1

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> Bf16xPlan | None:
        form = bf16x_form(kernel, target)
        return form and Bf16xPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class Bf16xPlan(Plan[CpuTarget]):
    """How rows are taken in blocks."""

    form: Bf16xForm

    @property
    def cycles(self) -> float:
        multiplying = cycles_alone(self.form, self.target)
        fetching = memory_cycles(self.kernel, self.parameters, self.target)
        return overlapped(multiplying, fetching, self.target) + elementwise_cycles(self.form.final, self.target)

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        _Writer(s, self.form, self.target).write()


class _Writer:
    """Schedules the final stage first: the others are computed inside it."""

    def __init__(self, s: ScheduleBuilder, form: Bf16xForm, target: CpuTarget):
        self.s = s
        self.form = form
        self.target = target
        self.work = [axes_of(form.product)]

    def write(self) -> None:
        """Schedule every stage."""
        around_data, around_product = self.final()
        self.data(around_data)
        self.product(around_product)

    def final(self) -> tuple[SSAValue | None, SSAValue]:
        """The loops to compute numbers in, if not in front of all else, and products."""
        s, form, blocks = self.s, self.form, self.form.blocks
        axes = list(s.stage(form.final.stage.data).axes.values())
        first = form.place.axis(len(axes))
        outputs, inside = axes.pop(first), axes.pop() if form.place is Place.IN_BLOCKS else None
        if first < len(axes):
            s.reorder([*axes, outputs, *filter(None, [inside])])  # points of one output follow each other
            axes.insert(first, outputs)
        images = [(axis, extent) for axis, (_, extent) in zip(axes[: form.images], form.final.spatial, strict=False)]
        points = [self.fused([axes[i] for i in p.axes]) for p in form.points]
        if inside is None:
            outputs, inside = s.split(outputs, COLUMNS)
        outputs, column = s.split(outputs, blocks.wide, Tail.SHIFT)
        groups = (outputs, const(-(-sizes_of(form.product)[0] // blocks.wide)))
        before = [(axis, const(p.count)) for axis, p in zip(points[: blocks.axis], form.points, strict=False)]
        count, along = form.points[blocks.axis].count, points[blocks.axis]
        together = min(blocks.together * blocks.lines, count)
        if together:
            block, along = s.split(along, together, Tail.SHIFT)
            before.append((block, const(-(-count // together))))
        lines, line = s.split(along, blocks.lines, Tail.MASK if form.is_open else Tail.SHIFT)
        each = (lines, const(-(-(together or count) // blocks.lines)))
        if images:  # a block of every image, where there are several: of images there may be a single one
            before = [*before, *images] if any(extent != 1 for _, extent in before) else [*images, *before]
        loops = [*before, groups, each] if together else [groups, *before, each]
        *behind, lane = [line, *points[blocks.axis + 1 :], inside]
        if form.place is Place.SECOND:  # points are lanes: what is read of a tile is transposed
            *behind, row = behind
            count = form.points[-1].count if behind else blocks.lines
            row, lane = s.split(row, min(self.target.lanes(32), count), Tail.SHIFT)
            behind += [row, inside]
        s.reorder([*(axis for axis, _ in loops), column, *behind, lane])
        s.vectorize(lane)
        return self.share(before, loops)

    def share(self, before: Sequence[Loop], loops: Sequence[Loop]) -> tuple[SSAValue | None, SSAValue]:
        """Run loops on several threads: those `before` that over outputs, unless all numbers come first. Returns what
        `final` does."""
        s, form, together = self.s, self.form, self.form.blocks.together > 0
        last = before[-1:] if form.images else ()
        if form.is_open:
            shared = loops[:-1]
        elif together:
            shared = before[: len(before) - len(last)]
        else:
            shared = loops
        outer = [*parallel_prefix(s, shared, self.work, self.target), *(axis for axis, _ in last)]
        for axis in outer:
            s.pragma(axis, "loop_partition_hint", 0)  # what is outside of the image is no reason for more code
        around = loops[-1][0] if together or form.is_open else outer[-1]
        return outer[-1] if together else None, around

    def fused(self, axes: Sequence[SSAValue]) -> SSAValue:
        """Fuse axes into one."""
        return self.s.fuse(axes) if len(axes) > 1 else axes[0]

    def data(self, around: SSAValue | None) -> None:
        """The numbers of rows; in front of all else, in parallel, or inside a loop."""
        s, form = self.s, self.form
        stage, lanes = s.stage(form.data.stage.data), self.target.lanes(32)
        *others, number, row, place = stage.axes.values()
        *counts, numbers, rows, _ = (extent for _, extent in form.data.spatial)
        vectors, lane = vectors_and_lanes(s, place, lanes)
        name = form.data.spatial[-1][0]
        is_apart = any(read.cost(name, lanes, COLUMNS, self.target) != 1 for read in reads_of(form.data))
        loops = list(zip(others, counts, strict=True))
        if is_apart:
            loops.append((number, numbers))
        if form.line > 1:  # whether a row is of padding depends on its place in a line
            line, row = s.split(row, form.line, Tail.PAD)
            loops.append((line, ceildiv(rows, form.line)))
            rows = const(form.line)
        if is_apart:  # what a loop along rows reads is transposed
            s.reorder([*(axis for axis, _ in loops), vectors, row, lane])
        else:  # what is read once makes all numbers; rows of each lie side by side, since a loop along them is inside
            row, single = s.split(row, 1)
            s.reorder([*(axis for axis, _ in loops), row, number, single, vectors, lane])
            s.unroll(number)
        if around is None:
            parallel_prefix(s, [*loops, (row, rows)], self.work, self.target)
        else:
            s.compute_at(stage, around, "local")

    def product(self, around: SSAValue) -> None:
        """Tiles of it, in registers for them, then in a buffer."""
        s, form = self.s, self.form
        stage = s.stage(form.product.stage.data)
        tiles = s.cache_write(stage, SCOPE)
        s.compute_at(stage, around, "local")
        j, row, column = list(stage.axes.values())[:3]
        rows, row = s.split(row, ROWS * form.blocks.high, Tail.PAD)
        high, row = s.split(row, ROWS)
        s.reorder([rows, j, high, row, column])
        s.unroll(j)
        s.unroll(high)
        s.tensorize(row, STORE)
        s.compute_at(tiles, rows)
        j, row, column, *summed, p, q, pair, place = tiles.axes.values()
        high, row = s.split(row, ROWS)
        s.reorder([*summed, p, q, high, j, row, column, pair, place])
        for axis in (p, q, high, j):
            s.unroll(axis)
        s.tensorize(row, MULTIPLY)
