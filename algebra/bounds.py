"""What is known of an index expression whose variables have ranges.

A `Domain` lists variables from outermost to innermost, each with inclusive ends that may use the variables before it.
Bounds eliminate variables from the innermost outwards, replacing each by the end that its coefficient asks for: exact
for expressions that are linear in the variables, whatever the dependence between ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd

from tilework.algebra.index_expr import (
    Compound,
    Expr,
    ExprLike,
    Key,
    Var,
    const,
    maximum,
    minimum,
    to_expr,
)
from tilework.algebra.predicate import Predicate

EFFORT = 400
"""How many eliminations a bound may take: nested minima and maxima double the work each."""


class Domain:
    """Variables with ranges `first..last` (both included, None where unknown), outermost first."""

    def __init__(self, ranges: Mapping[Key, tuple[ExprLike | None, ExprLike | None]] | None = None):
        self._ranges: dict[Key, tuple[Expr | None, Expr | None]] = {}
        self._known: dict[Expr, int | None] = {}
        self._effort = 0
        for key, (first, last) in (ranges or {}).items():
            self.add(key, first, last)

    def add(self, key: Key, first: ExprLike | None, last: ExprLike | None) -> None:
        """Append an innermost variable, or narrow the knowledge of a known one."""
        self._ranges[key] = (
            None if first is None else to_expr(first),
            None if last is None else to_expr(last),
        )
        self._known.clear()

    def extended(self, key: Key, first: ExprLike | None, last: ExprLike | None) -> Domain:
        """A copy with one more innermost variable."""
        result = Domain()
        result._ranges = dict(self._ranges)
        result.add(key, first, last)
        return result

    def range_of(self, key: Key) -> tuple[Expr | None, Expr | None]:
        """The inclusive ends of a variable; (None, None) for one that is not known."""
        return self._ranges.get(key, (None, None))

    def innermost(self, e: Expr) -> Key | None:
        """The innermost variable of `e`, unknown ones being innermost of all; None for a constant."""
        return max(e.variables(), key=self.depth_of, default=None)

    # -- numeric bounds

    def lower(self, e: ExprLike) -> int | None:
        """A constant that `e` never goes below, the greatest that the ranges show; None where there is none."""
        e = to_expr(e)
        if e.is_constant:
            return e.offset
        if e not in self._known:
            self._effort = EFFORT
            self._known[e] = self._lower(e, 0)
        return self._known[e]

    def upper(self, e: ExprLike) -> int | None:
        """A constant that `e` never exceeds, the least that the ranges show; None where there is none."""
        low = self.lower(-to_expr(e))
        return None if low is None else -low

    def _lower(self, e: Expr, depth: int) -> int | None:
        if e.is_constant:
            return e.offset
        self._effort -= 1
        if depth > 64 or self._effort < 0:
            return None
        for atom, c in e.terms:
            if isinstance(atom, Compound):
                return self._lower_compound(e, atom, c, depth)
        # linear: eliminate the innermost variable
        keys = [a.key for a, _ in e.terms if isinstance(a, Var)]
        key = max(keys, key=self.depth_of)
        c = e.coefficient(key)
        first, last = self.range_of(key)
        end = first if c > 0 else last
        if end is None:
            return None
        return self._lower(e.substitute({key: end}), depth + 1)

    def depth_of(self, key: Key) -> int:
        """The position of a variable counted from the outermost; unknown ones are innermost."""
        return list(self._ranges).index(key) if key in self._ranges else len(self._ranges)

    def _lower_compound(self, e: Expr, atom: Compound, c: int, depth: int) -> int | None:
        """Replace one compound by expressions that bound it from the side its coefficient asks for; best of them."""
        rest = e - Expr(((atom, c),), 0)
        best: int | None = None
        bounds = [bound * c for bound in self._one_sided(atom, below=c > 0, depth=depth)]
        if atom.kind == "floordiv" and (d := atom.args[1].constant) and c % d == 0:
            # x - d + 1 <= d * (x floordiv d) <= x
            x = atom.args[0]
            bounds.append((x - d + 1 if c > 0 else x) * (c // d))
        if (both := self._difference_of_quotients(e, atom, c, depth)) is not None:
            other, bound = both
            bounds.append(Expr(((other, c),), 0) + bound)
        for bound in bounds:
            low = self._lower(rest + bound, depth + 1)
            if low is not None and (best is None or low > best):
                best = low
        if (atom.kind == "min") == (c > 0) and atom.kind in ("min", "max"):
            # min from below (max from above) is the worst of its arguments
            lows = [self._lower(rest + a * c, depth + 1) for a in atom.args]
            known = [x for x in lows if x is not None]
            if len(known) == len(lows) and (best is None or min(known) > best):
                best = min(known)
        return best

    def _difference_of_quotients(self, e: Expr, atom: Compound, c: int, depth: int) -> tuple[Compound, int] | None:
        """Of `c * (x floordiv d) - c * (y floordiv d)` in `e`: the other atom, and a lower bound of the difference."""
        for other, factor in e.terms:
            if factor != -c or not isinstance(other, Compound) or (atom.kind, other.kind) != ("floordiv",) * 2:
                continue
            (x, d), (y, other_d) = (atom.args, other.args) if c > 0 else (other.args, atom.args)
            if d != other_d or d.constant is None:
                continue
            # x floordiv d - y floordiv d >= (x - y) floordiv d
            low = self._lower(x - y, depth + 1)
            if low is not None:
                return other, abs(c) * (low // d.constant)
        return None

    def _one_sided(self, atom: Compound, *, below: bool, depth: int) -> Iterable[Expr]:
        """Expressions that are never above (`below`) or never below the atom."""
        if atom.kind in ("min", "max"):
            return atom.args if (atom.kind == "max") == below else ()
        if atom.kind == "floordiv" and (d := atom.args[1].constant):
            low = self._lower(atom.args[0] if below else -atom.args[0], depth + 1)
            return () if low is None else (const(low // d if below else -low // d),)
        if atom.kind == "mod":
            d = atom.args[1].constant
            ends = [const(0)] if below else ([] if d is None else [const(d - 1)])
            low = self._lower(atom.args[0], depth + 1)
            if not below and low is not None and low >= 0:
                ends.append(atom.args[0])  # x mod d <= x for x >= 0
            return ends
        if atom.kind == "product":
            return self._product_bound(atom, below, depth)
        return ()

    def _product_bound(self, atom: Compound, below: bool, depth: int) -> Iterable[Expr]:
        ends = [(self._lower(a, depth + 1), self._lower(-a, depth + 1)) for a in atom.args]
        lows = [lo for lo, _ in ends]
        if any(lo is None or lo < 0 for lo in lows):
            return ()
        value = 1
        for lo, negated_hi in ends:
            end = lo if below else (None if negated_hi is None else -negated_hi)
            if end is None:
                return ()
            value *= end
        return (const(value),)

    # -- proofs

    def proves(self, p: Predicate) -> bool | None:
        """True or False where the ranges decide the predicate, None where they do not."""
        if (known := p.constant) is not None:
            return known
        low, high = self.lower(p.expr), self.upper(p.expr)
        if p.kind == ">=":
            if low is not None and low >= 0:
                return True
            return False if high is not None and high < 0 else None
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        return True if low == high == 0 else None

    def is_empty(self, e: ExprLike) -> bool:
        """Whether an extent `e` is certainly zero or less."""
        high = self.upper(e)
        return high is not None and high <= 0

    # -- rewriting

    def simplify(self, e: Expr) -> Expr:
        """An equal expression with quotients, remainders, minima and maxima resolved where the ranges allow."""
        if all(isinstance(a, Var) for a, _ in e.terms):
            return self._pin(e)
        result = const(e.offset)
        for atom, c in e.terms:
            value = Expr(((atom, 1),), 0) if isinstance(atom, Var) else self._simplify_atom(atom)
            result = result + value * c
        return self._pin(_recombine(result))

    def _pin(self, e: Expr) -> Expr:
        """Replace variables that have one value only."""
        pinned: dict[Key, Expr] = {}
        for key in e.variables():
            first, last = self.range_of(key)
            if first is not None and first == last and first.is_constant:
                pinned[key] = first
        return e.substitute(pinned) if pinned else e

    def _simplify_atom(self, atom: Compound) -> Expr:
        args = [self.simplify(a) for a in atom.args]
        if atom.kind in ("min", "max"):
            return self._simplify_extremum(atom.kind, args)
        if atom.kind == "product":
            result = const(1)
            for a in args:
                result = result * a
            return result
        d = args[1].constant
        if d is None:
            return self._simplify_symbolic_division(atom.kind, args[0], args[1])
        quotient = args[0] // d
        low, high = self.lower(args[0]), self.upper(args[0])
        if low is not None and high is not None and low // d == high // d:
            quotient = const(low // d)
            return quotient if atom.kind == "floordiv" else args[0] - quotient * d
        whole, rest, unit = self._split_by_units(args[0], d)
        return whole // (d // unit) if atom.kind == "floordiv" else whole % (d // unit) * unit + rest

    def _split_by_units(self, e: Expr, d: int) -> tuple[Expr, Expr, int]:
        """(q, r, unit) with e = unit * q + r and 0 <= r < unit, for the largest unit dividing d that the ranges allow.

        Then e floordiv d is q floordiv (d / unit), and e mod d is unit * (q mod (d / unit)) + r.
        """
        for unit in sorted({gcd(d, c) for _, c in e.terms}, reverse=True):
            rest = Expr(tuple((a, c) for a, c in e.terms if c % unit), e.offset)
            low, high = self.lower(rest), self.upper(rest)
            if low is not None and high is not None and low // unit == high // unit:
                units = low // unit
                whole = Expr(tuple((a, c // unit) for a, c in e.terms if c % unit == 0), units)
                return whole, rest - units * unit, unit
        return e, const(0), 1

    def _simplify_symbolic_division(self, kind: str, e: Expr, d: Expr) -> Expr:
        # 0 <= e < d: the quotient is 0, the remainder e
        if self.proves(Predicate(e)) and self.proves(Predicate(d - e - 1)):
            return const(0) if kind == "floordiv" else e
        return e // d if kind == "floordiv" else e % d

    def _simplify_extremum(self, kind: str, args: list[Expr]) -> Expr:
        kept: list[Expr] = []
        for i, a in enumerate(args):
            others = kept + args[i + 1 :]
            beaten = any(self.proves(Predicate(a - b if kind == "min" else b - a)) for b in others)
            if not beaten:
                kept.append(a)
        return (minimum if kind == "min" else maximum)(*kept)


def _recombine(e: Expr) -> Expr:
    """d * (x floordiv d) + x mod d is x."""
    for atom, c in e.terms:
        if not isinstance(atom, Compound) or atom.kind != "mod" or not (d := atom.args[1].constant):
            continue
        quotient = atom.args[0] // d
        if not quotient.terms:
            continue
        [(q, qc)] = quotient.terms[:1]
        have = dict(e.terms).get(q, 0)
        if len(quotient.terms) == 1 and not quotient.offset and have == c * d * qc:
            return _recombine(e - Expr(((atom, c), (q, have)), 0) + atom.args[0] * c)
    return e
