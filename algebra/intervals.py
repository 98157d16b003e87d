"""Regions of index expressions: the interval an expression covers while some of its variables run."""

from __future__ import annotations

from collections.abc import Mapping

from tilework.algebra.index_expr import Compound, Expr, Key, Var, const, maximum, minimum

Interval = tuple[Expr, Expr]
"""Inclusive ends."""


def interval(e: Expr, ranges: Mapping[Key, Interval]) -> Interval:
    """The inclusive ends of `e` while the variables in `ranges` run, the others fixed.

    Exact where each running variable occurs in one term only; otherwise an interval that contains the values.
    Ends of a range may use other variables of `ranges`; they are eliminated in turn.
    """
    low = high = const(e.offset)
    for atom, c in e.terms:
        first, last = _atom_interval(atom, ranges)
        if c < 0:
            first, last = last, first
        low, high = low + first * c, high + last * c
    return low, high


def _atom_interval(atom: Var | Compound, ranges: Mapping[Key, Interval]) -> Interval:
    if isinstance(atom, Var):
        if atom.key not in ranges:
            fixed = Expr(((atom, 1),), 0)
            return fixed, fixed
        first, last = ranges[atom.key]
        rest = {k: r for k, r in ranges.items() if k != atom.key}
        return interval(first, rest)[0], interval(last, rest)[1]
    if not any(k in ranges for a in atom.args for k in a.variables()):
        fixed = Expr(((atom, 1),), 0)
        return fixed, fixed
    ends = [interval(a, ranges) for a in atom.args]
    if atom.kind == "min":
        return minimum(*(e[0] for e in ends)), minimum(*(e[1] for e in ends))
    if atom.kind == "max":
        return maximum(*(e[0] for e in ends)), maximum(*(e[1] for e in ends))
    if atom.kind == "floordiv":
        divisor = atom.args[1]
        return ends[0][0] // divisor, ends[0][1] // divisor
    if atom.kind == "mod":
        return const(0), atom.args[1] - 1
    return _product_interval(ends)


def _product_interval(ends: list[Interval]) -> Interval:
    """Factors of a product are sizes and loop variables, never negative."""
    low, high = const(1), const(1)
    for first, last in ends:
        low, high = low * first, high * last
    return low, high
