"""Which kind of operation on numbers something is, as far as its time is concerned."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import math
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, Operation

from tilework.dialects import arith, loop

MULTIPLY_ADD = "multiply-add"
SIMPLE = "simple"
DIVISION = "division"
FUNCTION = "function"
INTEGER = "integer"

KINDS: Sequence[str] = (MULTIPLY_ADD, SIMPLE, DIVISION, FUNCTION, INTEGER)
"""Kinds of operations. A product and the sum that takes it are one multiply-add, which counts as two operations."""

_SUMS = (arith.AddfOp, arith.SubfOp)
_DIVISIONS = (arith.DivfOp, arith.RemFOp, math.SqrtOp, math.RsqrtOp)
_SIMPLE_MATH = (math.AbsFOp, math.FloorOp, math.CeilOp, math.TruncOp, math.RoundEvenOp, math.CopySignOp)


def kind_of(op: Operation) -> str | None:
    """The kind of an operation on elements; None for what takes no time of its own."""
    if isinstance(op, arith.ConstantOp | loop.YieldOp | loop.ApplyOp) or _is_of_truths(op):
        return None
    if isinstance(op, arith.IndexCastOp) or any(isinstance(v.type, IndexType) for v in op.operands):
        return None
    if isinstance(op, math.FmaOp):
        return MULTIPLY_ADD
    if isinstance(op, _SUMS) and any(_is_fused_product(v.owner, op) for v in op.operands):
        return MULTIPLY_ADD
    if isinstance(op, arith.MulfOp) and any(_is_fused_product(op, use.operation) for use in op.result.uses):
        return None  # it counts with the sum that takes it
    if isinstance(op, _DIVISIONS):
        return DIVISION
    if op.dialect_name() == "math":
        return SIMPLE if isinstance(op, _SIMPLE_MATH) else FUNCTION
    return None if not op.results else INTEGER if _is_number(op.results[0].type) else SIMPLE


def _is_of_truths(op: Operation) -> bool:
    """Whether it joins conditions, which are masks of lanes."""
    return isinstance(op, arith.AndIOp | arith.OrIOp | arith.XOrIOp) and not _is_number(op.results[0].type)


def _is_number(type_: Attribute) -> bool:
    """Whether it is that of integers, and not that of truths."""
    return isinstance(type_, IntegerType) and type_ != i1


def _is_fused_product(op: object, taker: Operation) -> bool:
    """Whether a product is only part of a sum, so that one instruction does both."""
    return isinstance(op, arith.MulfOp) and op.result.has_one_use() and isinstance(taker, _SUMS)
