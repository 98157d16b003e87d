"""Numbers of tiles as expressions, over indices of loops."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp


def number_of(value: SSAValue) -> Expr:
    """What a value of type index is."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return const(number.value.data)
        case ApplyOp() as op:
            return op.value
        case _:
            return var(value)
