"""The rule for products by Strassen's algorithm: sums of quarters, seven products of them, and sums of these.

On several levels, the sums between two levels are computed for one vector at a time, where the next level reads them.

Either the sums of quarters of all rows come first, and the outermost loop runs over blocks of outputs, each of whose
weights is read once; or it runs over blocks of rows, each of which does everything.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const
from tilework.algebra.strassen import DATA_ADDITIONS, OUTPUT_ADDITIONS, PRODUCTS
from tilework.analysis.sizes import bytes_of, size_of
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import Packing, Plan, ScheduleRule
from tilework.rules.common.axes import axes_of, iterations
from tilework.rules.common.fast_products import sizes_of, vectors_and_lanes
from tilework.rules.cpu.costs import (
    again_cycles,
    between_cycles,
    elementwise_cycles,
    kept_cycles,
    load_cycles,
    memory_cycles,
)
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.packings import pack_outputs
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.prefetch import Step, prefetch_operands
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import tile_cost
from tilework.rules.cpu.strassen_form import StrassenForm, strassen_form
from tilework.targets.cpu.target import CpuTarget


class Strassen(ScheduleRule[CpuTarget]):
    """For known numbers of rows, and outputs whose halves fill vectors."""

    BENEFIT: ClassVar[int] = 1

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> StrassenPlan | None:
        form = strassen_form(kernel, target)
        return form and StrassenPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class StrassenPlan(Plan[CpuTarget]):
    """How rows are taken in blocks."""

    form: StrassenForm

    @property
    def cycles(self) -> float:
        kernel, form, target = self.kernel, self.form, self.target
        readers = min(form.passes, target.cores)  # cores with blocks of their own, that may share no cache
        fetching = readers * memory_cycles(kernel, self.parameters, target)
        fetching += again_cycles(kernel, self.parameters, form.passes - readers, target)
        fetching += size_of(form.batch) * form.blocks.again / target.kept_speed(bytes_of(form.data.results[0].type))
        multiplying = _product_cycles(form, target, self.parameters)
        adding = overlapped(_sum_cycles(form, target), _between_cycles(form, target), target)
        return overlapped(multiplying, fetching, target) + adding + elementwise_cycles(form.final, target)

    @property
    def packings(self) -> Sequence[Packing]:
        return pack_outputs(self.form.product, self.form.span, self.parameters)

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        _Writer(s, self.form, self.target).write()


def _between_cycles(form: StrassenForm, target: CpuTarget) -> float:
    """The cycles of storing sums and products, and of loading them."""
    if form.blocks.together:
        return kept_cycles(form.data, target) + between_cycles([form.product], target)
    return between_cycles((form.data, form.product), target)


def _product_cycles(form: StrassenForm, target: CpuTarget, parameters: Set[int]) -> float:
    """The cycles of multiplying sums of quarters."""
    product = form.product
    *_, (rows, _), (outputs, _) = product.spatial
    reads = reads_of(product, parameters)
    each = tile_cost(product, reads, target, outputs, form.vectors, {rows: form.rows}) * form.computed
    return each * target.machine.core.issue / target.multiplies_per_cycle * iterations(product)


def _sum_cycles(form: StrassenForm, target: CpuTarget) -> float:
    """The cycles of the sums of quarters, and of those of products: vectors that are loaded, added and stored.

    Sums of a level are those of the level before, of which several are computed from the same.
    """
    rows, outputs = form.part
    additions = [PRODUCTS**level * 4 ** (form.levels - 1 - level) for level in range(form.levels)]
    parts, products = 4**form.levels, PRODUCTS**form.levels
    of_data = parts * load_cycles(form.first, target)
    of_data += DATA_ADDITIONS * sum(additions) / target.vectors_per_cycle + products
    of_result = (products + OUTPUT_ADDITIONS * sum(additions)) / target.vectors_per_cycle
    vectors = rows * size_of(form.batch) / form.lanes
    return vectors * (sizes_of(form.data)[-1] * of_data + outputs * of_result)


class _Writer:
    """Schedules the final stage first: the others are computed inside it."""

    def __init__(self, s: ScheduleBuilder, form: StrassenForm, target: CpuTarget):
        self.s = s
        self.form = form
        self.target = target
        self.work = [axes_of(form.product)]

    def write(self) -> None:
        """Schedule every stage."""
        around_data, around_products = self.final()
        self.data(around_data)
        self.product(around_products)

    def final(self) -> tuple[SSAValue | None, SSAValue]:
        """The loops to compute a block's data in, if not in front of all else, and its products."""
        s, form = self.s, self.form
        axes = list(s.stage(form.final.stage.data).axes.values())
        if form.images:
            *batch, o, y, x, place = axes
            row = s.fuse([y, x])
        else:
            *batch, row, o = axes
            o, place = s.split(o, form.block)
        _, outputs = form.part
        row, down = s.split(row, form.parts)
        row_block, row = s.split(row, form.blocks.rows, Tail.SHIFT)
        across, o = s.split(o, outputs // form.block)
        output_block, o = s.split(o, form.span // form.block)
        vectors, lane = vectors_and_lanes(s, place, form.lanes)
        loops = [(row_block, const(form.count)), (output_block, const(outputs // form.span))]
        first, second = reversed(loops) if form.blocks.together else loops
        s.reorder([*batch, first[0], second[0], row, o, vectors, down, across, lane])
        s.unroll(o)
        for name in form.of_result:
            self.within(name, vectors)
        leading = [(axis, n) for axis, (_, n) in zip(batch, form.batch, strict=True)]
        if form.blocks.together:
            [*_, last] = parallel_prefix(s, [*leading, first, second], self.work, self.target)
            return None, last
        [*_, last] = parallel_prefix(s, [*leading, first], self.work, self.target)
        return last, second[0]

    def data(self, around: SSAValue | None) -> None:
        """The sums of quarters, some channels at a time; in front of all else, in parallel, or inside a loop."""
        s, form = self.s, self.form
        stage = s.stage(form.data.stage.data)
        axes, (rows, _) = list(stage.axes.values()), form.part
        batch, (i, *products, c) = axes[: len(form.batch)], axes[len(form.batch) :]
        channels, lane = s.split(c, form.lanes)
        outer = [(axis, n) for axis, (_, n) in zip(batch, form.batch, strict=True)]
        outer += [(i, const(rows)), (channels, const(sizes_of(form.data)[-1] // form.lanes))]
        s.reorder([*(axis for axis, _ in outer), *products, lane])
        s.vectorize(lane)
        if around is None:
            [*_, channels] = parallel_prefix(s, outer, self.work, self.target)
        else:
            s.compute_at(stage, around, "local")
        for name in form.of_data:
            self.within(name, channels)

    def within(self, name: str, around: SSAValue) -> None:
        """A stage of sums between two levels: of one vector of each."""
        stage = self.s.stage(name)
        *others, last = stage.axes.values()
        self.s.compute_at(stage, around, "local")
        for axis in others:
            self.s.unroll(axis)
        self.s.vectorize(last)

    def product(self, around: SSAValue) -> None:
        """Multiply one pair of sums after the other."""
        s, form = self.s, self.form
        stage = s.stage(form.product.stage.data)
        inside = s.cache_write(stage, "register")
        s.compute_at(stage, around, "local")
        axes = list(stage.axes.values())
        *products, i, o = axes[: len(form.product.spatial)]
        i, i_inside = s.split(i, form.rows, Tail.PARTITION)
        s.reorder([*products, i, i_inside, *vectors_and_lanes(s, o, form.lanes)])
        s.unroll(i_inside)
        s.compute_at(inside, i)
        *_, sums, rows, outputs = (name for name, _ in form.product.spatial)
        loops = (products[-1], sums, PRODUCTS), (i, rows, -(-form.blocks.rows // form.rows))
        *products, i, o, c = inside.axes.values()
        channels, c = s.split(c, form.lanes)
        s.reorder([*products, channels, c, i, *vectors_and_lanes(s, o, form.lanes)])
        s.unroll(i)
        step = Step(outputs, form.rows, form.vectors, form.lanes)
        # each block of weights is for several tiles; where loads slow multiply-adds, its lines are not asked for again
        once = self.target.multiplies_per_cycle < self.target.vectors_per_cycle
        prefetch_operands(s, form.product, step, (c, form.lanes), loops, self.target, once=once)
