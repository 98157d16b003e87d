"""What there is for bfloat16: dot products of pairs; else processors, by and large, convert it only."""

from __future__ import annotations

from xdsl.dialects import vector
from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Attribute, Operation

from tilework.dialects import arith
from tilework.dialects.support.shapes import element_type

DOT = "bf16.dot"
"""The intrinsic that multiplies the two numbers of a word by those of another one, and sums up."""

PAIR = 2
"""How many numbers a word of 32 bits holds: the first one is in its lower half."""

_NO_ARITHMETIC = (arith.BitcastOp, arith.ConstantOp, arith.ExtFOp, arith.SelectOp, arith.TruncFOp)
"""What moves, chooses or converts numbers."""


def is_bfloat16(type_: Attribute) -> bool:
    """Whether a scalar, or the elements of a vector, are bfloat16."""
    return isinstance(element_type(type_), BFloat16Type)


def computes_in_bfloat16(op: Operation) -> bool:
    """Whether an operation is arithmetic on bfloat16, or makes such from integers or the other way round."""
    if not any(is_bfloat16(v.type) for v in (*op.operands, *op.results)) or isinstance(op, _NO_ARITHMETIC):
        return False
    return op.dialect_name() in ("arith", "math") or isinstance(op, vector.FMAOp)
