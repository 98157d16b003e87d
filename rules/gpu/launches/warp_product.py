"""Products of half precision and of bfloat16: warps multiply tiles that all threads of a block fetch together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type
from xdsl.ir import Attribute, SSAValue

from tilework.dialects import arith
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import element_type
from tilework.dialects.te import ComputeOp, ReadOp, ReduceOp
from tilework.rules.gpu.launch import Launch, LaunchRule, LaunchSchedule
from tilework.rules.gpu.product_axes import grouped, joined
from tilework.rules.gpu.product_form import Operand, Product
from tilework.targets.gpu.target import GpuTarget

INTRINSICS: dict[type[Attribute], str] = {Float16Type: "mma.f16", BFloat16Type: "mma.bf16"}
"""What multiplies tiles of numbers of a type, and adds to sums of f32."""

TILE = 16
"""Rows, columns and terms of such a tile."""

WARPS, TILES = (1, 2, 4), (1, 2, 4)
"""How many warps there may be along an axis of what a block multiplies, and how many tiles each multiplies there."""

MOST_TILES = 8
"""So many tiles of sums a warp has at most: a thread holds eight registers of each."""

STEPS = (64, 32, 16)
"""How many terms may be fetched at a time; those are taken that divide all."""

PADDING = 8
"""Elements by which rows of a factor are longer in shared memory, so that the rows of a tile lie in different banks."""


@dataclass(frozen=True)
class Side:
    """One axis of what a block multiplies: so many warps, each so many tiles."""

    warps: int
    tiles: int

    @property
    def share(self) -> int:
        """What a warp takes."""
        return self.tiles * TILE

    @property
    def length(self) -> int:
        """What a block takes."""
        return self.warps * self.share


@dataclass(frozen=True)
class WarpTile:
    """Rows and columns of a block, and how many terms it fetches at a time."""

    rows: Side
    columns: Side
    step: int

    @property
    def warps(self) -> int:
        """How many warps a block has."""
        return self.rows.warps * self.columns.warps

    @property
    def shared_bytes(self) -> int:
        """How much memory the tiles of two factors take that a block fetches, and the sums that it hands on."""
        factors = self.rows.length * (self.step + PADDING) + self.step * (self.columns.length + PADDING)
        return 2 * factors + 4 * self.rows.length * self.columns.length


class WarpProduct(LaunchRule):
    """For products of matrices, and many of them, whose terms are a multiple of a tile's."""

    BENEFIT = 4

    def match(self, launch: Launch, target: GpuTarget) -> WarpProductSchedule | None:
        found = launch.product
        if found is None or not target.multiplies_halves or found.grouping is not None or len(found.summed) != 1:
            return None
        stage = next((stage for stage in (*launch.inside, launch.root) if stage.stage.data == found.stage), None)
        intrinsic = None if stage is None else _intrinsic_for(stage)
        if intrinsic is None or found.left.has_windows or found.right.has_windows:
            return None
        tile = _choose(found, target)
        if tile is None:
            return None
        return WarpProductSchedule(launch.root.stage.data, found, tile, intrinsic, target.warp)


def _intrinsic_for(stage: ComputeOp) -> str | None:
    """What multiplies as a reduction does: a product of two numbers, each made a float before."""
    *ops, last = stage.body.block.ops
    reads = [op for op in ops if isinstance(op, ReadOp)]
    kinds = sorted(op.name for op in ops)
    if kinds != sorted(["te.read", "te.read", "arith.extf", "arith.extf", "arith.mulf"]):
        return None
    assert isinstance(last, ReduceOp)
    factors = [op for op in ops if isinstance(op, arith.MulfOp)][0].operands
    is_wide = all(isinstance(factor.owner, arith.ExtFOp) for factor in factors)
    types = {type(element_type(read.tensor.type)) for read in reads}
    if not is_wide or factors[0] is factors[1] or len(types) != 1 or not isinstance(factors[0].type, Float32Type):
        return None
    return INTRINSICS.get(types.pop())


def _choose(of: Product, target: GpuTarget) -> WarpTile | None:
    """The tile with the most work for what is fetched, of those that leave no multiprocessor idle if there are any."""
    terms = of.count(of.summed)
    step = next((step for step in STEPS if terms % step == 0), None)
    if step is None:
        return None
    fitting = [tile for tile in _tiles(of, step) if _fits(tile, of, target)]

    def worth(tile: WarpTile) -> tuple[int, float, int]:
        blocks = _blocks(of, tile)
        reuse = 1 / (1 / tile.rows.length + 1 / tile.columns.length)
        return min(blocks, target.cores), reuse, tile.warps

    return max(fitting, key=worth, default=None)


def _tiles(of: Product, step: int) -> Iterator[WarpTile]:
    """Those no longer than what there is, rounded up to tiles."""
    sides = [Side(warps, tiles) for warps, tiles in product(WARPS, TILES)]
    rows, columns = ([side for side in sides if side.length < of.count(axes) + TILE] for axes in (of.rows, of.columns))
    for side, other in product(rows, columns):
        if side.tiles * other.tiles <= MOST_TILES:
            yield WarpTile(side, other, step)


def _fits(tile: WarpTile, of: Product, target: GpuTarget) -> bool:
    if tile.shared_bytes > target.shared_bytes or tile.warps * target.warp > target.resident_threads // 2:
        return False
    return max(-(-of.count(of.rows) // tile.rows.length), of.count(of.batch)) <= target.most_blocks_yz


def _blocks(of: Product, tile: WarpTile) -> int:
    rows, columns = of.count(of.rows), of.count(of.columns)
    return of.count(of.batch) * -(-rows // tile.rows.length) * -(-columns // tile.columns.length)


@dataclass(frozen=True)
class WarpProductSchedule(LaunchSchedule):
    """Sums are in registers of warps, and go by way of shared memory to the stage that takes and stores them."""

    final: str
    product: Product
    tile: WarpTile
    intrinsic: str
    warp: int

    def write(self, s: ScheduleBuilder) -> None:
        _Writing(s, self).write()


class _Writing:
    """Writes the schedule of one product."""

    def __init__(self, s: ScheduleBuilder, of: WarpProductSchedule):
        self.s, self.of = s, of
        self.product, self.tile = of.product, of.tile

    def write(self) -> None:
        s, product, tile = self.s, self.product, self.tile
        stage = s.stage(product.stage)
        axes = [axis.name for axis in grouped(s, product, {n: stage.axes[n] for n in s.spatial_axes(product.stage)})]
        shared = s.cache_write(stage, "shared", [*axes, *product.summed])
        sums = s.cache_write(shared, "mma", [*axes, *product.summed])
        if product.stage != self.of.final:
            s.compute_inline(stage)
        [term], [rows, columns] = product.summed, axes[-2:]
        left, right = self.copy(product.left, sums, rows, term), self.copy(product.right, sums, term, columns)
        s.compute_at(shared, self.order_result())
        s.compute_at(sums, self.order_shared(shared))
        step = self.order_sums(sums)
        s.compute_at(left, step)
        self.fetch(left, (tile.rows.length, tile.step), across=not product.left.along_sum)
        s.compute_at(right, step)
        self.fetch(right, (tile.step, tile.columns.length), across=product.right.along_sum)

    def copy(self, operand: Operand, sums: StageHandle, *axes: str) -> StageHandle:
        """What a block has of a factor: its part of the batch, if that decides, and these axes."""
        s, source = self.s, operand.source
        handle = s.argument(source) if isinstance(source, int) else s.stage(source).handle
        return s.reindex(handle, "shared", sums, [*([joined(self.product.batch)] if operand.batch else []), *axes])

    def fetch(self, copy: StageHandle, sizes: tuple[int, int], *, across: bool) -> None:
        """Let all threads of a block fill a tile of these sizes, beside each other what lies side by side in memory.

        across: whether that is what goes from row to row of the tile.
        """
        s = self.s
        *batch, row, column = copy.axes.values()
        s.storage_align(row, TILE, PADDING)
        halves = [s.split(axis, size, Tail.PAD) for axis, size in zip((row, column), sizes, strict=True)]
        if across:
            halves.reverse()
        order = [*batch, *(axis for half in zip(*halves, strict=True) for axis in half)]
        s.reorder(order)
        self.deal_out(order)
        s.double_buffer(copy)

    def order_result(self) -> SSAValue:
        """Deal the result out to blocks and threads; the innermost loop over blocks."""
        s, tile, product = self.s, self.tile, self.product
        stage = s.stage_with_axes(self.of.final, s.spatial_axes(self.of.final))
        names = s.spatial_axes(product.stage)
        *batch, rows, columns = grouped(s, product, dict(zip(names, stage.axes.values(), strict=True)))
        block_row, row = s.split(rows.value, tile.rows.length)
        block_column, column = s.split(columns.value, tile.columns.length)
        s.reorder([*(axis.value for axis in batch), block_row, block_column, row, column])
        for axis in batch:
            s.bind(axis.value, "blockIdx.z")
        s.bind(block_row, "blockIdx.y")
        s.bind(block_column, "blockIdx.x")
        self.deal_out([row, column])
        return block_column

    def deal_out(self, axes: Sequence[SSAValue]) -> None:
        """Let all threads of a block take elements that lie side by side."""
        s, tile, warp = self.s, self.tile, self.of.warp
        _, thread = s.split(s.fuse(axes), tile.warps * warp)
        warp_row, thread = s.split(thread, tile.columns.warps * warp)
        warp_column, lane = s.split(thread, warp)
        for axis, letter in ((warp_row, "z"), (warp_column, "y"), (lane, "x")):
            s.bind(axis, f"threadIdx.{letter}")

    def order_shared(self, shared: StageHandle) -> SSAValue:
        """Let each warp hand on its sums, tile by tile; the innermost loop over warps."""
        s, tile = self.s, self.tile
        *batch, rows, columns = [*shared.axes.values()][: -len(self.product.summed)]
        block_row, rows = s.split(rows, tile.rows.length, Tail.PAD)
        block_column, columns = s.split(columns, tile.columns.length, Tail.PAD)
        warp_row, rows = s.split(rows, tile.rows.share)
        warp_column, columns = s.split(columns, tile.columns.share)
        inside = self.tiled(rows, columns, Tail.GUARD)
        s.reorder([*batch, block_row, block_column, warp_row, warp_column, *inside])
        s.bind(warp_row, "threadIdx.z")
        s.bind(warp_column, "threadIdx.y")
        s.tensorize(inside[2], "mma.store")
        return warp_column

    def order_sums(self, sums: StageHandle) -> SSAValue:
        """Put the loops of a warp in order; the loop from one fetch to the next."""
        s = self.s
        *batch, rows, columns, terms = sums.axes.values()
        step, terms = s.split(terms, self.tile.step)
        part, term = s.split(terms, TILE)
        inside = self.tiled(rows, columns, Tail.PAD)
        s.reorder([step, part, *batch, *inside, term])
        s.unroll(part)
        s.tensorize(inside[2], self.of.intrinsic)
        return step

    def tiled(self, rows: SSAValue, columns: SSAValue, tail: Tail) -> list[SSAValue]:
        """Loops over tiles, which are unrolled since tiles are registers, and inside of a tile."""
        s = self.s
        tiles_of_rows, row = s.split(rows, TILE, tail)
        tiles_of_columns, column = s.split(columns, TILE, tail)
        s.unroll(tiles_of_rows)
        s.unroll(tiles_of_columns)
        return [tiles_of_rows, tiles_of_columns, row, column]
