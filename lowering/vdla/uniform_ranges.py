"""Where to cut a loop, so that bounds, conditions and numbers inside are the same in all iterations of a piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import groupby

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, Key, const
from tilework.dialects.loop import ApplyOp, ForOp, IfOp
from tilework.lowering.vdla.reads import valid_range


def uniform_ranges(loop: ForOp, first: int, end: int, known: Mapping[SSAValue, Expr]) -> Iterator[tuple[int, int]]:
    """Parts of the range of a loop, from its first index up to the end, such that inner bounds are constant in each."""
    decided = decided_inside(loop)

    def what_is_done(index: int) -> list[object]:
        here = {**known, loop.index: const(index)}
        return [_decided(op, here) for op in decided]

    for _, run in groupby(range(first, end), what_is_done):
        indices = list(run)
        yield indices[0], indices[-1] + 1


def decided_inside(loop: ForOp) -> list[ForOp | IfOp | ApplyOp]:
    """The loops, conditions and numbers inside of a loop of which its index decides something."""
    return [op for op in loop.body.walk() if isinstance(op, ForOp | IfOp | ApplyOp) and loop.index in _variables(op)]


def _variables(op: ForOp | IfOp | ApplyOp) -> Set[Key]:
    match op:
        case ForOp():
            return {*op.lower.variables(), *op.upper.variables()}
        case IfOp():
            return {key for predicate in op.conditions for key in predicate.expr.variables()}
        case _:
            return {*op.value.variables()}


def _decided(op: ForOp | IfOp | ApplyOp, known: Mapping[SSAValue, Expr]) -> object:
    """What a loop or a condition does, or a number is, where this is known: equal for equal things."""
    if isinstance(op, ForOp):
        return op.lower.substitute(known), op.upper.substitute(known)
    if isinstance(op, ApplyOp):
        return op.value.substitute(known)
    found: list[object] = []
    for predicate in op.conditions:
        here = predicate.substitute(known)
        found.append(here.constant if here.constant is not None else valid_range(here, op, known) or here)
    return found
