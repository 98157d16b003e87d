"""The rule for `graph.winograd_conv`: tiles of the image, transformed, multiplied and transformed back, block by block.

What a block of tiles needs between the stages stays near the core. Where a row of tiles is long enough to reuse the
weights, the outermost loop runs over blocks of tiles, and each does everything. Where images are small, all tiles are
transformed first, and the outermost loop runs over blocks of filters, each of whose weights is read once. Small images
of a batch are taken several at a time, by either way. Tiles that are counted through are taken so many at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import ceildiv, const
from tilework.analysis.sizes import bytes_of, count_of
from tilework.dialects.graph.algorithms.winograd import COLUMNS, DATA, IMAGE, PRODUCT, RESULT, ROWS
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import KernelOp
from tilework.rules.base import Packing, Plan, ScheduleRule
from tilework.rules.common.axes import axes_of, iterations
from tilework.rules.common.fast_products import sizes_of, vectors_and_lanes
from tilework.rules.cpu.costs import again_cycles, elementwise_cycles, memory_cycles
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.packings import pack_outputs
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.prefetch import Step, prefetch_operands
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.relayout import Relayout, store_as
from tilework.rules.cpu.winograd_form import WinogradForm, form_of, lanes_along
from tilework.targets.cpu.target import CpuTarget


class WinogradConv(ScheduleRule[CpuTarget]):
    """For channels and filters that fill whole vectors."""

    BENEFIT: ClassVar[int] = 1

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> WinogradPlan | None:
        form = form_of(kernel, target)
        return form and WinogradPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class WinogradPlan(Plan[CpuTarget]):
    """How tiles are taken in blocks."""

    form: WinogradForm

    @property
    def cycles(self) -> float:
        form, target = self.form, self.target
        fetching = memory_cycles(self.kernel, self.parameters, target)
        fetching += again_cycles(self.kernel, self.parameters, form.blocks.passes * form.image_blocks - 1, target)
        multiplying = iterations(form.stages[PRODUCT]) / form.lanes / target.multiplies_per_cycle
        of_data = sum(elementwise_cycles(form.stages[name], target) for name in (IMAGE, ROWS, DATA))
        results = form.stages[COLUMNS], form.stages[RESULT], form.last.compute
        of_result = sum(elementwise_cycles(c, target) for c in results)
        transforming = of_data * form.lanes / form.channel_lanes + of_result
        moving = _data_again(form, target) / target.bandwidth.piecewise + _exchanged(form, target)
        return overlapped(multiplying, fetching, target) + transforming + moving

    @property
    def packings(self) -> Sequence[Packing]:
        return pack_outputs(self.form.stages[PRODUCT], self.form.span, self.parameters)

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        (_CountedWriter if self.form.is_counted else _GridWriter)(s, self.form, self.target).write()


def _data_again(form: WinogradForm, target: CpuTarget) -> int:
    """Bytes of transformed tiles that are read again for every block of filters, from behind the second cache."""
    data = bytes_of(form.stages[DATA].result.type)
    if not form.blocks.together or data <= form.image_blocks * target.near_bytes:
        return 0
    return data * (form.filter_blocks - 1)


def _exchanged(form: WinogradForm, target: CpuTarget) -> float:
    """Cycles of reading transformed tiles from other cores, which wait as long for theirs."""
    if not form.blocks.together:
        return 0.0
    others = (target.cores - 1) / target.cores
    return others * bytes_of(form.stages[DATA].result.type) / target.bandwidth.exchange


def _regular_lanes(form: WinogradForm) -> int:
    """How many channels of the image are read side by side: of phases as channels, those along a row."""
    axis, reads = form.stages[IMAGE].spatial[-1][0], reads_of(form.stages[IMAGE])
    widths = (n for n in range(form.channel_lanes, 0, -1) if form.channel_lanes % n == 0)
    return next(n for n in widths if all(r.is_regular(axis, n) for r in reads))


class _Writer(ABC):
    """Schedules the final stage first: the others are computed inside it."""

    def __init__(self, s: ScheduleBuilder, form: WinogradForm, target: CpuTarget):
        self.s = s
        self.form = form
        self.target = target
        self.work = [axes_of(form.stages[PRODUCT])]

    def write(self) -> None:
        """Schedule every stage."""
        around_data, around_products = self.final()
        self.data(None if self.form.blocks.together else around_data)
        self.product(around_products)
        self.result(around_products)

    def stage(self, role: str) -> StageHandle:
        """The stage with a role."""
        return self.s.stage(self.form.stages[role].stage.data)

    @abstractmethod
    def final(self) -> tuple[SSAValue, SSAValue]:
        """The loops to compute a block's transformed data in, and its products."""

    @abstractmethod
    def data(self, around: SSAValue | None) -> None:
        """The transformed image, for some channels at a time; in front of all else, in parallel, or inside a loop."""

    @abstractmethod
    def result(self, around: SSAValue) -> None:
        """The products transformed back, for some filters at a time."""

    def product(self, around: SSAValue) -> None:
        """Multiply matrices, for one pair of coefficients after the other."""
        s, form = self.s, self.form
        product, stage = form.stages[PRODUCT], self.stage(PRODUCT)
        inside = s.cache_write(stage, "register")
        s.compute_at(stage, around, "local")
        *tiles, i, column, o = [stage.axes[name] for name, _ in product.spatial]
        parts = [s.split(axis, count, Tail.PARTITION) for axis, count in zip(tiles, form.at_once, strict=True)]
        outer = [axis for axis, _ in parts]
        self._at_once([i, column, *outer], [axis for _, axis in parts], o)
        s.compute_at(inside, outer[-1])
        *tiles, i, j, o, c = inside.axes.values()
        block, c = s.split(c, form.channel_lanes)
        self._at_once([i, j, block, c], tiles, o)
        counts = [-(-block // count) for block, count in zip(form.in_block, form.at_once, strict=True)]
        *names, _, column_name, filters = (name for name, _ in product.spatial)
        loops = [(column, column_name, sizes_of(product)[-2]), *zip(outer, names, counts, strict=True)]
        step = Step(filters, prod(form.at_once), form.vectors, form.lanes)
        prefetch_operands(s, product, step, (c, form.channel_lanes), loops, self.target)

    def stored(self, order: tuple[str, ...]) -> StageHandle:
        """The transformed image, stored in this order of its axes, of which that of channels is cut into vectors."""
        data, lanes = self.form.stages[DATA], self.form.channel_lanes
        return store_as(self.s, Relayout(data.stage.data, data.spatial[-1][0], lanes, order))

    def _image(self, around: SSAValue) -> None:
        """A part of the image, with zeros around it."""
        s, form = self.s, self.form
        image = self.stage(IMAGE)
        s.compute_at(image, around, "local")
        *_, image_channels = image.axes.values()
        vectors, lane = s.split(s.split(image_channels, form.channel_lanes)[1], _regular_lanes(form))
        s.unroll(vectors)
        s.vectorize(lane)

    def _at_once(self, around: list[SSAValue], tiles: list[SSAValue], filters: SSAValue) -> None:
        """Tiles and vectors of filters inside loops, as straight-line code."""
        self.s.reorder([*around, *tiles, *vectors_and_lanes(self.s, filters, self.form.lanes)])
        for axis in tiles:
            self.s.unroll(axis)

    def _transformed(self, stage: StageHandle, around: SSAValue) -> None:
        """One tile's transform along the first axis, column by column."""
        s = self.s
        s.compute_at(stage, around, "local")
        *tile, i, j, lane = stage.axes.values()
        s.reorder([*tile, j, i, lane])
        s.vectorize(lane)


class _GridWriter(_Writer):
    """Writes the loops over rows and columns of tiles."""

    def final(self) -> tuple[SSAValue, SSAValue]:
        s, form, blocks = self.s, self.form, self.form.blocks
        axes = [*s.stage(form.last.compute.stage.data).axes.values()]
        place = axes.pop() if form.last.block else None
        n, o, *slices, y, x = axes
        batch, _, *depths, height, width = (extent for _, extent in form.last.compute.spatial[: len(axes)])
        images = [*zip([n, *slices], [batch, *depths], strict=True)]
        inside_images: list[SSAValue] = []
        if blocks.images > 1:
            axis, extent = images.pop()
            axis, inside_block = s.split(axis, blocks.images)
            images.append((axis, extent // blocks.images))
            inside_images.append(inside_block)
        block_height, block_width = blocks.rows * blocks.tile, blocks.columns * blocks.tile
        filter_block, o = s.split(o, form.span // (form.last.block or 1))
        tile, y = s.split(y, blocks.tile)
        # a block of fewer rows is code of its own, unless the loop over blocks is fused with one over images
        is_fused = any(extent != 1 for _, extent in images) and height.is_constant
        row, tile = s.split(tile, blocks.rows, Tail.SHIFT if is_fused else Tail.PARTITION)
        column, x = s.split(x, block_width)
        if place is not None:
            lanes, along = form.lanes, vectors_and_lanes(s, place, form.lanes)
        else:
            lanes = lanes_along(min(count_of(width), block_width), form.lanes)
            x, lane = s.split(x, lanes, Tail.PARTITION)
            s.vectorize(lane)
            along = [lane]
        tiles = [(row, ceildiv(height, block_height)), (column, ceildiv(width, block_width))]
        weights = [(filter_block, const(form.filter_blocks))]
        outer, inner = (weights, tiles) if blocks.together else (tiles, weights)
        # lanes of a row are far apart in the block: along filters, blocks of them are transposed in registers
        inside = [o, tile, y, x] if place is not None or 2 * lanes < form.lanes else [tile, y, x, o]
        s.reorder([*(axis for axis, _ in (*images, *outer, *inner)), *inside_images, *inside, *along])
        around = parallel_prefix(s, [*images, *outer], self.work, self.target)
        if not (height.is_constant and width.is_constant):  # each product asks how many tiles there are
            for axis in around[-2:]:
                s.pragma(axis, "loop_partition_hint", 0)
        return around[-1], inner[-1][0]

    def data(self, around: SSAValue | None) -> None:
        # in parallel, cores share the channels: the kernel in front, if it is of this kind, wrote them core by core
        s, form = self.s, self.form
        n, p, q, i, j, c = (name for name, _ in form.stages[DATA].spatial)
        stage = store_as(
            s,
            Relayout(form.stages[DATA].stage.data, c, form.channel_lanes, (n, i, j, f"{c}.outer", p, q, f"{c}.inner")),
        )
        n, i, j, channels, p, q, lane = stage.axes.values()
        block, q = s.split(q, form.blocks.columns, Tail.PARTITION)
        s.vectorize(lane)
        if around is None:
            s.reorder([n, channels, p, block, q, i, j, lane])
            (_, batch), (_, rows), *_, (_, count) = form.stages[DATA].spatial
            outer = [(n, batch), (channels, count // form.channel_lanes), (p, rows)]
            parallel_prefix(s, outer, self.work, self.target)
        else:
            s.reorder([n, p, channels, block, q, i, j, lane])
            s.compute_at(stage, around, "local")
        self._image(block)
        self._transformed(self.stage(ROWS), q)

    def result(self, around: SSAValue) -> None:
        s, form = self.s, self.form
        stage = self.stage(RESULT)
        s.compute_at(stage, around, "local")
        n, y, x, o = stage.axes.values()
        p, a = s.split(y, form.blocks.tile)
        q, b = s.split(x, form.blocks.tile)
        filters, lane = s.split(o, form.lanes)
        s.reorder([n, p, q, filters, a, b, lane])
        s.vectorize(lane)
        self._transformed(self.stage(COLUMNS), filters)


class _CountedWriter(_Writer):
    """Writes the loop over tiles that are counted through."""

    def final(self) -> tuple[SSAValue, SSAValue]:
        s, form, blocks = self.s, self.form, self.form.blocks
        axes = [*s.stage(form.last.compute.stage.data).axes.values()]
        place = axes.pop() if form.last.block else None
        n, o, *slices, y, x = axes
        images = [n, *slices]
        (p, a), (q, b) = s.split(y, blocks.tile), s.split(x, blocks.tile)
        s.reorder([*images, o, p, q, a, b])
        block, tile = s.split(s.fuse([p, q]), blocks.columns)
        filter_block, o = s.split(o, form.span // (form.last.block or 1))
        part, filter_block = s.split(filter_block, form.filter_blocks // blocks.parts)
        if place is None:
            filters, o = s.split(o, form.lanes)
            s.vectorize(b)
            inside = [filters, a, tile, o, b]
        else:
            inside = [o, tile, a, b, *vectors_and_lanes(s, place, form.lanes)]
        s.reorder([*images, block, part, filter_block, *inside])
        batch, _, *depths, _, _ = (extent for _, extent in form.last.compute.spatial[: len(axes)])
        count = ceildiv(form.stages[PRODUCT].spatial[1][1], blocks.columns)
        outer = [*zip(images, [batch, *depths], strict=True), (block, count), (part, const(blocks.parts))]
        around = parallel_prefix(s, outer, self.work, self.target)
        s.pragma(around[-1], "loop_partition_hint", 0)  # each product asks how many tiles there are
        s.pragma(tile, "loop_partition_hint", 1)  # most are whole
        return around[-1], filter_block

    def data(self, around: SSAValue | None) -> None:
        s, form = self.s, self.form
        assert around is not None, "blocks are transformed apart"
        n, t, i, j, c = (name for name, _ in form.stages[DATA].spatial)
        stage = store_as(
            s, Relayout(form.stages[DATA].stage.data, c, form.channel_lanes, (n, i, j, f"{c}.outer", t, f"{c}.inner"))
        )
        n, i, j, channels, t, lane = stage.axes.values()
        s.vectorize(lane)
        s.pragma(t, "loop_partition_hint", 1)  # most tiles have no padding
        s.reorder([n, channels, t, i, j, lane])
        s.compute_at(stage, around, "local")
        self._image(t)
        self._transformed(self.stage(ROWS), t)

    def result(self, around: SSAValue) -> None:
        s, form = self.s, self.form
        stage = self.stage(RESULT)
        s.compute_at(stage, around, "local")
        n, t, a, b, o = stage.axes.values()
        filters, lane = s.split(o, form.lanes)
        s.reorder([n, t, filters, a, b, lane])
        s.vectorize(lane)
        self._transformed(self.stage(COLUMNS), filters)
