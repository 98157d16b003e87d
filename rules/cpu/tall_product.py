"""The rule for products of few results that each sum very many terms, such as `X'X` of a table with many rows.

Tiles of results that each go through all of the sum would read the operands from memory again and again. Here the sum
is cut into blocks of which both operands stay in the second cache, and all results are computed for one block before
the next: every core has a part of the blocks and results of its own, which are added in the end.

    for core, parallel:                      its parts of the results become 0
      for block:
        for tile of results:                 in registers: the sums of the block's terms
        for vector of results:               added to the core's parts
    for vector of results:                   the sum of all cores' parts, and what is computed with it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import const
from tilework.analysis.sizes import bits_of, bytes_of, size_of
from tilework.analysis.tall_products import is_tall_product, symmetric_block
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.index_attr import TeIndexAttr
from tilework.dialects.te import ComputeOp, IfThenElseOp, KernelOp, YieldOp
from tilework.rules.base import Plan, ScheduleRule
from tilework.rules.common.axes import axes_of
from tilework.rules.common.block_sums import adds_floats
from tilework.rules.cpu.costs import kernel_cycles
from tilework.rules.cpu.elementwise import schedule_elementwise
from tilework.rules.cpu.parallel import run_in_parallel
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.rules.cpu.stages import plan_stages
from tilework.rules.cpu.tiled_reduction import tile_within
from tilework.targets.cpu.target import CpuTarget

MOST_TERMS = 512
"""A block has no more terms than this: longer sums are less exact."""


@dataclass(frozen=True)
class _Form:
    """`inlined` stages by name, those `before` the product, the product, the `final` stage that takes its results, or
    the product itself, and those `after` it.

    part: the product as it is of the results and terms that are computed at a time, in tiles. panels: along each axis,
    how many results that are.
    """

    inlined: Sequence[str]
    before: Sequence[ComputeOp]
    product: ComputeOp
    final: ComputeOp
    after: Sequence[ComputeOp]
    part: ComputeOp
    panels: dict[str, int]


class TallProduct(ScheduleRule[CpuTarget]):
    """For a tall product of matrices that do not stay in a cache, or of which half the results are computed."""

    BENEFIT: ClassVar[int] = 2

    def match(self, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> TallPlan | None:
        form = _form(kernel, target)
        return form and TallPlan(kernel, target, parameters, form)


@dataclass(frozen=True, eq=False)
class TallPlan(Plan[CpuTarget]):
    """How the product is taken in blocks of terms and panels of results."""

    form: _Form

    @property
    def cycles(self) -> float:
        return kernel_cycles(self.kernel, [*self.form.before, self.form.product], self.target, self.parameters)

    def write(self, s: ScheduleBuilder) -> None:
        for name in self.form.inlined:
            s.compute_inline(s.stage(name))
        for compute in self.form.before:
            schedule_elementwise(s, s.stage(compute.stage.data), compute, self.target, None)
        _schedule_product(s, self.form, self.target)
        for compute in self.form.after:
            schedule_elementwise(s, s.stage(compute.stage.data), compute, self.target, None)


def _form(kernel: KernelOp, target: CpuTarget) -> _Form | None:
    """The form of a kernel; None for one that has another."""
    if sum(map(is_tall_product, kernel.computes)) != 1 or len(kernel.results_returned) > 1:
        return None
    plan = plan_stages(kernel, target)
    products = {root: c for root in plan.roots if is_tall_product(c := plan.anchored.get(root, root))}
    if plan.steps or plan.relayouts or plan.copies or sum(map(plan.sums, plan.roots)) != 1 or not products:
        return None
    [(final, product)] = products.items()
    block = symmetric_block(product)
    if not adds_floats(product) or not (block or _comes_from_memory(product, target)):
        return None
    most = block or target.machine.buffers.results
    panels = {name: min(most, size_of([(name, extent)])) for name, extent in product.spatial}
    at = plan.roots.index(final)
    part = _part(product, panels, target)
    return _Form(plan.inlined, plan.roots[:at], product, final, plan.roots[at + 1 :], part, panels)


def _comes_from_memory(product: ComputeOp, target: CpuTarget) -> bool:
    """Whether an operand does not stay in the second cache, and the rows of one are vectors of it."""
    sizes = [bytes_of(op.tensor.type) for op in product.reads]
    columns = [axis for axis, extent in product.spatial if extent != 1]
    side_by_side = any(read.step(axis) == 1 for read in reads_of(product) for axis in columns)
    return max(sizes) > target.cache_bytes[1] and side_by_side


def _part(product: ComputeOp, panels: Mapping[str, int], target: CpuTarget) -> ComputeOp:
    """The product as it is of a panel's results and of so many terms that both operands stay in the second cache."""
    part = product.clone()
    wide = sum(size_of([axis]) for axis in product.spatial) * bits_of(product.result.type) // 8
    terms = target.cache_bytes[1] // (2 * wide) // 8 * 8
    part.extents = TeIndexAttr.of(map(const, panels.values()))
    part.reduce_extents = TeIndexAttr.of([const(min(max(terms, target.machine.work.least_terms), MOST_TERMS))])
    first = part.body.block.first_op
    if isinstance(first, IfThenElseOp):  # whose condition holds or fails for a panel as a whole
        chosen = first.then_body.block
        Rewriter.inline_block(chosen, InsertPoint.before(first))
        end = first.prev_op
        assert isinstance(end, YieldOp)
        Rewriter.replace_op(first, [], end.values)
        Rewriter.erase_op(end)
    return part


def _schedule_product(s: ScheduleBuilder, form: _Form, target: CpuTarget) -> None:
    spatial, [(summed, _)] = [n for n, _ in form.product.spatial], form.product.reduction
    core, share = f"{summed}.outer", f"{summed}.inner"
    block, term = f"{share}.outer", f"{share}.inner"
    total = s.stage(form.product.stage.data)
    cores, _ = s.split(total.axes[summed], nparts=target.cores)
    own, left = s.rfactor(total, cores, [core, *spatial, share])
    blocks, _ = s.split(own.axes[share], size_of(form.part.reduction))
    sums, each = s.rfactor(own, blocks, [core, block, *spatial, term], factor_axis=1)
    innermost = _add_blocks(s, own, form, own.axes[core], each, target)
    tiles = s.cache_write(sums, "local")
    s.compute_at(sums, innermost, "local")
    within = StageHandle(sums.handle, {n: sums.axes[n] for n in spatial})
    inside = StageHandle(tiles.handle, {**{n: tiles.axes[n] for n in spatial}, summed: tiles.axes[term]})
    tile_within(s, within, inside, form.part, choose_tile(form.part, reads_of(form.part), target), target)
    _add_parts(s, StageHandle(total.handle, {**{n: total.axes[n] for n in spatial}, core: left}), form, target)


def _add_blocks(
    s: ScheduleBuilder, own: StageHandle, form: _Form, core: SSAValue, block: SSAValue, target: CpuTarget
) -> SSAValue:
    """Let each core add the sums of one block after the other to parts of the results of its own.

    Returns the innermost loop over panels of results, or over blocks if there is one panel.
    """
    lanes = target.lanes(bits_of(form.product.result.type))
    around, inside = [core, block], list[SSAValue]()
    for name, extent in form.product.spatial:
        axis = own.axes[name]
        if extent != form.panels[name]:
            panel, axis = s.split(axis, form.panels[name], Tail.PARTITION)
            around.append(panel)
        inside.append(axis)
    vectors, vector = s.split(inside.pop(), lanes, Tail.PARTITION)
    s.reorder([*around, *inside, vectors, vector])
    s.vectorize(vector)
    run_in_parallel(s, core, [axes_of(form.product)])
    return around[-1]


def _add_parts(s: ScheduleBuilder, total: StageHandle, form: _Form, target: CpuTarget) -> None:
    """Add up what the cores have, in vectors, where the final stage takes the sums."""
    final, inside = total, total
    if form.final is form.product:
        inside = s.cache_write(total, "register")
    else:
        final = s.stage(form.final.stage.data)
    row = final.axes[form.final.spatial[-1][0]]
    vectors, vector = s.split(row, target.lanes(bits_of(form.product.result.type)), Tail.PARTITION)
    s.vectorize(vector)
    s.compute_at(inside, vectors, "register")
    *axes, core = inside.axes.values()
    s.reorder([core, *axes])
    s.vectorize(axes[-1])
