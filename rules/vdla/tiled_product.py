"""The rule for products of bytes, convolutions among them, whose sums the ALU scales to bytes."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import KernelOp
from tilework.rules.base import Packing, Plan, ScheduleRule
from tilework.rules.vdla.product_form import ProductForm, Stage, product_form
from tilework.rules.vdla.tile import Tile, TileChoice
from tilework.targets.vdla.target import VdlaTarget


class TiledProduct(ScheduleRule[VdlaTarget]):
    """For one product of bytes, and what is computed with its sums."""

    def match(self, kernel: KernelOp, target: VdlaTarget, parameters: Set[int]) -> Plan[VdlaTarget] | None:
        form = product_form(kernel, target, parameters)
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
    """Writes the schedule of a product."""

    def __init__(self, s: ScheduleBuilder, form: ProductForm, tile: Tile, target: VdlaTarget):
        self.s = s
        self.form = form
        self.tile = tile
        self.target = target

    def write(self) -> None:
        s, form = self.s, self.form
        for name in form.inlined:
            s.compute_inline(s.stage(name))
        at = s.spatial_axes(form.product).index(form.outputs)
        sums = self.relaid(form.product, at, self.target.block_out, "vdla.acc")
        stages = [(stage, self.relaid(stage.name, at, self.target.block_out, "vdla.acc")) for stage in form.stages]
        data = self.data(sums)
        weights = s.cache_read(s.argument(form.weights), "vdla.wgt", [sums], self.names("w", 4 + self.windows))
        around = self.tiles_of_result()
        self.place_stages(stages, around)
        s.compute_at(sums, around[-2])
        step = self.steps(sums)
        s.compute_at(data, step)
        s.compute_at(weights, around[0] if self.tile.keeps_weights else step)
        if self.tile.threads > 1:  # what threads share has a half for each turn; what they do not, a buffer for each
            s.double_buffer(data if self.tile.along is None else weights)

    @property
    def windows(self) -> int:
        return sum(position.window is not None for position in self.form.positions)

    def names(self, letter: str, count: int) -> list[str]:
        return [f"{letter}{at}" for at in range(count)]

    def relaid(self, name: str, at: int, block: int, scope: str) -> StageHandle:
        """A stage in tiles of the machine, in that memory, instead of one whose axis number `at` is channels."""
        s = self.s
        stage = s.stage(name)
        names = s.spatial_axes(name)
        tiles, inside = s.split(stage.axes[names[at]], block)
        others = [stage.axes[n] for n in names]
        others[at] = tiles
        summed = [axis for n, axis in stage.axes.items() if n not in names]
        s.reorder([*others, inside, *summed])
        own = [n if n != names[at] else f"{n}.outer" for n in names] + [f"{names[at]}.inner"]
        reduced = [n for n in stage.axes if n not in names]
        cached = s.cache_write(stage, scope, [*own, *reduced])
        s.compute_inline(stage)
        return cached

    def data(self, sums: StageHandle) -> StageHandle:
        s, form = self.s, self.form
        if isinstance(form.data, str):
            return self.relaid(form.data, form.channel_dim, self.target.block_in, "vdla.inp")
        return s.cache_read(s.argument(form.data), "vdla.inp", [sums], self.names("d", form.channel_dim + 1))

    def tiles_of_result(self) -> list[SSAValue]:
        """Split the axes of the result; the loops around a tile, outermost first, then those from tile to tile inside."""
        s, form, tile = self.s, self.form, self.tile
        final = s.stage(form.final)
        axes = dict(final.axes)
        if len(form.final_outputs) == 2:
            tiles, lanes = (axes.pop(name) for name in form.final_outputs)
        else:
            tiles, lanes = s.split(axes.pop(form.final_outputs[0]), self.target.block_out)
        outer, inner = s.split(tiles, tile.outputs)
        around: list[SSAValue] = [outer]
        inside: list[SSAValue] = [inner]
        thread: list[SSAValue] = []
        if tile.threads > 1 and tile.along is None:
            around[0], one = s.split(outer, tile.threads)
            thread.append(one)
        for at, (position, count) in enumerate(zip(form.positions, tile.counts, strict=True)):
            if not position.final:
                continue
            outer, inner = s.split(axes.pop(position.final), count)
            if tile.along == at:
                outer, one = s.split(outer, tile.threads)
                thread.append(one)
            around.append(outer)
            inside.append(inner)
        s.reorder([*axes.values(), *around, *thread, *inside, lanes])
        if thread:
            s.bind(thread[0], "vthread")
        return [*around, *thread, inside[0]]

    def place_stages(self, stages: Sequence[tuple[Stage, StageHandle]], around: Sequence[SSAValue]) -> None:
        """Compute with sums in the loop around a tile, or from tile to tile once they are copied."""
        place = around[-2]
        for stage, handle in stages:
            place = around[-1] if stage.copies else place
            for number, moves in stage.words:
                rank = len(self.s.kernel.body.block.args[number].type.get_shape())
                words = self.s.cache_read(self.s.argument(number), "vdla.acc", [handle], self.names(f"b{number}.", rank))
                self.s.compute_at(words, place if moves else around[0])
            self.s.compute_at(handle, place)

    def steps(self, sums: StageHandle) -> SSAValue:
        """Put the loops of a sum in order; the one around what is on the chip at a time."""
        s, form, tile = self.s, self.form, self.tile
        axes = dict(sums.axes)
        channels, inner = s.split(axes.pop(form.channels), self.target.block_in)
        around, channel = s.split(channels, tile.channels)
        outer = [around]
        windows: list[SSAValue] = []
        first = True
        for position in form.positions:
            if position.window is None:
                continue
            axis = axes.pop(position.window)
            if position.steps > 1 and first:
                first = False
                more, axis = s.split(axis, tile.steps)
                outer.append(more)
            windows.append(axis)
        lanes = axes.pop(f"{form.outputs}.inner")
        s.reorder([*outer, *axes.values(), channel, *windows, lanes, inner])
        s.tensorize(lanes, "vdla.gemm")
        return outer[-1]
