"""Leave out of sums what padding adds to them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure

from tilework.algebra.predicate import Predicate
from tilework.analysis.lanes import lane_choice
from tilework.dialects import arith
from tilework.dialects.locations import copy_location
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.transforms.base import TileworkPass

PRODUCTS = (arith.MulfOp, arith.MuliOp)
WIDER = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp)
"""What is zero where an operand is."""


@dataclass(frozen=True)
class SkipPadding(TileworkPass):
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

    Zero times what is infinite, or not a number, counts as zero: such a weight that only meets padding does not reach
    the result. A condition on lanes stays where it is: masks stand for those. `loop-partition` cuts the loops so that
    most iterations ask nothing, and some are none.
    Requires simplified loops (`loop-simplify`), before `loop-vectorize`.
    """

    name = "loop-skip-padding"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        for loop in [inner for inner in op.body.walk() if isinstance(inner, ForOp)]:
            choice = _choice_of_sum(loop.body.block)
            if choice is not None:
                _guard(loop.body.block, choice)


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
    return isinstance(op, LoadOp) or op.has_trait(Pure) or lane_choice(op) is not None


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


def _guard(block: Block, choice: IfOp) -> None:
    """Put the block under the conditions that all lanes share, and that depend on nothing in it."""
    shared = [p for p in choice.conditions if not _on_lanes(p) and not _is_computed_in(block, p)]
    if not shared:
        return
    others = [p for p in choice.conditions if p not in shared]
    guard = IfOp(shared, Region(Block()))
    copy_location(guard, choice)
    for op in list(block.ops):
        op.detach()
        guard.then_body.block.add_op(op)
    block.add_op(guard)
    if others:
        choice.set_conditions(others)
        return
    load = lane_choice(choice)
    assert load is not None
    load.detach()
    Rewriter.insert_op(load, InsertPoint.before(choice))
    Rewriter.replace_op(choice, [], [load.result])


def _is_computed_in(block: Block, p: Predicate) -> bool:
    owners = [v.owner for v in p.expr.variables() if isinstance(v, SSAValue)]
    return any(isinstance(op, Operation) and op.parent is block for op in owners)


def _on_lanes(p: Predicate) -> bool:
    loops = [v.owner.parent_op() for v in p.expr.variables() if isinstance(v, SSAValue) and isinstance(v.owner, Block)]
    return any(isinstance(loop, ForOp) and loop.kind.data is Kind.VECTORIZED for loop in loops)
