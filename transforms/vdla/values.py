"""Numbers of tiles as expressions, over indices of loops, and back."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects import arith
from tilework.dialects.loop import INDEX, ApplyOp


def number_of(value: SSAValue) -> Expr:
    """What a value of type index is."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return const(number.value.data)
        case ApplyOp() as op:
            return op.value
        case _:
            return var(value)


def computing(number: Expr) -> ApplyOp | arith.ConstantOp:
    """An operation whose value is that number."""
    known = number.constant
    return ApplyOp(number) if known is None else arith.ConstantOp(IntegerAttr(known, INDEX))
