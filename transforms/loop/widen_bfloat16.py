"""Compute with bfloat16 in f32."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import VectorType, bf16, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilework.dialects import arith
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.bfloat16 import computes_in_bfloat16, is_bfloat16
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass


def _legal(op: Operation) -> str | None:
    return f"arithmetic on {bf16}" if computes_in_bfloat16(op) else None


@dataclass(frozen=True)
class WidenBfloat16(TileworkPass):
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

    def run(self, ctx: Context, op: Operation) -> None:
        for inner in [inner for inner in op.walk() if computes_in_bfloat16(inner)]:
            _widen(inner)


def _widen(op: Operation) -> None:
    block = op.parent_block()
    assert block is not None
    for i, operand in enumerate(op.operands):
        if is_bfloat16(operand.type):
            wide = arith.ExtFOp(operand, _wide_type(operand.type))
            copy_location(wide, op)
            block.insert_op_before(wide, op)
            op.operands[i] = wide.result
    for result in op.results:
        if is_bfloat16(result.type):
            _round(op, result)


def _round(op: Operation, result: SSAValue) -> None:
    """Let an operation make an f32, of which others read the bfloat16 next to it."""
    block, narrow = op.parent_block(), result.type
    assert block is not None
    wide = Rewriter.replace_value_with_new_type(result, _wide_type(narrow))
    rounded = arith.TruncFOp(wide, narrow)
    copy_location(rounded, op)
    block.insert_op_after(rounded, op)
    wide.replace_uses_with_if(rounded.result, lambda use: use.operation is not rounded)
    rounded.result.name_hint, wide.name_hint = wide.name_hint, None


def _wide_type(type_: Attribute) -> Attribute:
    return VectorType(f32, type_.shape, type_.scalable_dims) if isinstance(type_, VectorType) else f32
