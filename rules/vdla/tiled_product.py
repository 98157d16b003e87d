"""The rule for products of bytes, convolutions among them, whose sums the ALU scales to bytes."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import ceil

from xdsl.ir import SSAValue

from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import KernelOp
from tilework.dialects.te.intrinsics import library
from tilework.rules.base import Packing, Plan, ScheduleRule
from tilework.rules.vdla.product_form import ProductForm, Stage, product_form
from tilework.rules.vdla.tile import Tile, TileChoice
from tilework.targets.vdla.target import VdlaTarget

Loop = tuple[SSAValue, int]
"""A loop, and how often it runs."""


PRODUCT = "vdla.gemm"
"""The intrinsic that multiplies tiles."""


class TiledProduct(ScheduleRule[VdlaTarget]):
    """For one product of bytes, and what is computed with its sums."""

    def match(self, kernel: KernelOp, target: VdlaTarget, parameters: Set[int]) -> Plan[VdlaTarget] | None:
        form = product_form(kernel, target, parameters) if _has_product(target) else None
        if form is None:
            return None
        tile = TileChoice(form, target).best()
        return None if tile is None else TiledProductPlan(kernel, target, parameters, form, tile)


@dataclass(frozen=True, eq=False)
class TiledProductPlan(Plan[VdlaTarget]):
    """A product of this form runs tile by tile."""

    form: ProductForm
    tile: Tile

    @property
    def cycles(self) -> float:
        return TileChoice(self.form, self.target).cycles(self.tile)

    @property
    def packings(self) -> Sequence[Packing]:
        return self.form.blocks

    def write(self, s: ScheduleBuilder) -> None:
        _Writing(s, self.form, self.tile, self.target).write()


class _Writing:
    """Writes the schedule of a product. around: the loops around a tile, outermost first, and how often each runs.

    thread: the loop over virtual threads right inside of these, if there is one. inside: the loop from tile to tile of
    the machine, and the one over planes in it. steps: the loops around what is on the chip at a time, and how often
    they run.
    """

    def __init__(self, s: ScheduleBuilder, form: ProductForm, tile: Tile, target: VdlaTarget):
        self.s = s
        self.form = form
        self.tile = tile
        self.target = target
        self.around: list[Loop] = []
        self.thread: SSAValue | None = None
        self.inside: list[SSAValue] = []
        self.steps: list[Loop] = []

    def write(self) -> None:
        s, form, tile = self.s, self.form, self.tile
        for name in form.inlined:
            s.compute_inline(s.stage(name))
        axes = s.spatial_axes(form.product)
        at = axes.index(form.outputs) - len(axes)  # from behind: stages may have planes in front
        sums = self.relaid(form.product, at, self.target.block_out, "vdla.acc")
        stages = [(stage, self.relaid(stage.name, at, self.target.block_out, "vdla.acc")) for stage in form.stages]
        data = self.data(sums)
        dims = 4 + sum(position.window is not None for position in form.positions)
        weights = s.cache_read(s.argument(form.weights), "vdla.wgt", [sums], _names("w", dims))
        self.split_result()
        self.place_stages(stages)
        s.compute_at(sums, self.of_thread)
        self.order_sum(sums)
        of_data, of_weights = (self.of_step(shared=shared) for shared in (tile.along is None, tile.along is not None))
        if tile.keeps_weights:
            of_weights = self.around[0][0]
        s.compute_at(data, of_data)
        s.compute_at(weights, of_weights)
        shared, place = (data, of_data) if tile.along is None else (weights, of_weights)
        if tile.threads > 1 and place is not self.thread:
            s.double_buffer(shared)  # it has a half for each turn; what threads do not share has a buffer for each

    @property
    def of_thread(self) -> SSAValue:
        """The innermost loop around a tile."""
        return self.around[-1][0] if self.thread is None else self.thread

    def of_step(self, *, shared: bool) -> SSAValue:
        """The loop in which a step's operands are loaded; of what threads share, one that runs more than once."""
        steps = [loop for loop, count in self.steps if count > 1]
        if steps:
            return steps[-1]
        outside = [loop for loop, count in self.around if count > 1]
        return outside[-1] if shared and self.thread is not None and outside else self.of_thread

    def relaid(self, name: str, at: int, block: int, scope: str) -> StageHandle:
        """A stage in tiles of the machine, in that memory, instead of one whose axis number `at` is channels."""
        s = self.s
        stage, names = s.stage(name), s.spatial_axes(name)
        tiles, inside = s.split(stage.axes[names[at]], block)
        others = [tiles if n == names[at] else stage.axes[n] for n in names]
        summed = {n: axis for n, axis in stage.axes.items() if n not in names}
        s.reorder([*others, inside, *summed.values()])
        own = [f"{n}.outer" if n == names[at] else n for n in names]
        cached = s.cache_write(stage, scope, [*own, f"{names[at]}.inner", *summed])
        s.compute_inline(stage)
        return cached

    def data(self, sums: StageHandle) -> StageHandle:
        """A copy of the data in its memory."""
        s, form = self.s, self.form
        if isinstance(form.data, str):
            return self.relaid(form.data, form.channel_dim, self.target.block_in, "vdla.inp")
        return s.cache_read(s.argument(form.data), "vdla.inp", [sums], _names("d", form.channel_dim + 1))

    def split_result(self) -> None:
        """Put the loops of the result in order."""
        s, form, tile = self.s, self.form, self.tile
        final = s.stage(form.final)
        axes = dict(final.axes)
        if len(form.final_outputs) == 2:
            tiles, lanes = (axes.pop(name) for name in form.final_outputs)
        else:
            tiles, lanes = s.split(axes.pop(form.final_outputs[0]), self.target.block_out)
        planes = [axes.pop(form.planes)] if form.planes is not None else []
        split = [(tiles, form.output_tiles, tile.outputs, tile.along is None)]
        for at, (position, count) in enumerate(zip(form.positions, tile.counts, strict=True)):
            if position.final:
                split.append((axes.pop(position.final), position.extent, count, tile.along == at))
        inside: list[SSAValue] = []
        for axis, extent, count, is_shared_out in split:
            outer, inner = s.split(axis, count)
            inside.append(inner)
            trip = ceil(extent / count)
            if is_shared_out and tile.threads > 1:
                outer, self.thread = s.split(outer, tile.threads)
                trip //= tile.threads
            self.around.append((outer, trip))
        threads = [] if self.thread is None else [self.thread]
        self.inside = [inside[0], *planes]
        around = [loop for loop, _ in self.around]
        s.reorder([*axes.values(), *around, *threads, *self.inside, *inside[1:], lanes])
        for thread in threads:
            s.bind(thread, "vthread")
        for plane in planes:
            s.unroll(plane)  # each one is shifted by a number of its own

    def place_stages(self, stages: Sequence[tuple[Stage, StageHandle]]) -> None:
        """Compute with sums in the loop around a tile, or tile by tile of the machine once they are copied, plane by
        plane of them."""
        s, place = self.s, self.of_thread
        for stage, handle in stages:
            if stage.copies:
                place = self.inside[0] if stage.planes == 1 else self.inside[-1]
            for number, moves in stage.words:
                rank = len(dims_of(s.kernel.body.block.args[number].type))
                words = s.cache_read(s.argument(number), "vdla.acc", [handle], _names(f"b{number}.", rank))
                s.compute_at(words, place if moves else self.around[0][0])
            s.compute_at(handle, place)

    def order_sum(self, sums: StageHandle) -> None:
        """Put the loops of the sum in order, around what the machine does at a time."""
        s, form, tile = self.s, self.form, self.tile
        axes = dict(sums.axes)
        channels, terms = s.split(axes.pop(form.channels), self.target.block_in)
        channels, inner = s.split(channels, tile.channels)
        self.steps.append((channels, form.channel_tiles // tile.channels))
        windows: list[SSAValue] = []
        for at, position in enumerate(form.positions):
            if position.window is None:
                continue
            axis = axes.pop(position.window)
            if at == form.first_window:
                outer, axis = s.split(axis, tile.steps)
                self.steps.append((outer, position.steps // tile.steps))
            windows.append(axis)
        lanes = axes.pop(f"{form.outputs}.inner")
        s.reorder([*(loop for loop, _ in self.steps), *axes.values(), inner, *windows, lanes, terms])
        s.tensorize(lanes, PRODUCT)


def _has_product(target: VdlaTarget) -> bool:
    """Whether the intrinsic multiplies tiles of the sizes that the target has."""
    _, weights, _ = library()[PRODUCT].wants
    return weights.get_shape() == (target.block_out, target.block_in)


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{at}" for at in range(count)]
