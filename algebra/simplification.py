"""Rewriting index expressions by the ranges of their variables."""

from __future__ import annotations

from itertools import permutations
from math import gcd
from typing import Protocol

from tilework.algebra.index_expr import Compound, Expr, Key, Var, broadcast, const, divide, maximum, minimum
from tilework.algebra.predicate import Predicate, at_least, less_than


class Ranges(Protocol):
    """What simplification asks of a domain; `bounds.Domain` is one."""

    def range_of(self, key: Key) -> tuple[Expr | None, Expr | None]:
        """The inclusive ends of a variable, None where unknown."""
        ...

    def value_of(self, compound: Compound) -> int | None:
        """The value of a quotient or remainder that has but one; None where that is not known."""
        ...

    def lower(self, e: Expr) -> int | None:
        """A constant that `e` never goes below."""
        ...

    def upper(self, e: Expr) -> int | None:
        """A constant that `e` never exceeds."""
        ...

    def proves(self, p: Predicate) -> bool | None:
        """The truth of a predicate where the ranges decide it."""
        ...


def simplified(e: Expr, ranges: Ranges) -> Expr:
    """An equal expression with quotients, remainders, minima and maxima resolved where the ranges allow."""
    if all(isinstance(a, Var) for a, _ in e.terms):
        return _pin(e, ranges)
    result = const(e.offset)
    for atom, c in e.terms:
        value = Expr(((atom, 1),), 0) if isinstance(atom, Var) else _simplified_atom(atom, ranges)
        result = result + value * c
    return _pin(_absorb(_as_remainder(_recombine_symbolic(_recombine(_cancel(result))))), ranges)


def _pin(e: Expr, ranges: Ranges) -> Expr:
    """Replace variables that have one value only."""
    pinned: dict[Key, Expr] = {}
    for key in e.variables():
        first, last = ranges.range_of(key)
        if first is not None and first == last and first.is_constant:
            pinned[key] = first
    return e.substitute(pinned) if pinned else e


def _simplified_atom(atom: Compound, ranges: Ranges) -> Expr:
    if (value := ranges.value_of(atom)) is not None:
        return const(value)
    args = [simplified(a, ranges) for a in atom.args]
    if atom.kind in ("min", "max"):
        return _simplified_extremum(atom.kind, args, ranges)
    if atom.kind == "broadcast":
        return broadcast(*args)
    if atom.kind == "product":
        result = const(1)
        for a in args:
            result = result * a
        return result
    e, divisor = args
    if divisor.constant is None:
        return _simplified_symbolic_division(atom.kind, e, divisor, ranges)
    if divisor.constant == 0:
        return const(0)  # the quotient by 0, and what it leaves
    quotient, rest, d = _parts(e, divisor.constant, ranges)
    return quotient // d if atom.kind == "floordiv" else quotient % d * (divisor.constant // d) + rest


# -- quotients and remainders


def _parts(e: Expr, d: int, ranges: Ranges) -> tuple[Expr, Expr, int]:
    """`(q, r, f)` with `e == g*q + r`, `0 <= r < g` and `d == g*f`, g as large as the ranges show; 1 at least.

    Then `e floordiv d == q floordiv f` and `e mod d == g * (q mod f) + r`.
    """
    for g in sorted({d, *(gcd(c, d) for _, c in e.terms)} - {1}, reverse=True):
        whole = Expr(tuple((a, c) for a, c in e.terms if c % g == 0), 0)
        rest = e - whole
        low, high = ranges.lower(rest), ranges.upper(rest)
        if low is not None and high is not None and low // g == high // g:
            return whole // g + low // g, rest - low // g * g, d // g
    return e, const(0), d


def _simplified_symbolic_division(kind: str, e: Expr, d: Expr, ranges: Ranges) -> Expr:
    quotient, rest = divide(e, d)
    if ranges.proves(at_least(rest, 0)) and ranges.proves(less_than(rest, d)):
        return quotient if kind == "floordiv" else rest
    return e // d if kind == "floordiv" else e % d


def _recombine(e: Expr) -> Expr:
    """d * (x floordiv d) + x mod d is x, and d * ((x floordiv d) mod n) + x mod d is x mod (d * n)."""
    terms = dict(e.terms)
    for atom, c in e.terms:
        if not isinstance(atom, Compound) or atom.kind != "mod" or not (d := atom.args[1].constant):
            continue
        x, quotient = atom.args[0], atom.args[0] // d
        own = Expr(((atom, c),), 0)
        if len(quotient.terms) == 1 and not quotient.offset:
            [(q, qc)] = quotient.terms
            if terms.get(q) == c * d * qc:
                return _recombine(e - own - quotient * (c * d) + x * c)
        for other, factor in e.terms:
            if factor == c * d and isinstance(other, Compound) and other.kind == "mod" and other.args[0] == quotient:
                return _recombine(e - own - Expr(((other, factor),), 0) + x % (other.args[1] * d) * c)
    return e


def _recombine_symbolic(e: Expr) -> Expr:
    """d * (x floordiv d) + x mod d is x for a symbolic d too, both perhaps multiplied by others."""
    for atom, c in e.terms:
        if not isinstance(atom, Compound):
            continue
        for factor in atom.args if atom.kind == "product" else (Expr(((atom, 1),), 0),):
            match factor.terms:
                case ((Compound(kind="mod", args=(x, d)), 1),) if not factor.offset and not d.is_constant:
                    others = divide(Expr(((atom, c),), 0), factor)[0]
                    joined = e - others * (factor + d * (x // d) - x)
                    if _divisions(joined) < _divisions(e):
                        return _recombine_symbolic(joined)
                case _:
                    pass
    return e


def _divisions(e: Expr) -> int:
    """How many quotients and remainders an expression has."""
    compounds = [atom for atom, _ in e.terms if isinstance(atom, Compound)]
    return sum((a.kind in ("floordiv", "mod")) + sum(map(_divisions, a.args)) for a in compounds)


def _as_remainder(e: Expr) -> Expr:
    """x - d * (x floordiv d) is x mod d, where that leaves fewer terms."""
    for atom, c in e.terms:
        d = atom.args[1].constant if isinstance(atom, Compound) and atom.kind == "floordiv" else None
        if isinstance(atom, Compound) and d is not None and c % d == 0:
            x = atom.args[0]
            other = e - Expr(((atom, c),), 0) + (x - x % d) * (c // d)
            if len(other.terms) < len(e.terms):
                return _as_remainder(other)
    return e


# -- minima and maxima


def _simplified_extremum(kind: str, args: list[Expr], ranges: Ranges) -> Expr:
    kept: list[Expr] = []
    for i, a in enumerate(args):
        others = kept + args[i + 1 :]
        if not any(ranges.proves(at_least(a, b) if kind == "min" else at_least(b, a)) for b in others):
            kept.append(a)
    return (minimum if kind == "min" else maximum)(*kept)


def _extrema(e: Expr) -> list[tuple[Compound, int]]:
    return [(a, c) for a, c in e.terms if isinstance(a, Compound) and a.kind in ("min", "max")]


def _cancel(e: Expr) -> Expr:
    """min(x + n, y + n) is min(x, y) + n: the two count as one where both occur."""
    for (a, c), (b, _) in permutations(_extrema(e), 2):
        if a.kind == b.kind and (n := _translation(a, b)) is not None:
            return _cancel(e - Expr(((a, c),), 0) + Expr(((b, c),), 0) + n * c)
    return e


def _translation(a: Compound, b: Compound) -> int | None:
    """The number by which every argument of `a` exceeds one of `b`; None where there is none."""
    for other in b.args:
        n = (a.args[0] - other).constant
        if n is not None and {x - n for x in a.args} == set(b.args):
            return n
    return None


def _absorb(e: Expr) -> Expr:
    """min(x, y) - x is min(0, y - x), where that is shorter."""
    extrema = _extrema(e)
    if len(extrema) != 1:
        return e
    [(atom, c)] = extrema
    rest = e - Expr(((atom, c),), 0)
    args = [a * c + rest for a in atom.args]
    if sum(map(_length, args)) >= sum(map(_length, atom.args)) + _length(rest):
        return e
    return (minimum if (atom.kind == "min") == (c > 0) else maximum)(*args)


def _length(e: Expr) -> int:
    return len(e.terms) + bool(e.offset)
