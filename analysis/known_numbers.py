"""Which integers an operand may be, as far as constants and the ranges of indices tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr, var
from tilework.analysis.domains import scope_at
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp
from tilework.dialects.support.shapes import element_type


def may_be(value: SSAValue, number: int, at: Operation) -> bool:
    """Whether a divisor may be that number, as far as constants and the ranges of indices tell."""
    element = element_type(value.type)
    width = cast("IntegerType", element).width.data if isinstance(element, IntegerType) else 64
    numbers = constants_of(value)
    if numbers is not None:
        return any((n - number) % (1 << width) == 0 for n in numbers)
    index = _index(value)
    if index is None:
        return True
    domain = scope_at(at).domain
    low, high = domain.lower(index), domain.upper(index)
    if low is None or high is None or width < 64 and not -(1 << width - 1) <= low <= high < 1 << width - 1:
        return True  # bits of it may be lost
    return low <= number <= high


def constants_of(value: SSAValue) -> Sequence[int] | None:
    """The numbers that a value, or its lanes, are; None where they are not known."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return [number.value.data]
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as numbers):
            return cast("Sequence[int]", numbers.get_values())
        case vector.BroadcastOp() as op:
            return constants_of(op.source)
        case _:
            return None


def _index(value: SSAValue) -> Expr | None:
    """The index that a value is, or was before it was converted to a number; None for any other value."""
    match value.owner:
        case arith.IndexCastOp() as op if isinstance(op.input.type, IndexType):
            return _index(op.input)
        case ApplyOp() as op:
            return op.value
        case _:
            return var(value) if isinstance(value.type, IndexType) else None
