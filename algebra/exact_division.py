"""Sums of sizes as they would be if every size divided: what a `-1` in a shape is compared with."""

from __future__ import annotations

from tilework.algebra.index_expr import Atom, Compound, Expr, const, divide, factors_of, product


def without_rounding(e: Expr) -> Expr:
    """What a sum of sizes would be if they divided: d * (x floordiv d) becomes x, also for a divisor that varies."""
    total = const(e.offset)
    for atom, c in e.terms:
        total = total + _without_rounding(atom, c)
    return total


def _without_rounding(atom: Atom, c: int) -> Expr:
    factors = factors_of(atom)
    for i, factor in enumerate(factors):
        match factor.terms:
            case ((Compound(kind="floordiv", args=(x, d)), 1),) if not factor.offset:
                others = product([c, *factors[:i], *factors[i + 1 :]])
                times, rest = (others // d, others % d) if d.is_constant else divide(others, d)
                if rest == 0:
                    return without_rounding(x * times)
            case _:
                pass
    return Expr(((atom, c),), 0)
