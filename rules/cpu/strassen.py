"""The rule for products by Strassen's algorithm: sums of quarters, seven products of them, and sums of these.

Either the sums of quarters of all rows come first, and the outermost loop runs over blocks of outputs, each of whose
weights is read once; or it runs over blocks of rows, each of which does everything.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar

from xdsl.ir import SSAValue

from tilework.dialects.schedule import SequenceOp, Tail
from tilework.dialects.schedule_builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.rules.base import Packing, ScheduleRule
from tilework.rules.cpu.costs import between_cycles, elementwise_cycles, memory_cycles, reduction_cycles
from tilework.rules.cpu.fast_products import pack_outputs, sizes_of, vectors_and_lanes
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.prefetch import prefetch_next_block, prefetch_operands
from tilework.rules.cpu.reads import LARGE, size_of
from tilework.rules.cpu.relayout import Relayout, store_as
from tilework.rules.cpu.strassen_form import DATA, PRODUCT, StrassenForm, strassen_form
from tilework.targets.target import Target


class Strassen(ScheduleRule):
    """For known numbers of rows, and outputs whose halves fill vectors."""

    BENEFIT: ClassVar[int] = 1

    def matches(self, kernel: KernelOp, target: Target) -> bool:
        return strassen_form(kernel, target) is not None

    def cycles(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> float:
        form = _form(kernel, target)
        fetching = memory_cycles(kernel, parameters, target) + form.blocks.again / target.bandwidth.shared
        multiplying = reduction_cycles(form.product, target, parameters)
        sums = elementwise_cycles(form.data, target) + elementwise_cycles(form.final, target)
        return overlapped(multiplying, fetching) + sums + between_cycles((form.data, form.product), target)

    def packings(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> Sequence[Packing]:
        form = _form(kernel, target)
        return pack_outputs(form.product, form.span, parameters)

    def schedule(self, kernel: KernelOp, target: Target) -> SequenceOp:
        form = _form(kernel, target)
        s = ScheduleBuilder(kernel)
        for name in form.inlined:
            s.compute_inline(s.stage(name))
        _Writer(s, form, target).write()
        return s.finish()


def _form(kernel: KernelOp, target: Target) -> StrassenForm:
    form = strassen_form(kernel, target)
    assert form is not None, "the rule matches"
    return form


class _Writer:
    """Schedules the final stage first: the others are computed inside it."""

    def __init__(self, s: ScheduleBuilder, form: StrassenForm, target: Target):
        self.s = s
        self.form = form
        self.target = target
        self.work = size_of([*form.product.spatial, *form.product.reduction])

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
            *batch, o, y, x, lane = axes
            row = s.fuse([y, x])
        else:
            *batch, row, o = axes
            o, lane = s.split(o, form.lanes)
        rows, outputs = form.quarter
        row, down = s.split(row, 2)
        row_block, row = s.split(row, form.blocks.rows)
        across, o = s.split(o, outputs // form.lanes)
        output_block, o = s.split(o, form.vectors)
        s.vectorize(lane)
        loops = [(row_block, rows // form.blocks.rows), (output_block, outputs // form.span)]
        outer, inner = reversed(loops) if form.blocks.together else loops
        s.reorder([*batch, outer[0], inner[0], row, o, down, across, lane])
        s.unroll(o)
        sizes = sizes_of(form.final)
        leading = [(axis, sizes[i] or LARGE) for i, axis in enumerate(batch)]
        if form.blocks.together:
            [*_, last] = parallel_prefix(s, [*leading, outer, inner], self.work, self.target)
            return None, last
        [*_, last] = parallel_prefix(s, [*leading, outer], self.work, self.target)
        return last, inner[0]

    def data(self, around: SSAValue | None) -> None:
        """The sums of quarters, some channels at a time; in front of all else, in parallel, or inside a loop."""
        s, form = self.s, self.form
        *sizes, _, half, count = sizes_of(form.data)
        if form.images:
            *batch, p, i, c = (name for name, _ in form.data.spatial)
            stage = store_as(s, Relayout(DATA, c, form.lanes, (*batch, p, f"{c}.outer", i, f"{c}.inner")))
            *lead, p, channels, i, lane = stage.axes.values()
            inner = [(channels, count // form.lanes), (i, half)]
        else:
            stage = s.stage(DATA)
            *lead, p, i, c = stage.axes.values()
            channels, lane = s.split(c, form.lanes)
            inner = [(i, half), (channels, count // form.lanes)]
        outer = [*zip(lead, [n or LARGE for n in sizes], strict=True), *inner]
        s.reorder([*(axis for axis, _ in outer), p, lane])
        s.vectorize(lane)
        if around is None:
            parallel_prefix(s, outer, self.work, self.target)
        else:
            s.compute_at(stage, around, "local")

    def product(self, around: SSAValue) -> None:
        """Of one pair of sums after the other."""
        s, form = self.s, self.form
        stage = s.stage(PRODUCT)
        inside = s.cache_write(stage, "register")
        s.compute_at(stage, around, "local")
        axes = list(stage.axes.values())
        *batch, p, i, o = axes[: len(form.product.spatial)]
        i, i_inside = s.split(i, form.rows, Tail.PARTITION)
        s.reorder([*batch, p, i, i_inside, *vectors_and_lanes(s, o, form.lanes)])
        s.unroll(i_inside)
        s.compute_at(inside, i)
        *_, sums, rows, outputs = (name for name, _ in form.product.spatial)
        loops = (p, sums, sizes_of(form.product)[-3]), (i, rows, -(-form.blocks.rows // form.rows))
        prefetch_next_block(s, form.product, loops, outputs, form.span, self.target)
        *batch, p, i, o, c = inside.axes.values()
        channels, c = s.split(c, form.lanes)
        s.reorder([*batch, p, channels, c, i, *vectors_and_lanes(s, o, form.lanes)])
        s.unroll(i)
        prefetch_operands(s, form.product, c, outputs, form.span)
