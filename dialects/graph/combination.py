"""Linear combinations with constant coefficients, as the transforms of fast algorithms are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from xdsl.dialects.builtin import f32
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import Predicate, less_than
from tilework.algebra.winograd import Matrix
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.te.builder import KernelBuilder, Scalar


def require_f32(op: GraphOp) -> None:
    """Refuse other element types: sums of a transform cancel, which shorter numbers do not bear."""
    for i in range(len(op.operands)):
        if op.dtype(i) != f32:
            raise VerifyException(f"{op.name} computes on f32, not on {op.dtype(i)}")


def combined(k: KernelBuilder, matrix: Matrix, i: Expr, term: Callable[[Expr], Scalar]) -> Scalar:
    """Row `i` of the matrix times a vector: a choice among the rows, each without the terms that are zero."""
    first, *rest = (partial(_weighted, row, term) for row in reversed(matrix))
    element = first
    for at, row in zip(reversed(range(len(rest))), rest, strict=True):
        element = partial(_choice, k, less_than(i, at + 1), row, element)
    return element()


def _choice(k: KernelBuilder, when: Predicate, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
    return k.if_then_else([when], then, other, f32)


def _weighted(row: Sequence[Fraction], term: Callable[[Expr], Scalar]) -> Scalar:
    """The sum of the terms times their coefficients.

    Terms that are not multiplied come first: each multiplication is part of an addition then.
    """
    total: Scalar | None = None
    for t, coefficient in sorted(enumerate(row), key=lambda pair: abs(pair[1]) != 1):
        if coefficient != 0:
            scaled = term(const(t)) if abs(coefficient) == 1 else term(const(t)) * float(abs(coefficient))
            if total is None:
                total = scaled if coefficient > 0 else -scaled
            else:
                total = total + scaled if coefficient > 0 else total - scaled
    assert total is not None
    return total
