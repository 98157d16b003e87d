"""Leave out of sums what padding adds to them, and what takes no part in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from tilework.algebra.predicate import Predicate
from tilework.analysis.lanes import is_lane_mask
from tilework.dialects import arith
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind, LoadOp, StoreOp, YieldOp
from tilework.dialects.support.inlining import replace_by_block
from tilework.dialects.support.locations import copy_location
from tilework.transforms.patterns import PatternPass

PRODUCTS = (arith.MulfOp, arith.MuliOp)
WIDER = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp)
"""What is zero where an operand is."""


@dataclass(frozen=True)
class SkipPadding(PatternPass):
    """Add a product to a sum only where it is not of padding.

    loop.for %k = 0 to 3 "k" {                            loop.for %k = 0 to 3 "k" {
      %s = loop.load %sum[%i] : ..                          loop.if [%i + %k - 1 >= 0] {
      %v = loop.if [%i + %k - 1 >= 0] -> f32 {                %s = loop.load %sum[%i] : ..
        %x = loop.load %a[%i + %k - 1] : ..                   %x = loop.load %a[%i + %k - 1] : ..
        loop.yield %x : f32                          ->       %w = loop.load %b[%k] : ..
      } else { .. %zero }                                     %p = arith.mulf %x, %w : f32
      %w = loop.load %b[%k] : ..                              %t = arith.addf %s, %p : f32
      %p = arith.mulf %v, %w : f32                            loop.store %t, %sum[%i] : ..
      %t = arith.addf %s, %p : f32                          }
      loop.store %t, %sum[%i] : ..                        }
    }

    The same is done with elements that an `arith.select` keeps from taking part, as behind the end of a last block of
    terms. Zero times what is infinite, or not a number, counts as zero: such a weight that only meets padding does not
    reach the result. A condition on lanes stays where it is: masks stand for those. `loop-partition` cuts the loops so
    that most iterations ask nothing, and some are none.
    Requires simplified loops (`loop-simplify`), before `loop-vectorize`.
    """

    name = "loop-skip-padding"
    anchor = KernelOp

    inserted_too: ClassVar = True  # what is guarded once may have another condition

    def operations(self, op: Operation) -> Iterable[Operation]:
        return (inner for inner in super().operations(op) if isinstance(inner, ForOp))


class StoreWhatTakesPart(RewritePattern):
    """An element that a condition keeps as it is is not stored: x = c ? f(x) : x is nothing where c does not hold."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        block = op.body.block
        selected = _selected_element(block)
        if selected is None:
            return
        select, holds = selected
        if (others := _guarded(block, holds, rewriter)) is None:
            return
        if others:
            holds.set_conditions(others)
        else:
            rewriter.replace(select, [], [select.lhs])
            rewriter.erase(holds)


class AddWhatIsNoPadding(RewritePattern):
    """Nothing is added to a sum where it is a multiple of zero: x = x + (c ? y : 0) * w is x = x + y * w if c holds."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp | IfOp, rewriter: PatternRewriter) -> None:
        block = op.body.block if isinstance(op, ForOp) else op.then_body.block
        choice = _choice_of_sum(block)
        if choice is None or (others := _guarded(block, choice, rewriter)) is None:
            return
        if others:
            choice.set_conditions(others)
        else:
            replace_by_block(choice, choice.then_body.block, rewriter)


def _selected_element(block: Block) -> tuple[arith.SelectOp, IfOp] | None:
    """The choice between an element as it is and another value for it, if a block does nothing else; its condition."""
    store = block.last_op
    if not isinstance(store, StoreOp) or not all(_is_effectless(op) for op in list(block.ops)[:-1]):
        return None
    select = store.value.owner
    if not isinstance(select, arith.SelectOp) or select.parent is not block:
        return None
    load, holds = select.rhs.owner, select.cond.owner
    if not isinstance(load, LoadOp) or (load.memref, load.exprs) != (store.memref, store.exprs):
        return None
    if not isinstance(holds, IfOp) or holds.parent is not block or not holds.results[0].has_one_use():
        return None
    return (select, holds) if is_lane_mask(holds) else None


def _choice_of_sum(block: Block) -> IfOp | None:
    """The choice that a block adds to an element, or multiples of it, if it does nothing else."""
    store = block.last_op
    if not isinstance(store, StoreOp) or not all(_is_effectless(op) for op in list(block.ops)[:-1]):
        return None
    join = store.value.owner
    if not isinstance(join, arith.AddfOp | arith.AddiOp) or join.parent is not block:
        return None
    so_far, term = join.operands
    load = so_far.owner
    if not isinstance(load, LoadOp) or load.parent is not block:
        return None
    return _choice(term, block) if (load.memref, load.exprs) == (store.memref, store.exprs) else None


def _is_effectless(op: Operation) -> bool:
    if isinstance(op, IfOp):
        return all(_is_effectless(inner) for region in op.regions for inner in region.block.ops)
    return isinstance(op, LoadOp | YieldOp) or op.has_trait(Pure)


def _choice(value: SSAValue, block: Block) -> IfOp | None:
    """The choice, with zero as its other arm, that a value is a multiple of."""
    op = value.owner
    if not isinstance(op, Operation) or op.parent is not block or not value.has_one_use():
        return None
    if isinstance(op, IfOp):
        return op if _is_zero(_other(op)) else None
    if isinstance(op, (*PRODUCTS, *WIDER)):
        return next(filter(None, (_choice(operand, block) for operand in op.operands)), None)
    return None


def _other(op: IfOp) -> SSAValue:
    last = op.else_body.block.last_op
    assert last is not None
    return last.operands[0]


def _is_zero(value: SSAValue) -> bool:
    constant = value.owner
    if not isinstance(constant, arith.ConstantOp):
        return False
    number = constant.value
    return isinstance(number, FloatAttr | IntegerAttr) and number.value.data == 0


def _guarded(block: Block, choice: IfOp, rewriter: PatternRewriter) -> Sequence[Predicate] | None:
    """Put a block under the conditions of a choice that all lanes share and that depend on nothing in it.

    Returns the conditions that are left; None if nothing was done, since there are no such conditions.
    """
    shared = [p for p in choice.conditions if not _on_lanes(p) and not _is_computed_in(block, p)]
    if not shared:
        return None
    guard = IfOp(shared, Region(Block()))
    copy_location(guard, choice)
    for op in list(block.ops):
        op.detach()
        guard.then_body.block.add_op(op)
    rewriter.insert(guard, InsertPoint.at_end(block))
    return [p for p in choice.conditions if p not in shared]


def _is_computed_in(block: Block, p: Predicate) -> bool:
    owners = [v.owner for v in p.expr.variables() if isinstance(v, SSAValue)]
    return any(isinstance(op, Operation) and op.parent is block for op in owners)


def _on_lanes(p: Predicate) -> bool:
    loops = [v.owner.parent_op() for v in p.expr.variables() if isinstance(v, SSAValue) and isinstance(v.owner, Block)]
    return any(isinstance(loop, ForOp) and loop.kind.data is Kind.VECTORIZED for loop in loops)
