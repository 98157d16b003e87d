"""Where along a loop the conditions inside it become certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation

from tilework.algebra.index_expr import Compound, Expr, const, maximum, minimum, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import Scope, ends_from, walk_scoped
from tilework.analysis.lanes import lane_choice
from tilework.dialects.loop import ForOp, IfOp, Kind
from tilework.dialects.loop.annotations import MASKED

MOST_PLACES = 4
"""A loop is cut into thirds first if conditions become certain at more places than this."""


def certain_conditions(loop: ForOp, scope: Scope) -> list[Predicate]:
    """Conditions on the loop's index, over what is known outside the loop, that decide conditions inside the loop.

    Where all of them hold, every condition they stem from is true throughout the iteration, whatever the inner indices.
    """
    inside = scope.inside_loop(loop.index, loop.lower, loop.upper)
    found: dict[Predicate, None] = {}
    for op, at in walk_scoped(loop.body.block, inside):
        for p in _open_conditions(op, at, loop):
            certain = _whatever_inside(p, loop, at)
            if certain is not None:
                found[certain] = None
    return list(found)


def certain_range(loop: ForOp, scope: Scope) -> tuple[Expr, Expr] | None:
    """The part `first..end` of the loop in which conditions are certain, where there is one that is not all of it.

    It lies within the loop's range, or is empty. Of a loop with many places where some condition becomes certain, as
    has one over a concatenation of many tensors, it is the middle third of these places instead: where each cut takes
    off one place, all that is left is copied and simplified as often as there are places.
    """
    simplify = scope.domain.simplify
    first, end = loop.lower, loop.upper
    ends = [ends_from(p, loop.index) for p in certain_conditions(loop, scope)]
    places = _constant_places(loop, ends)
    if len(places) > MOST_PLACES:
        return const(places[len(places) // 3]), const(places[2 * len(places) // 3])
    for start, last in ends:
        if (start is None and last is None) or any(_extrema(e) for e in (start, last) if e is not None):
            continue  # a cut at a minimum would only move the question: the loop that decides it is cut instead
        new_first = first if start is None else simplify(maximum(first, start))
        new_end = end if last is None else simplify(minimum(end, last + 1))
        if not scope.domain.is_empty(new_end - new_first):
            first, end = new_first, new_end
    return None if (first, end) == (loop.lower, loop.upper) else (first, end)


def _constant_places(loop: ForOp, ends: Iterable[tuple[Expr | None, Expr | None]]) -> list[int]:
    """The iterations inside the loop at which these ranges begin or have ended, in order, as far as they are constants.

    There are none in a loop whose own range is not constant.
    """
    if not (loop.lower.is_constant and loop.upper.is_constant):
        return []
    places = {e.offset for first, last in ends for e in (first, last and last + 1) if e is not None and e.is_constant}
    return sorted(at for at in places if loop.lower.offset < at < loop.upper.offset)


def _open_conditions(op: Operation, scope: Scope, loop: ForOp) -> Iterator[Predicate]:
    """The conditions that `op` evaluates, at every iteration of `loop` anew, and that are open."""
    conditions: list[Predicate] = []
    if isinstance(op, IfOp):
        # the first lanes pass: a count serves as well, and a mask where lanes choose between a load and a constant
        counted = not op.outputs or (MASKED in loop.attributes and lane_choice(op) is not None)
        conditions = [] if loop.kind.data is Kind.VECTORIZED and counted else list(op.conditions)
        conditions += [q for p in conditions for q in _constant_arguments(p.expr)]
    elif isinstance(op, ForOp) and (op.kind.data in (Kind.VECTORIZED, Kind.UNROLLED) or loop.partition is not None):
        conditions = [*_constant_arguments(op.upper), *_constant_arguments(op.lower)]
    for p in conditions:
        if scope.proves(p) is None:
            yield p


def _extrema(e: Expr) -> list[Compound]:
    """The minima and maxima that an expression adds up."""
    return [atom for atom, _ in e.terms if isinstance(atom, Compound) and atom.kind in ("min", "max")]


def _constant_arguments(e: Expr) -> Iterator[Predicate]:
    """The conditions under which minima and maxima are their constant arguments."""
    for atom in _extrema(e):
        constants = [a for a in atom.args if a.is_constant]
        for a in atom.args if constants else ():
            if not a.is_constant:
                yield Predicate(a - constants[0] if atom.kind == "min" else constants[0] - a)


def _whatever_inside(p: Predicate, loop: ForOp, scope: Scope) -> Predicate | None:
    """A condition on the loop's index, free of those inside it, that implies `p`; None where none is found."""
    e = p.expr
    outside = scope.domain.depth_of(loop.index)
    while (key := scope.domain.innermost(e)) is not None and scope.domain.depth_of(key) > outside:
        c = e.coefficient(key)
        if p.kind != ">=" or not e.is_affine_in(key):
            return None
        first, last = scope.domain.range_of(key)
        end = _any_argument("max", first) if c > 0 else _any_argument("min", last)
        if end is None:
            return None
        e = e.substitute({key: end})
    if loop.index not in e.variables():
        return None
    return _unequal_from(e, loop) if p.kind == "==" else Predicate(e)


def _any_argument(kind: str, end: Expr | None) -> Expr | None:
    """One argument of a minimum or maximum, each of which is an end as well: a constant one if there is one."""
    atom = end.terms[0][0] if end is not None and len(end.terms) == 1 and end.terms[0][1] == 1 else None
    if end is None or not isinstance(atom, Compound) or atom.kind != kind:
        return end
    return min(atom.args, key=lambda a: not a.is_constant) + end.offset


def _unequal_from(e: Expr, loop: ForOp) -> Predicate | None:
    """`e != 0` as a condition of the kind `>=`: at all iterations but the first, but the last, or before one between.

    What is left of the last case has the one iteration at its beginning.
    """
    at, _ = ends_from(Predicate(e, "=="), loop.index)
    if at is None:
        return None
    if at == loop.lower:
        return Predicate(var(loop.index) - at - 1)
    inside = at.is_constant and loop.lower.is_constant and loop.upper.is_constant
    return Predicate(at - var(loop.index) - 1) if inside or at == loop.upper - 1 else None
