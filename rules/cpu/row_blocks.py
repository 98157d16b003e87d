"""The rule for kernels that go row by row: softmax, normalization, attention.

All stages are computed for a block of rows at a time, one after the other, so that what one of them leaves for the next
stays in a near cache. What belongs to no row, such as a copy of a matrix that all rows are multiplied by, comes first.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar

from xdsl.ir import SSAValue

from tilework.dialects.schedule import SequenceOp, Tail
from tilework.dialects.schedule_builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import ScheduleRule
from tilework.rules.cpu.costs import kernel_cycles
from tilework.rules.cpu.elementwise import iterations, schedule_elementwise
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.reads import bits_of, size_of
from tilework.rules.cpu.row_form import RowForm, row_form
from tilework.rules.cpu.tiled_reduction import tile_within
from tilework.targets.target import Target

CHAINS = 4
"""Vectors of a row that are summed side by side: a sum waits for the one before."""


class RowBlocks(ScheduleRule):
    """For known numbers of rows, each in one piece, from which numbers are summed up that all of the row reads."""

    BENEFIT: ClassVar[int] = 1

    def matches(self, kernel: KernelOp, target: Target) -> bool:
        return row_form(kernel, target) is not None

    def cycles(self, kernel: KernelOp, target: Target, parameters: Set[int]) -> float:
        form = row_form(kernel, target)
        assert form is not None, "the rule matches"
        return kernel_cycles(kernel, form.plan.stages, target, parameters)

    def schedule(self, kernel: KernelOp, target: Target) -> SequenceOp:
        form = row_form(kernel, target)
        assert form is not None, "the rule matches"
        s = ScheduleBuilder(kernel)
        for name in form.plan.inlined:
            s.compute_inline(s.stage(name))
        _Writer(s, form, target).write()
        return s.finish()


class _Writer:
    """Schedules the final stage first: the others are computed inside it."""

    def __init__(self, s: ScheduleBuilder, form: RowForm, target: Target):
        self.s = s
        self.form = form
        self.target = target

    def write(self) -> None:
        """Schedule every stage."""
        s, form = self.s, self.form
        final = s.stage(form.final.stage.data)
        last = s.cache_write(final, "local") if form.final.reduction else final
        block = self.final(final)
        for compute in form.before:
            schedule_elementwise(s, s.stage(compute.stage.data), compute, self.target, None)
        for compute in form.inside:
            stage = last if compute is form.final else s.stage(compute.stage.data)
            if compute in form.summaries:
                self.summary(stage, compute, block)
            elif compute in form.products:
                self.product(stage, compute, block)
            else:
                self.elementwise(stage, compute, block)

    def lanes(self, compute: ComputeOp) -> int:
        """Of vectors of a stage's results."""
        return self.target.lanes(bits_of(compute.results[0].type))

    def final(self, stage: StageHandle) -> SSAValue:
        """The loop over blocks of rows."""
        s, form, axes = self.s, self.form, stage.axes
        *around, rows = form.rows[form.final]
        block, row = s.split(axes[rows], form.block, Tail.SHIFT)
        *others, (last, extent) = [a for a in form.final.spatial if a[0] not in form.rows[form.final]]
        vectors, lane = self.vectors(axes[last], extent.constant or 0, form.final)
        s.reorder([*(axes[n] for n in around), block, row, *(axes[n] for n, _ in others), *vectors, lane])
        s.vectorize(lane)
        extents = dict(form.final.spatial)
        loops = [(axes[n], size_of([(n, extents[n])])) for n in around]
        count = -(-size_of([(rows, extents[rows])]) // form.block)
        loops.sort(key=lambda loop: loop[1] != 1)
        [*_, inner] = parallel_prefix(s, [*loops, (block, count)], sum(map(iterations, form.inside)), self.target)
        return inner

    def vectors(self, axis: SSAValue, extent: int, compute: ComputeOp) -> tuple[list[SSAValue], SSAValue]:
        """An axis as loops and lanes."""
        import os

        lanes = self.lanes(compute) * int(os.environ.get("XV", "1"))
        if extent <= lanes:
            return [], axis
        outer, lane = self.s.split(axis, lanes, Tail.PARTITION)
        return [outer], lane

    def elementwise(self, stage: StageHandle, compute: ComputeOp, block: SSAValue) -> None:
        """A stage that sums nothing."""
        s = self.s
        *others, last = stage.axes.values()
        vectors, lane = self.vectors(last, size_of(compute.spatial[-1:]), compute)
        s.reorder([*others, *vectors, lane])
        s.vectorize(lane)
        s.compute_at(stage, block, "local")

    def product(self, stage: StageHandle, compute: ComputeOp, block: SSAValue) -> None:
        """A reduction with several results in a row."""
        s, product = self.s, self.form.products[compute]
        reduction = product.reduction
        inside = s.cache_write(stage, "local") if reduction is compute else s.stage(reduction.stage.data)
        tile_within(s, stage, inside, reduction, product.tile, self.target)
        s.compute_at(stage, block, "local")
        if product.copy is not None:
            product.copy.make(s, inside, self.target)

    def summary(self, stage: StageHandle, compute: ComputeOp, block: SSAValue) -> None:
        """One number for each row: sums of every so many elements first, side by side, and then of these."""
        s = self.s
        rows, (name, extent), lanes = [n for n, _ in compute.spatial], compute.reduction[-1], self.lanes(compute)
        span = next((n * lanes for n in (CHAINS, 2, 1) if (extent.constant or 1) % (n * lanes) == 0), None)
        if span is not None:
            _, inner = s.split(stage.axes[name], span)
            lane, others = f"{name}.inner", [n for n, _ in compute.reduction[:-1]]
            parts, left = s.rfactor(stage, inner, [*rows, lane, *others, f"{name}.outer"], factor_axis=-1)
            self.parts(parts, rows, lane, block)
            stage = StageHandle(stage.handle, {**{n: stage.axes[n] for n in rows}, lane: left})
        self.across(stage, rows, block)

    def parts(self, stage: StageHandle, rows: Sequence[str], lane: str, block: SSAValue) -> None:
        """The sums of every so many elements, in registers."""
        s = self.s
        inside = s.cache_write(stage, "register")
        s.compute_at(stage, block, "local")
        vectors, lanes = self.chains(stage.axes[lane])
        s.reorder([*(stage.axes[n] for n in rows), *vectors, lanes])
        s.vectorize(lanes)
        s.compute_at(inside, stage.axes[rows[-1]])
        reduced = [axis for n, axis in inside.axes.items() if n not in rows and n != lane]
        vectors, lanes = self.chains(inside.axes[lane])
        s.reorder([*(inside.axes[n] for n in rows), *reduced, *vectors, lanes])
        s.vectorize(lanes)

    def chains(self, axis: SSAValue) -> tuple[list[SSAValue], SSAValue]:
        """The sums side by side as unrolled vectors and their lanes."""
        vectors, lanes = self.s.split(axis, self.target.lanes(32))
        self.s.unroll(vectors)
        return [vectors], lanes

    def across(self, stage: StageHandle, rows: Sequence[str], block: SSAValue) -> None:
        """Sums of several rows in the lanes of a vector."""
        s = self.s
        inside = s.cache_write(stage, "register")
        s.compute_at(stage, block, "local")
        width = min(self.target.lanes(32), self.form.block)
        outer, lane = s.split(stage.axes[rows[-1]], width, Tail.PARTITION)
        s.vectorize(lane)
        s.compute_at(inside, outer)
        reduced = [axis for n, axis in inside.axes.items() if n not in rows]
        *others, row = (inside.axes[n] for n in rows)
        s.reorder([*others, *reduced, row])
        s.vectorize(row)
