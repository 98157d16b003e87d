"""Regions of index expressions: the interval an expression covers while some of its variables run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

import numpy as np

from tilework.algebra.index_expr import Atom, Compound, Expr, Key, Var, const, maximum, minimum

Interval = tuple[Expr, Expr]
"""An interval of integers with both ends included."""

MOST_POINTS = 4096
"""How many values of the running variables are tried one by one."""


def interval(e: Expr, ranges: Mapping[Key, Interval]) -> Interval:
    """The inclusive ends of `e` while the variables in `ranges` run, the others fixed.

    Exact where each running variable occurs in one term only, and where those in quotients, remainders, minima and
    maxima have few values and stand with no other variables; otherwise an interval that contains the values.
    Ends of a range may use other variables of `ranges`; they are eliminated in turn.
    """
    low = high = const(e.offset)
    for terms in _related(e.terms, ranges):
        first, last = _sum_interval(terms, ranges)
        low, high = low + first, high + last
    return low, high


Lattice = tuple[Expr, int]
"""One value of an expression, and a number whose multiples lead from there to all others; 0 where there are none."""


def lattice(e: Expr, ranges: Mapping[Key, Interval]) -> Lattice:
    """Which values `e` may take while the variables in `ranges`, which start from 0, run."""
    running = {k for k, (_, last) in ranges.items() if last != 0}
    steps = [c for atom, c in e.terms if running & set(Expr(((atom, 1),), 0).variables())]
    return e.substitute(dict.fromkeys(ranges, const(0))), gcd(*steps)


def common_step(lattices: Sequence[Lattice]) -> int:
    """The greatest step that reaches all values of several lattices from any of them; 1 where they may be unrelated."""
    first = lattices[0][0]
    offsets = [(value - first).constant for value, _ in lattices]
    if None in offsets:
        return 1
    return gcd(*(o for o in offsets if o is not None), *(step for _, step in lattices)) or 1


Term = tuple[Atom, int]


def _related(terms: Sequence[Term], ranges: Mapping[Key, Interval]) -> list[list[Term]]:
    """The terms in groups: those that share a running variable together."""
    groups: list[tuple[set[Key], list[Term]]] = []
    for term in terms:
        keys = {k for k in Expr((term,), 0).variables() if k in ranges}
        group = [term]
        for other in [g for g in groups if g[0] & keys]:
            groups.remove(other)
            keys |= other[0]
            group = other[1] + group
        groups.append((keys, group))
    return [group for _, group in groups]


def _sum_interval(terms: list[Term], ranges: Mapping[Key, Interval]) -> Interval:
    e = Expr(tuple(terms), 0)
    if any(isinstance(atom, Compound) for atom, _ in terms):
        exact = _tried(e, ranges)
        if exact is not None:
            return exact
    low = high = const(0)
    for atom, c in terms:
        first, last = _atom_interval(atom, ranges)
        if c < 0:
            first, last = last, first
        low, high = low + first * c, high + last * c
    return low, high


def _tried(e: Expr, ranges: Mapping[Key, Interval]) -> Interval | None:
    """The ends by trying all values, where all variables run over few."""
    choices: list[slice] = []
    points = 1
    for key in e.variables():
        first, last = ranges.get(key, (e, e))
        if first.constant is None or last.constant is None:
            return None
        choices.append(slice(first.constant, last.constant + 1))
        points *= max(0, last.constant + 1 - first.constant)
        if not 0 < points <= MOST_POINTS:
            return None
    values = e.evaluate(dict(zip(e.variables(), np.ogrid[tuple(choices)], strict=True)))
    return const(int(values.min())), const(int(values.max()))


def _atom_interval(atom: Atom, ranges: Mapping[Key, Interval]) -> Interval:
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
    if atom.kind in ("floordiv", "mod") and (inside := _within_a_block(atom, ranges)) is not None:
        return inside
    ends = [interval(a, ranges) for a in atom.args]
    if atom.kind == "min":
        return minimum(*(e[0] for e in ends)), minimum(*(e[1] for e in ends))
    if atom.kind == "broadcast":
        return minimum(*(e[0] for e in ends)), maximum(*(e[1] for e in ends))
    if atom.kind == "max":
        return maximum(*(e[0] for e in ends)), maximum(*(e[1] for e in ends))
    if atom.kind == "floordiv":
        return _quotient_interval(*ends)
    if atom.kind == "mod":
        return _remainder_interval(*ends[1])
    return _product_interval(ends)


def _quotient_interval(dividend: Interval, divisor: Interval) -> Interval:
    """No quotient is further from 0 than the dividend."""
    (low, high), (least, most) = dividend, divisor
    if least == most and _is_size(least):
        return low // least, high // least
    if _is_size(least) and least.offset > 0:
        return minimum(low // least, low // most), maximum(high // least, high // most)
    return minimum(low, -high, 0), maximum(high, -low, 0)


def _remainder_interval(least: Expr, most: Expr) -> Interval:
    """The range of a remainder by divisors from `least` to `most`; a negative divisor leaves nothing positive."""
    if least == most and _is_size(least):
        return const(0), most - 1
    return const(0) if _is_size(least) else minimum(least + 1, 0), maximum(most - 1, 0)


def _is_size(e: Expr) -> bool:
    """Whether it is never negative, as it is made of sizes."""
    return e.offset >= 0 and all(c >= 0 for _, c in e.terms)


def _within_a_block(atom: Compound, ranges: Mapping[Key, Interval]) -> Interval | None:
    """The quotient or remainder of g*q + r by a multiple d of g, where r runs within 0 .. g - 1: the quotient is fixed,
    the remainder runs as r.

    (g*q + r) floordiv d = (g*q) floordiv d and (g*q + r) mod d = (g*q) mod d + r.
    """
    e, d = atom.args[0], atom.args[1].constant
    if d is None:
        return None
    fixed = tuple(t for t in e.terms if not any(k in ranges for k in Expr((t,), 0).variables()))
    g = gcd(d, *(c for _, c in fixed))
    low, high = (end.constant for end in interval(e - Expr(fixed, 0), ranges))
    if low is None or high is None or low // g != high // g:
        return None
    base = Expr(fixed, 0) + low // g * g
    if atom.kind == "floordiv":
        return base // d, base // d
    return base % d + low % g, base % d + high % g


def _product_interval(ends: list[Interval]) -> Interval:
    """Factors of a product are sizes and loop variables, never negative."""
    low, high = const(1), const(1)
    for first, last in ends:
        low, high = low * first, high * last
    return low, high
