"""Which products may be left unrounded when they are added."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import arith
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp, YieldOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class AllowContraction(PatternPass):
    """Flag the products that one place reads, and all sums, with `contract`: the two may be rounded as one.

    %p = arith.mulf %a, %b : f32          %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %p, %c : f32    ->    %s = arith.addf %p, %c fastmath<contract> : f32

    A product that several places read stays without the flag. It is rounded, so that all of them see one number, even
    where each of them computes it again: else `softmax(c * x)` would subtract a rounded maximum from exact products.
    A stage whose value is such a product is read in several places if there are several `te.read` of it, or if the
    kernel returns it.
    Requires nothing, and decides before stages are inlined; `loop-uplift-to-fma` joins what is flagged.
    """

    name = "te-allow-contraction"
    anchor = KernelOp


class FlagSum(RewritePattern):
    """A sum or difference of f32 or f64 may take a product that has not been rounded."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddfOp | arith.SubfOp, rewriter: PatternRewriter) -> None:
        if op.fastmath == arith.CONTRACT or not _is_wide(op.result):
            return
        op.fastmath = arith.CONTRACT
        rewriter.notify_op_modified(op)


class FlagProduct(RewritePattern):
    """A product of f32 or f64 need not be rounded if there is one place that reads it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MulfOp, rewriter: PatternRewriter) -> None:
        if op.fastmath == arith.CONTRACT or not _is_wide(op.result) or not _has_one_reader(op.result):
            return
        op.fastmath = arith.CONTRACT
        rewriter.notify_op_modified(op)


def _is_wide(value: SSAValue) -> bool:
    """Whether processors fuse a multiplication and an addition of this type; numbers of 16 bits are widened first."""
    return isinstance(value.type, Float32Type | Float64Type)


def _has_one_reader(value: SSAValue) -> bool:
    """Whether one operation uses a value; where it is what a stage yields, whether one `te.read` reads the stage."""
    use = value.get_user_of_unique_use()
    if not isinstance(use, YieldOp) or not isinstance(stage := use.parent_op(), ComputeOp):
        return use is not None
    result = stage.results[list(use.values).index(value)]
    return isinstance(result.get_user_of_unique_use(), ReadOp)
