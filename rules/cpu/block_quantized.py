"""The rule for layers whose weights are quantized in blocks: panels of outputs, whose words are read as they lie."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import ceildiv, const, var
from tilework.analysis.sizes import size_of
from tilework.dialects.graph.algorithms.block_quantized import PANEL, PRODUCT, ROW_SUMS, ROWS, SUM
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.rules.common.axes import axes_of
from tilework.rules.common.fast_products import balanced, inlined_stages, sizes_of, takes
from tilework.rules.cpu.costs import elementwise_cycles, memory_cycles
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.targets.cpu.target import CpuTarget

STEPS = 3
"""Shifts and the like that make a float of a number's bits."""

MOST_ROWS = 8
"""More rows at a time save hardly any more of taking numbers out of words."""

OPEN_ROWS = 4
"""So many rows are multiplied at a time where it is open how many there are: there is code for each number of them."""


@dataclass(frozen=True)
class BlockQuantizedForm:
    """The stages by what they compute, once those `inlined` are. words: the number of the argument that is the
    weight. rows: how many along each axis are multiplied at a time with so many vectors of outputs."""

    inlined: list[str]
    rows_in_words: ComputeOp
    row_sums: ComputeOp
    product: ComputeOp
    sum: ComputeOp
    final: ComputeOp
    words: int
    rows: tuple[int, ...]
    vectors: int

    @property
    def all_rows(self) -> int:
        """How many rows there are."""
        return size_of(self.final.spatial[:-1])


class BlockQuantized(ScheduleRule[CpuTarget]):
    """The rows are those of the last stage."""

    BENEFIT: ClassVar[int] = 1

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> BlockQuantizedPlan | None:
        form = _form(kernel, target)
        return form and BlockQuantizedPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class BlockQuantizedPlan(Plan[CpuTarget]):
    """How many rows and outputs are multiplied at a time."""

    form: BlockQuantizedForm

    @property
    def cycles(self) -> float:
        form, target = self.form, self.target
        panels, blocks = (sizes_of(form.product)[axis] for axis in (-3, -1))
        numbers = panels * PANEL * blocks * prod(extent.offset for _, extent in form.product.reduction)
        vectors, tiles = numbers / target.lanes(32), form.all_rows / prod(form.rows)
        multiplying = vectors * form.all_rows / target.multiplies_per_cycle
        taking_apart = vectors * tiles * STEPS / target.machine.core.steps_per_cycle
        fetching = memory_cycles(self.kernel, self.parameters, target)
        behind = elementwise_cycles(form.final, target)
        return overlapped(multiplying + taking_apart, fetching, target) + behind

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        around = _final(s, self.form, self.target)
        _product(s, self.form, _sum(s, self.form, around, self.target), self.target)
        _rows(s, self.form, self.target)


def _form(kernel: KernelOp, target: CpuTarget) -> BlockQuantizedForm | None:
    """The form of a kernel, None if it is another, or the last stage takes results in another order."""
    found = inlined_stages(kernel, [ROWS, ROW_SUMS, PRODUCT, SUM])
    if found is None:
        return None
    inlined, stages, final = found
    if not final.spatial or not _takes_rows(final):
        return None
    product = stages[PRODUCT]
    [words] = {r.tensor.index for r in product.reads if isinstance(r.tensor, BlockArgument) and r.result.type == i32}
    rows, vectors = _tile(sizes_of(final)[:-1], target)
    return BlockQuantizedForm(
        inlined, stages[ROWS], stages[ROW_SUMS], product, stages[SUM], final, words, rows, vectors
    )


def _takes_rows(final: ComputeOp) -> bool:
    """Whether the last stage takes the results as they are, row by row."""
    domain = Domain({name: (0, (extent.constant or 1) - 1) for name, extent in final.spatial})
    *rows, outputs = (var(name) for name, _ in final.spatial)
    place = tuple(map(domain.simplify, (*rows, outputs // PANEL, outputs % PANEL)))
    taken = {tuple(map(domain.simplify, r.exprs)) for r in final.reads if takes(final, SUM, r.exprs)}
    return taken == {place}


def _tile(rows: Sequence[int], target: CpuTarget) -> tuple[tuple[int, ...], int]:
    """How many rows along each axis, and how many vectors of outputs are multiplied at a time: the more rows, the more
    often is used what was made of a word.

    Of open numbers of rows, there may be as few as one, whose vectors have to be enough to keep a core busy.
    """
    longest = max(range(len(rows)), key=lambda axis: rows[axis])
    if 0 in rows:
        last = max(axis for axis, count in enumerate(rows) if not count)
        tile = tuple(OPEN_ROWS if axis == last else 1 for axis in range(len(rows)))
    elif prod(rows) <= MOST_ROWS:
        tile = tuple(rows)
    else:
        tile = tuple(balanced(n, MOST_ROWS) if axis == longest else 1 for axis, n in enumerate(rows))
    sums = target.vector_registers // 2  # the other registers are for words, and what is made of them
    return tile, min(PANEL // target.lanes(32), 1 << max(sums // prod(tile), 1).bit_length() - 1)


def _rows(s: ScheduleBuilder, form: BlockQuantizedForm, target: CpuTarget) -> None:
    """What comes first: rows as numbers of words are multiplied with them, and the sums of their blocks."""
    for stage in (form.rows_in_words, form.row_sums):
        axes = list(s.stage(stage.stage.data).axes.values())
        rows = zip(axes, (extent for _, extent in form.final.spatial[:-1]), strict=False)
        s.unroll(axes[-1])
        parallel_prefix(s, list(rows), [axes_of(stage)], target)


def _final(s: ScheduleBuilder, form: BlockQuantizedForm, target: CpuTarget) -> SSAValue:
    """Rows and panels on several threads; the loop around what is multiplied at a time."""
    *rows, outputs = s.stage(form.final.stage.data).axes.values()
    panel, inside = s.split(outputs, PANEL)
    part, inside = s.split(inside, form.vectors * target.lanes(32))
    extents = [extent for _, extent in form.final.spatial[:-1]]
    tiles = [
        s.split(axis, size, Tail.SHIFT if extent.is_constant else Tail.GUARD)
        for axis, size, extent in zip(rows, form.rows, extents, strict=True)
    ]
    vectors, lane = s.split(inside, target.lanes(32))
    loops = [(outer, ceildiv(extent, n)) for (outer, _), extent, n in zip(tiles, extents, form.rows, strict=True)]
    loops.append((panel, const(sizes_of(form.product)[-3])))
    s.reorder([*(axis for axis, _ in loops), part, *(row for _, row in tiles), vectors, lane])
    s.vectorize(lane)
    parallel_prefix(s, loops, [axes_of(form.product)], target)
    return part


def _sum(s: ScheduleBuilder, form: BlockQuantizedForm, around: SSAValue, target: CpuTarget) -> SSAValue:
    """Add up blocks; the loop over them."""
    stage = s.stage(form.sum.stage.data)
    sums = s.cache_write(stage, "register")
    s.compute_at(stage, around, "local")
    s.compute_at(sums, around)
    _in_registers(s, list(stage.axes.values())[: len(form.sum.spatial)], target)
    *axes, block = sums.axes.values()
    s.reorder([block, *_in_registers(s, axes, target)])
    facts = target.machine.prefetching
    if not facts.reads_ahead:
        bytes_of_block = prod(extent.offset for _, extent in form.product.reduction) // 2 * PANEL
        s.prefetch(s.argument(form.words), block, max(facts.ahead_bytes // bytes_of_block, 1))
    return block


def _product(s: ScheduleBuilder, form: BlockQuantizedForm, block: SSAValue, target: CpuTarget) -> None:
    """Multiply the rows with the numbers of a block, each of whose words is loaded once."""
    product = s.stage(form.product.stage.data)
    sums = s.cache_write(product, "register")
    s.compute_at(product, block, "local")
    s.compute_at(sums, block)
    count = len(form.product.spatial) - 1
    _in_registers(s, list(product.axes.values())[:count], target)
    axes = list(sums.axes.values())
    word, number = axes[count + 1 :]
    s.reorder([word, number, *_in_registers(s, axes[:count], target)])
    s.unroll(number)


def _in_registers(s: ScheduleBuilder, axes: Sequence[SSAValue], target: CpuTarget) -> Sequence[SSAValue]:
    """Unrolled, the loops of what is computed at a time, in the order in which words are wanted."""
    *rows, panel, inside = axes
    vectors, lane = s.split(inside, target.lanes(32))
    s.reorder([vectors, *rows, panel, lane])
    for axis in (vectors, *rows, panel):
        s.unroll(axis)
    s.vectorize(lane)
    return [vectors, *rows, panel, lane]
