"""The rule for kernels that go row by row: softmax, normalization, attention.

All stages are computed for a block of rows at a time, one after the other, so that what one of them leaves for the next
stays in a near cache. What belongs to no row, such as a copy of a matrix that all rows are multiplied by, comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import ceildiv, const
from tilework.analysis.sizes import bits_of, size_of
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Packing, Plan, ScheduleRule
from tilework.rules.common.axes import joins_parts
from tilework.rules.common.block_sums import block_lengths, sum_in_blocks
from tilework.rules.common.fast_products import vectors_and_lanes
from tilework.rules.cpu.costs import kernel_cycles
from tilework.rules.cpu.elementwise import schedule_elementwise, shared_work
from tilework.rules.cpu.packings import packings_for_tiles
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.row_form import RowForm, are_whole, in_one_piece, may_be_vectors, row_form
from tilework.rules.cpu.stages import plan_stages
from tilework.rules.cpu.tiled_reduction import tile_within
from tilework.targets.cpu.target import CpuTarget

STEPS = 64
"""A block of a long sum has so many elements in each lane of a vector."""

PARTS = 8
"""So many lanes are summed one by one, and then these sums: a row is summed in up to 64 lanes."""


def whole_chains(length: int, lanes: int, target: CpuTarget) -> int:
    """How many vectors side by side leave nothing of a row that is cut into so many at a time; 0 if none do."""
    return next((n for n in (target.machine.core.chains, 2, 1) if length % (n * lanes) == 0), 0)


class RowBlocks(ScheduleRule[CpuTarget]):
    """For rows, each summed up to a number that all of the row reads, or that is the result."""

    BENEFIT: ClassVar[int] = 1

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> RowPlan | None:
        form = row_form(kernel, target)
        return form and RowPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class RowPlan(Plan[CpuTarget]):
    """How many rows are taken at a time."""

    form: RowForm

    @property
    def cycles(self) -> float:
        around = {p.reduction: self.form.rows[p.reduction][:-1] for p in self.form.products.values()}
        return kernel_cycles(self.kernel, self.form.stages, self.target, self.parameters, around)

    @property
    def packings(self) -> Sequence[Packing]:
        """Ask for the layout that tiles want of a matrix that multiplies one row: tiles compute the kernel then."""
        if all(len(reads_of(c)) <= 1 for c in self.form.summaries):
            return ()
        return packings_for_tiles(plan_stages(self.kernel, self.target, self.parameters), self.target, self.parameters)

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        _Writer(s, self.form, self.target).write()


class _Writer:
    """Schedules the final stage first: the others are computed inside it."""

    def __init__(self, s: ScheduleBuilder, form: RowForm, target: CpuTarget):
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

    @property
    def knows_rows(self) -> bool:
        """Whether it is known how many rows there are along the axis that is cut into blocks."""
        final = self.form.final
        return dict(final.spatial)[self.form.rows[final][-1]].is_constant

    @property
    def chains(self) -> int:
        """How many vectors are summed side by side, of several rows or of one."""
        return self.target.machine.core.chains

    @property
    def rows_are_chains(self) -> bool:
        """Whether the vectors that are summed side by side are of several rows."""
        return self.form.block >= self.chains

    def lanes(self, compute: ComputeOp) -> int:
        """The lanes of vectors of a stage's results."""
        return self.target.lanes(bits_of(compute.results[0].type))

    def final(self, stage: StageHandle) -> SSAValue:
        """The loop over blocks of rows."""
        s, form, axes = self.s, self.form, stage.axes
        *around, rows = form.rows[form.final]
        extents = dict(form.final.spatial)
        block, row = s.split(axes[rows], form.block, Tail.SHIFT if self.knows_rows else Tail.PARTITION)
        loops = [(axes[n], extents[n]) for n in around]
        loops.append((block, ceildiv(extents[rows], form.block)))
        inside = {n: row if n == rows else axes[n] for n in extents if n not in around}
        s.reorder([*(axis for axis, _ in loops), *self.in_vectors(form.final, inside)])
        work = [stage for c in form.inside for stage in shared_work(c, form.final)]
        [*_, inner] = parallel_prefix(s, loops, work, self.target)
        return inner

    def in_vectors(self, compute: ComputeOp, axes: Mapping[str, SSAValue]) -> list[SSAValue]:
        """Some axes of a stage that sums nothing, for a block, in order: the last of several elements as vectors."""
        s, width = self.s, self.lanes(compute) * self.chains
        extents = dict(compute.spatial) | {self.form.rows[compute][-1]: const(self.form.block)}
        counts = {n: size_of([(n, extents[n])]) for n in axes}
        *others, last = sorted(axes, key=lambda n: counts[n] > 1)
        vectors = [axes[last]] if counts[last] <= width else list(s.split(axes[last], width, Tail.PARTITION))
        s.vectorize(vectors[-1])
        return [*(axes[n] for n in others), *vectors]

    def elementwise(self, stage: StageHandle, compute: ComputeOp, block: SSAValue) -> None:
        """A stage that sums nothing."""
        self.s.reorder(self.in_vectors(compute, stage.axes))
        self.s.compute_at(stage, block, "local")

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
        lanes, spatial = self.lanes(compute), [n for n, _ in compute.spatial]
        rows = self.form.rows[compute]
        rows = [*(n for n in spatial if n not in rows), *rows]
        span = self.span(compute)
        if span:
            stage = self.parts(stage, compute, rows, span, block)
            lengths = block_lengths(compute, span, PARTS)
        else:
            lengths = block_lengths(compute, size_of(compute.reduction[-1:]), STEPS)
        self.across(stage, rows, lanes, block, lengths)

    def span(self, compute: ComputeOp) -> int:
        """How many elements of a row are summed apart, 0 for none: a vector, or several if there are too few rows."""
        length, lanes = size_of(in_one_piece(compute)), self.lanes(compute)
        if not joins_parts(compute) or (self.form.block >= lanes and not may_be_vectors(compute, self.target)):
            return 0
        if self.rows_are_chains:
            return lanes
        return (whole_chains(length, lanes, self.target) or max(min(self.chains, length // lanes), 1)) * lanes

    def parts(
        self, stage: StageHandle, compute: ComputeOp, rows: Sequence[str], span: int, block: SSAValue
    ) -> StageHandle:
        """The sums of every `span` elements, as a stage of their own. Returns what sums these.

        Of several rows, the last vectors are whole ones under masks: registers cannot take less.
        """
        s, spatial, piece = self.s, [n for n, _ in compute.spatial], in_one_piece(compute)
        name, others = ".".join(n for n, _ in piece), [n for n, _ in compute.reduction[: -len(piece)]]
        lane, step, lanes = f"{name}.inner", f"{name}.outer", self.lanes(compute)
        is_whole = are_whole(piece, span)
        masked = self.rows_are_chains and not is_whole and self.target.masks_loads
        _, inner = s.split(s.fuse([stage.axes[n] for n, _ in piece]), span)
        parts, left = s.rfactor(stage, inner, [*spatial, lane, *others, step], factor_axis=-1)
        scope = "register" if is_whole or masked else "local"
        inside = s.cache_write(parts, scope)
        s.compute_at(parts, block, "local")
        *around, row = (parts.axes[n] for n in rows)
        row, *beside = s.split(row, self.chains, Tail.PARTITION) if self.rows_are_chains else [row]
        s.reorder([*around, row, *beside, *vectors_and_lanes(s, parts.axes[lane], lanes)])

        def order(stage: StageHandle, summed: Sequence[SSAValue]) -> None:
            *around, row = (stage.axes[n] for n in rows)
            s.reorder([*around, *summed, row, *vectors_and_lanes(s, stage.axes[lane], lanes, masked)])
            if self.rows_are_chains:
                s.unroll(row)

        lengths = block_lengths(compute, -(-size_of(piece) // span), STEPS)
        sum_in_blocks(s, inside, [*others, step], step, lengths, row, scope, order)
        if self.rows_are_chains:
            s.unroll(*beside)
        return StageHandle(stage.handle, {**{n: stage.axes[n] for n in spatial}, lane: left})

    def across(
        self, stage: StageHandle, rows: Sequence[str], lanes: int, block: SSAValue, lengths: Sequence[int]
    ) -> None:
        """Sums of several rows in the lanes of a vector, along the last axis in blocks of these lengths.

        They are in memory where the last vector has too few lanes, and there is no mask.
        """
        s = self.s
        scope = "register" if self.knows_rows or self.target.masks_loads else "local"
        inside = s.cache_write(stage, scope)
        s.compute_at(stage, block, "local")
        *others, row = (stage.axes[n] for n in rows)
        vectors, lane = s.split(row, min(lanes, self.form.block), Tail.PARTITION)
        s.reorder([*others, vectors, lane])
        s.vectorize(lane)

        def order(stage: StageHandle, summed: Sequence[SSAValue]) -> None:
            *others, row = (stage.axes[n] for n in rows)
            s.reorder([*others, *summed, row])
            s.vectorize(row)

        summed = [n for n in inside.axes if n not in rows]
        sum_in_blocks(s, inside, summed, summed[-1], lengths, vectors, scope, order)
