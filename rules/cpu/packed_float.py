"""The rule for layers whose weights are in words: blocks of outputs, each of whose words are read once."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import const, var
from tilework.dialects.graph.algorithms.packed_float import LANES, PRODUCT, WordFormat, place_of_output
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.rules.common.axes import axes_of
from tilework.rules.common.fast_products import inlined_stages, part_of, sizes_of, takes
from tilework.rules.cpu.costs import elementwise_cycles, memory_cycles
from tilework.rules.cpu.fetching import overlapped
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.targets.cpu.target import CpuTarget

STEPS = 2
"""Shifts and the like: to make a float of a weight's bits, or to take those of the last weight from a word."""


@dataclass(frozen=True)
class PackedFloatForm:
    """The stages by what they compute, once those `inlined` are. words: the number of their argument. blocks: how many
    of outputs are computed at a time."""

    inlined: list[str]
    product: ComputeOp
    final: ComputeOp
    format: WordFormat
    words: int
    blocks: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return prod(sizes_of(self.final)[:-1])


class PackedFloat(ScheduleRule[CpuTarget]):
    """For as many rows as have their results in registers, which are the last stage's rows."""

    BENEFIT: ClassVar[int] = 1

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> PackedFloatPlan | None:
        form = _form(kernel, target)
        return form and PackedFloatPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class PackedFloatPlan(Plan[CpuTarget]):
    """How many outputs are computed at a time."""

    form: PackedFloatForm

    @property
    def cycles(self) -> float:
        form, target = self.form, self.target
        blocks, channels = sizes_of(form.product)[-3], form.product.reduction[0][1].offset
        format = form.format
        vectors = blocks * channels * LANES / target.lanes(32)
        multiplying = form.rows * format.weights / target.multiplies_per_cycle
        taking_apart = STEPS * (format.weights + format.words) / target.machine.core.steps_per_cycle
        fetching = memory_cycles(self.kernel, self.parameters, target)
        behind = elementwise_cycles(form.final, target)
        return overlapped(vectors * (multiplying + taking_apart), fetching, target) + behind

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        _product(s, self.form, _final(s, self.form, self.target), self.target)


def _form(kernel: KernelOp, target: CpuTarget) -> PackedFloatForm | None:
    """The form of a kernel, None if it is another, with more rows, or what it multiplies has to be computed before."""
    found = inlined_stages(kernel, [PRODUCT])
    if found is None:
        return None
    inlined, stages, final = found
    product, rows = stages[PRODUCT], prod(sizes_of(final)[:-1])
    format = WordFormat(sizes_of(product)[-2])
    sums = target.vector_registers * 3 // 4 * target.lanes(32)  # the other registers are for words
    blocks = min(sums // (format.outputs * rows), target.machine.prefetching.word_streams) if rows else 0
    if blocks == 0 or not _takes_rows(final, format) or _is_computed_before(kernel, product):
        return None
    [words] = {r.tensor.index for r in product.reads if isinstance(r.tensor, BlockArgument) and r.result.type == i32}
    return PackedFloatForm(inlined, product, final, format, words, blocks)


def _takes_rows(final: ComputeOp, format: WordFormat) -> bool:
    """Whether the last stage takes the results as they are, row by row."""
    if not final.spatial:
        return False
    domain = Domain({name: (0, (extent.constant or 1) - 1) for name, extent in final.spatial})
    *rows, outputs = (var(name) for name, _ in final.spatial)
    place = tuple(map(domain.simplify, (*rows, *place_of_output(outputs, format))))
    taken = {tuple(map(domain.simplify, r.exprs)) for r in final.reads if takes(final, PRODUCT, r.exprs)}
    return taken == {place}


def _is_computed_before(kernel: KernelOp, product: ComputeOp) -> bool:
    """Whether the stages inlined in the product do more than move what it multiplies."""
    alone = part_of(kernel, PRODUCT)
    assert alone is not None
    return [type(op) for op in alone.body.walk()] != [type(op) for op in product.body.walk()]


def _final(s: ScheduleBuilder, form: PackedFloatForm, target: CpuTarget) -> SSAValue:
    """Blocks of outputs, on several threads; the loop over them."""
    *rows, outputs = s.stage(form.final.stage.data).axes.values()
    block, inside = s.split(outputs, form.format.outputs)
    blocks, block = s.split(block, form.blocks, Tail.SHIFT)
    vectors, lane = s.split(inside, LANES)
    s.reorder([blocks, *rows, block, vectors, lane])
    s.vectorize(lane)
    count = const(-(-sizes_of(form.product)[-3] // form.blocks))
    [blocks] = parallel_prefix(s, [(blocks, count)], [axes_of(form.product)], target)
    return blocks


def _product(s: ScheduleBuilder, form: PackedFloatForm, around: SSAValue, target: CpuTarget) -> None:
    """Multiply all rows, so that each word is loaded once."""
    stage = s.stage(form.product.stage.data)
    sums = s.cache_write(stage, "register")
    s.compute_at(stage, around, "local")
    s.compute_at(sums, around)
    _in_registers(s, list(stage.axes.values())[: len(form.product.spatial)])
    *axes, channel = sums.axes.values()
    s.reorder([channel, *_in_registers(s, axes)])
    facts = target.machine.prefetching
    if not facts.reads_ahead:  # the queue of instructions is full before the hardware asks for enough
        step_bytes = form.blocks * form.format.words * LANES * 4
        s.prefetch(s.argument(form.words), channel, facts.ahead_bytes // step_bytes)


def _in_registers(s: ScheduleBuilder, axes: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Unrolled, the loops of what is computed at a time, in the order in which words are wanted."""
    *rows, block, four, lane = axes
    s.reorder([block, *rows, four, lane])
    for axis in (block, *rows, four):
        s.unroll(axis)
    s.vectorize(lane)
    return [block, *rows, four, lane]
