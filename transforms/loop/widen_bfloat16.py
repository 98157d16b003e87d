"""Compute with bfloat16 in f32."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import VectorType, bf16, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from tilework.dialects import arith
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.bfloat16 import computes_in_bfloat16, is_bfloat16
from tilework.dialects.support.locations import copy_location
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    return f"arithmetic on {bf16}" if computes_in_bfloat16(op) else None


@dataclass(frozen=True)
class WidenBfloat16(PatternPass):
    """Compute with bfloat16 in f32, and round each result.

                                         %x = arith.extf %a : bf16 to f32
    %c = arith.addf %a, %b : bf16   ->   %y = arith.extf %b : bf16 to f32
                                         %z = arith.addf %x, %y : f32
                                         %c = arith.truncf %z : f32 to bf16

    A sum, product, quotient or root is rounded as if it had been computed exactly: f32 has more than twice the digits.
    What moves, chooses or converts numbers stays as it is.
    Leaves no arithmetic on bf16.
    """

    name = "loop-widen-bfloat16"
    anchor = KernelOp
    legal_after = staticmethod(_legal)

    def operations(self, op: Operation) -> Iterable[Operation]:
        return [inner for inner in super().operations(op) if computes_in_bfloat16(inner)]


class ComputeWide(RewritePattern):
    """What is computed of two numbers of bfloat16 is computed of them in f32, and rounded."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not computes_in_bfloat16(op):
            return
        for i, operand in enumerate(op.operands):
            if is_bfloat16(operand.type):
                wide = arith.ExtFOp(operand, _wide_type(operand.type))
                copy_location(wide, op)
                op.operands[i] = rewriter.insert(wide).result
        for result in op.results:
            if is_bfloat16(result.type):
                _round(op, result, rewriter)


def _round(op: Operation, result: SSAValue, rewriter: PatternRewriter) -> None:
    """Let an operation make an f32, of which others read the bfloat16 next to it."""
    narrow = result.type
    wide = rewriter.replace_value_with_new_type(result, _wide_type(narrow))
    rounded = arith.TruncFOp(wide, narrow)
    copy_location(rounded, op)
    rewriter.insert(rounded, InsertPoint.after(op))
    rewriter.replace_uses_with_if(wide, rounded.result, lambda use: use.operation is not rounded)
    rounded.result.name_hint, wide.name_hint = wide.name_hint, None


def _wide_type(type_: Attribute) -> Attribute:
    return VectorType(f32, type_.shape, type_.scalable_dims) if isinstance(type_, VectorType) else f32
