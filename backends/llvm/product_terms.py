"""Products of words as terms of sums: which operations are written where a sum is, by instructions that multiply and
add.

A product that nothing but a sum reads is a term of it, also where it is shifted on the way; so are those of a sum that
has no other terms, if only another sum reads that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tilework.analysis.known_numbers import constants_of
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp
from tilework.dialects.support import bits, words


class Term(NamedTuple):
    """A product, and how many bits it is shifted to the left."""

    product: CallIntrinsicOp
    shift: int


def terms_in(value: SSAValue) -> Sequence[Term]:
    """The terms whose sum a value is, if it is the sum of nothing else and one operation of the block reads it."""
    op = value.owner
    if not isinstance(op, Operation) or _user(op) is None:
        return ()
    match op:
        case CallIntrinsicOp() if op.intrinsic in (words.DOT, bits.DOT):
            return (Term(op, 0),)
        case arith.ShLIOp():
            terms, distances = terms_in(op.lhs), set(constants_of(op.rhs) or ())
            if len(terms) != 1 or terms[0].product.intrinsic != bits.DOT or len(distances) != 1:
                return ()
            shift = terms[0].shift + int(distances.pop())
            return (Term(terms[0].product, shift),) if 0 <= shift < bits.BITS else ()
        case arith.AddiOp():
            left, right = terms_in(op.lhs), terms_in(op.rhs)
            return (*left, *right) if left and right else ()
        case _:
            return ()


def is_in_sum(op: Operation) -> bool:
    """Whether an operation is a part of the terms of a sum, and is written there."""
    user = _user(op)
    if user is None or not terms_in(op.results[0]):
        return False
    if isinstance(user, arith.ShLIOp):
        return bool(terms_in(user.result)) and is_in_sum(user)
    return isinstance(user, arith.AddiOp)


def _user(op: Operation) -> Operation | None:
    """The only operation that reads a result, if it is in the same block."""
    uses = list(op.results[0].uses) if len(op.results) == 1 else []
    return uses[0].operation if len(uses) == 1 and uses[0].operation.parent is op.parent else None
