"""Accesses that are certainly out of bounds: how they are found, and what is said of them. For te and for loop."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.iterations import Iterations, Point
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects import arith


def point_outside(index: Expr, size: Expr, iterations: Iterations) -> Point | None:
    """A point that is come to and at which an index is not within a size; None where none is found."""
    for inside, outside in (
        (at_least(index, 0), less_than(index, 0)),
        (less_than(index, size), at_least(index, size)),
    ):
        if not iterations.domain.proves(inside) and (point := iterations.point_where(outside)) is not None:
            return point
    return None


def is_thrown_away(value: SSAValue) -> bool:
    """Whether what is computed of a value may be thrown away: it is an arm of a select, and nothing else."""
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, arith.SelectOp):
                if use.index == 0:
                    return False
                continue
            if user.regions or not user.results:
                return False
            pending += [result for result in user.results if result not in seen]
            seen.update(user.results)
    return True


# -- for messages


def key_name(key: Key) -> str:
    """A variable of an index."""
    return f"%{key.name_hint or '?'}" if isinstance(key, SSAValue) else str(key)


def shown(e: Expr) -> Expr:
    """An index over the names of its variables."""
    return e.rename(key_name)


def described(index: Expr, point: Point, iterations: Iterations) -> str:
    """An index, between which ends it runs, and what it is at a point."""
    if index.is_constant:
        return str(index)
    reach = iterations.reach(index)
    runs = "" if reach is None else f" runs from {reach[0]} to {reach[1]}, and"
    return f"{shown(index)}{runs} is {shown(index.substitute(point))}{place(point, index)}"


def place(point: Point, e: Expr) -> str:
    """The variables of an expression at a point, each with its value."""
    named = [f"{key_name(key)} = {shown(point[key])}" for key in e.variables() if key in point]
    return f" at {', '.join(named)}" if named else ""
