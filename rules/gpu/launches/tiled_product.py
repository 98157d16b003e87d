"""Products: threads of a block fetch tiles of both factors together, and each multiplies its part of them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.rules.gpu.launch import Launch, LaunchRule, LaunchSchedule
from tilework.rules.gpu.product_axes import Axis, fused, grouped, joined
from tilework.rules.gpu.product_form import Operand, Product
from tilework.rules.gpu.product_tile import PADDING, Side, Tile, choose_tile
from tilework.targets.gpu.target import GpuTarget

LEAST_ROWS = 4
"""For fewer rows or columns, what is fetched together is used too seldom."""


class TiledProduct(LaunchRule):
    """It launches products of matrices, batches of them, convolutions, and convolutions of groups."""

    BENEFIT = 3

    def match(self, launch: Launch, target: GpuTarget) -> TiledProductSchedule | None:
        product = launch.product
        if product is None or min(product.count(product.rows), product.count(product.columns)) < LEAST_ROWS:
            return None
        tile = choose_tile(product, target)
        if tile is None or not _has_numbers(product, tile, target):
            return None
        return TiledProductSchedule(launch.root.stage.data, product, tile)


def _has_numbers(product: Product, tile: Tile, target: GpuTarget) -> bool:
    """Whether there are as many blocks along y and z as a device can number."""
    rows = -(-product.count(product.rows) // tile.rows.length)
    return max(rows, product.count(product.batch)) <= target.most_blocks_yz


@dataclass(frozen=True)
class TiledProductSchedule(LaunchSchedule):
    """The product is computed in registers, by each thread of the stage that takes its results and stores."""

    final: str
    product: Product
    tile: Tile

    def write(self, s: ScheduleBuilder) -> None:
        _Writing(s, self).write()


class _Writing:
    """Writes the schedule of one product."""

    def __init__(self, s: ScheduleBuilder, of: TiledProductSchedule):
        self.s = s
        self.product = of.product
        self.tile = of.tile
        self.final = of.final

    def write(self) -> None:
        s, product, tile = self.s, self.product, self.tile
        sums = self.sums()
        left, right = (self.copy(operand, sums) for operand in (product.left, product.right))
        s.compute_at(sums, self.split_result())
        step = self.order_sums(sums)
        for copy, operand, side in ((left, product.left, tile.rows), (right, product.right, tile.columns)):
            s.compute_at(copy, step)
            self.fetch(copy, operand, side)
            s.double_buffer(copy)

    # -- stages

    def sums(self) -> StageHandle:
        """The product in registers, with an axis for each group."""
        s, name = self.s, self.product.stage
        stage = s.stage(name)
        spatial = s.spatial_axes(name)
        axes = grouped(s, self.product, {n: stage.axes[n] for n in spatial})
        sums = s.cache_write(stage, "register", [*(axis.name for axis in axes), *self.product.summed])
        if name != self.final:
            s.compute_inline(stage)
        return sums

    def copy(self, operand: Operand, sums: StageHandle) -> StageHandle:
        """What a block has of a factor: its part of the batch, if that decides, terms, its own rows or columns."""
        s, source = self.s, operand.source
        handle = s.argument(source) if isinstance(source, int) else s.stage(source).handle
        batch = [joined(self.product.batch)] if operand.batch else []
        own = joined(self.product.rows if operand is self.product.left else self.product.columns)
        scope = "shared" if len(operand.summed) < 2 else "local"
        copy = s.reindex(handle, scope, sums, [*batch, *operand.summed, own])
        if scope == "shared":
            return copy
        terms = fused(s, [Axis(name, copy.axes[name]) for name in operand.summed])
        tile = s.cache_write(copy, "shared", [*batch, terms.name, own])
        s.compute_inline(copy)
        return tile

    # -- loops

    def split_result(self) -> SSAValue:
        """Deal the result out to blocks and threads; the innermost loop over threads."""
        s, tile = self.s, self.tile
        stage = s.stage_with_axes(self.final, s.spatial_axes(self.final))
        names = s.spatial_axes(self.product.stage)
        *batch, rows, columns = grouped(s, self.product, dict(zip(names, stage.axes.values(), strict=True)))
        blocks, virtual, threads, elements = zip(
            self.dealt_out(rows, tile.rows), self.dealt_out(columns, tile.columns), strict=True
        )
        s.reorder([*(axis.value for axis in batch), *blocks, *virtual, *threads, *elements])
        for axis in batch:
            s.bind(axis.value, "blockIdx.z")
        for axes, kind in ((blocks, "blockIdx"), (threads, "threadIdx")):
            for axis, letter in zip(axes, "yx", strict=True):
                s.bind(axis, f"{kind}.{letter}")
        for axis in virtual:
            s.bind(axis, "vthread")
        return threads[-1]

    def dealt_out(self, axis: Axis, side: Side) -> tuple[SSAValue, ...]:
        """An axis as blocks, virtual threads, threads, and elements of each."""
        s = self.s
        block, inside = s.split(axis.value, side.length)
        virtual, inside = s.split(inside, side.threads * side.elements)
        return (block, virtual, *s.split(inside, side.elements))

    def order_sums(self, sums: StageHandle) -> SSAValue:
        """Put the loops of a thread in order; the loop from one fetch to the next."""
        s, tile = self.s, self.tile
        spatial = {name: value for name, value in sums.axes.items() if name not in self.product.summed}
        terms = fused(s, [Axis(name, sums.axes[name]) for name in self.product.summed])
        step, term = s.split(terms.value, tile.step)
        *batch, rows, columns = spatial.values()
        halves = [s.split(rows, tile.rows.elements, Tail.PAD), s.split(columns, tile.columns.elements, Tail.PAD)]
        s.reorder([step, term, *batch, *(axis for half in zip(*halves, strict=True) for axis in half)])
        return step

    def fetch(self, copy: StageHandle, operand: Operand, side: Side) -> None:
        """Let all threads of a block fill a tile, beside each other what lies side by side."""
        s, tile = self.s, self.tile
        *others, own = copy.axes.values()
        batch, terms = (others[:1], others[1:]) if operand.batch else ([], others)
        if operand.along_sum:
            s.storage_align(terms[0], side.length, PADDING)
        parts = [s.split(axis, tile.step, Tail.PAD) for axis in terms]
        parts.append(s.split(own, side.length, Tail.PAD))
        if operand.along_sum:
            parts.reverse()
        order = [*batch, *(axis for half in zip(*parts, strict=True) for axis in half)]
        s.reorder(order)
        turn, thread = s.split(s.fuse(order), tile.threads)
        s.unroll(turn)
        y, x = s.split(thread, tile.columns.threads)
        s.bind(y, "threadIdx.y")
        s.bind(x, "threadIdx.x")
