"""Products and the sums that take them become fused multiply-adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import math
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.program_targets import target_of
from tilework.dialects import arith
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class UpliftToFma(PatternPass):
    """Round a product and the sum that takes it once, where both carry `contract` and the target has the instruction.

    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %c, %p fastmath<contract> : f32    ->    %s = math.fma %a, %b, %c : f32

    A program means the same numbers wherever its loops are moved afterwards, since the choice is made here and not by
    LLVM, which fuses what happens to stand in one basic block.
    Requires nothing, but what looks for products and sums (`loop-skip-padding`, `loop-tensorize`) comes before, and
    what moves them apart (`loop-vectorize`, `loop-hoist-invariant`) comes behind.
    """

    name = "loop-uplift-to-fma"
    anchor = KernelOp
    numerics: ClassVar = "reassociates"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        sums = (o for o in op.walk() if isinstance(o, arith.AddfOp | arith.SubfOp))
        if any(map(_only_product, sums)) and target_of(op).fuses:
            super().run(ctx, op)


class FuseIntoSum(RewritePattern):
    """a * b + c = fma(a, b, c)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddfOp, rewriter: PatternRewriter) -> None:
        product = _only_product(op)
        if product is None:
            return
        other = op.rhs if op.lhs is product.result else op.lhs
        _replace(op, product, math.FmaOp(product.lhs, product.rhs, other), rewriter)


class FuseIntoDifference(RewritePattern):
    """a * b - c = fma(a, b, -c), and c - a * b = fma(-a, b, c)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubfOp, rewriter: PatternRewriter) -> None:
        product = _only_product(op)
        if product is None:
            return
        if op.lhs is product.result:
            fused = math.FmaOp(product.lhs, product.rhs, _negated(op.rhs, op, rewriter))
        else:
            fused = math.FmaOp(_negated(product.lhs, op, rewriter), product.rhs, op.lhs)
        _replace(op, product, fused, rewriter)


def _negated(value: SSAValue, at: Operation, rewriter: PatternRewriter) -> SSAValue:
    minus = arith.NegfOp(value)
    copy_location(minus, at)
    rewriter.insert(minus)
    return minus.result


def _only_product(op: arith.AddfOp | arith.SubfOp) -> arith.MulfOp | None:
    """The multiplication that makes one of the operands, if it and the sum may be contracted.

    Where both operands are products none is taken: `a * b - b * a` has to be zero.
    """
    products = [v.owner for v in op.operands if isinstance(v.owner, arith.MulfOp)]
    if len(products) != 1 or not _may_contract(op) or not _may_contract(products[0]):
        return None
    return products[0]


def _replace(op: Operation, product: arith.MulfOp, new: math.FmaOp, rewriter: PatternRewriter) -> None:
    """Put the new operation in the place of a sum, and erase the product if nothing reads it any more."""
    copy_location(new, op)
    rewriter.replace(op, new)
    if not product.result.uses:
        rewriter.erase(product)


def _may_contract(op: arith.AddfOp | arith.SubfOp | arith.MulfOp) -> bool:
    return arith.FastMathFlag.ALLOW_CONTRACT in op.fastmath.data
