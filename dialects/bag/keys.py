"""Comparisons of words: two codes of one dictionary that stand for one value."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilework.dialects import arith
from tilework.dialects.te.builder import KernelBuilder, Scalar


def same_key(k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
    """Whether two codes of one dictionary stand for one known value."""
    known = a.compare("ge", 0)
    return k.select(known, a.compare("eq", b), known)


def keys_compared(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The codes that a value compares as `same_key` does; None for any other value."""
    select = value.owner
    if not isinstance(select, arith.SelectOp) or select.cond is not select.rhs:
        return None
    known, equal = select.cond.owner, select.lhs.owner
    if not isinstance(known, arith.CmpiOp) or not isinstance(equal, arith.CmpiOp):
        return None
    if (_relation(known), _relation(equal)) != ("sge", "eq") or known.lhs is not equal.lhs or not _is_zero(known.rhs):
        return None
    return equal.lhs, equal.rhs


def _relation(op: arith.CmpiOp) -> str:
    return arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]


def _is_zero(value: SSAValue) -> bool:
    owner: Operation | object = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return False
    return owner.value.value.data == 0
