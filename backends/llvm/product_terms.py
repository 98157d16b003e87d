"""Products of words as terms of sums: which operations are written where a sum is, by instructions that multiply and
add.

A product that nothing but a sum reads is a term of it, also where it is shifted on the way; so are those of a sum that
has no other terms, if only another sum reads that one. A sum of floats takes products in where it carries `contract`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.known_numbers import constants_of
from tilework.backends.llvm.emitter import Emitter
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp
from tilework.dialects.support import bfloat16, bits, words

_PRODUCTS = (bfloat16.DOT, bits.DOT, words.DOT)


class Term(NamedTuple):
    """A product, and how many bits it is shifted to the left."""

    product: CallIntrinsicOp
    shift: int


class Terms:
    """Those of the sums of a block."""

    def __init__(self, block: Block):
        self._terms: dict[SSAValue, Sequence[Term]] = {}
        """Values that are the sum of nothing else -> their terms, where one operation of the block reads them."""
        for op in block.ops:
            if (terms := self._made_by(op)) and _user(op) is not None:
                self._terms[op.results[0]] = terms

    def is_in_sum(self, op: Operation) -> bool:
        """Whether an operation is a part of the terms of a sum, and is written there."""
        user = _user(op)
        if user is None or op.results[0] not in self._terms:
            return False
        return self.is_in_sum(user) if isinstance(user, arith.ShLIOp) else _takes_products(user)

    def parts_of(self, op: arith.AddiOp | arith.AddfOp) -> tuple[list[SSAValue], list[Term]]:
        """The operands of a sum that are no sums of terms, and the terms of those that are."""
        if not _takes_products(op):
            return list(op.operands), []
        terms = [self._terms.get(v, ()) for v in op.operands]
        others = [v for v, found in zip(op.operands, terms, strict=True) if not found]
        return others, [*terms[0], *terms[1]]

    def _made_by(self, op: Operation) -> Sequence[Term]:
        """The terms whose sum an operation computes, if it is the sum of nothing else."""
        if isinstance(op, CallIntrinsicOp):
            return (Term(op, 0),) if op.intrinsic in _PRODUCTS else ()
        if isinstance(op, arith.ShLIOp):
            return self._shifted(op)
        if isinstance(op, arith.AddiOp | arith.AddfOp):
            others, terms = self.parts_of(op)
            return () if others else terms
        return ()

    def _shifted(self, op: arith.ShLIOp) -> Sequence[Term]:
        """A count of bits that is shifted by a constant."""
        terms, distances = self._terms.get(op.lhs, ()), set(constants_of(op.rhs) or ())
        if len(terms) != 1 or terms[0].product.intrinsic != bits.DOT or len(distances) != 1:
            return ()
        shift = terms[0].shift + int(distances.pop())
        return (Term(terms[0].product, shift),) if 0 <= shift < bits.BITS else ()


def terms_around(e: Emitter, op: Operation) -> Terms:
    """The terms of the block that an operation is in."""
    block = op.parent
    assert block is not None
    found = e.plans.get(("terms", block))
    if found is None:
        found = e.plans["terms", block] = Terms(block)
    return found


def _takes_products(op: Operation) -> bool:
    """Whether an operation is a sum whose terms may be added in another order."""
    if isinstance(op, arith.AddfOp):
        return arith.FastMathFlag.ALLOW_CONTRACT in op.fastmath.data
    return isinstance(op, arith.AddiOp)


def _user(op: Operation) -> Operation | None:
    """The only operation that reads a result, if it is in the same block."""
    uses = list(op.results[0].uses) if len(op.results) == 1 else []
    return uses[0].operation if len(uses) == 1 and uses[0].operation.parent is op.parent else None
