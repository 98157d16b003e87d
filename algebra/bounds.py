"""What is known of an index expression whose variables have ranges.

A `Domain` lists variables from outermost to innermost, each with inclusive ends that may use the variables before it.
Bounds eliminate variables from the innermost outwards, replacing each by the end that its coefficient asks for: exact
for expressions that are linear in the variables, whatever the dependence between ranges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from tilework.algebra.index_expr import Compound, Expr, ExprLike, Key, Var, const, divide, to_expr
from tilework.algebra.modular import modular_set
from tilework.algebra.predicate import Predicate
from tilework.algebra.simplification import simplified

EFFORT = 400
"""How many eliminations a bound may take: nested minima and maxima double the work each."""


class Domain:
    """Variables with ranges `first..last` (both included, None where unknown), outermost first."""

    def __init__(self, ranges: Mapping[Key, tuple[ExprLike | None, ExprLike | None]] | None = None):
        self._ranges: dict[Key, tuple[Expr | None, Expr | None]] = {}
        self._depths: dict[Key, int] = {}
        self._compounds: dict[Compound, tuple[int | None, int | None]] = {}
        self._least: dict[Expr, int] = {}
        self._known: dict[Expr, int | None] = {}
        self._parts: dict[Expr, int | None] = {}
        self._effort = 0
        self._is_cut = False
        for key, (first, last) in (ranges or {}).items():
            self.add(key, first, last)

    def add(self, key: Key, first: ExprLike | None, last: ExprLike | None) -> None:
        """Append an innermost variable, or narrow the knowledge of a known one."""
        self._ranges[key] = (
            None if first is None else to_expr(first),
            None if last is None else to_expr(last),
        )
        self._depths.setdefault(key, len(self._depths))
        self._known.clear()
        self._parts.clear()

    def extended(self, key: Key, first: ExprLike | None, last: ExprLike | None) -> Domain:
        """A copy with one more innermost variable, or with another range of one that is known."""
        result = self._copy()
        result.add(key, first, last)
        return result

    def narrowed(self, compound: Compound, first: int | None, last: int | None) -> Domain:
        """A copy in which a quotient or remainder has these inclusive ends, besides those that are known."""
        result, known = self._copy(), self._compounds.get(compound, (None, None))
        low = max((e for e in (known[0], first) if e is not None), default=None)
        high = min((e for e in (known[1], last) if e is not None), default=None)
        result._compounds[compound] = low, high
        return result

    def knowing(self, e: Expr) -> Domain:
        """A copy in which an expression is 0 or more, whatever the ranges show.

        So it is in copies of the copy: ranges of variables that are known only get narrower.
        """
        result, without = self._copy(), e - e.offset
        result._least[without] = max(-e.offset, self._least.get(without, -e.offset))
        return result

    def _copy(self) -> Domain:
        result = Domain()
        result._ranges, result._depths = dict(self._ranges), dict(self._depths)
        result._compounds, result._least = dict(self._compounds), dict(self._least)
        return result

    def range_of(self, key: Key) -> tuple[Expr | None, Expr | None]:
        """The inclusive ends of a variable; (None, None) for one that is not known."""
        return self._ranges.get(key, (None, None))

    def value_of(self, compound: Compound) -> int | None:
        """What a quotient or remainder is, if it was narrowed to one value."""
        low, high = self._compounds.get(compound, (None, None))
        return low if low == high else None

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
            low = self._lower(e, 0)
            # the least number from there on that is congruent to what `e` is
            self._known[e] = None if low is None else modular_set(e).first_from(low)
        return self._known[e]

    def upper(self, e: ExprLike) -> int | None:
        """A constant that `e` never exceeds, the least that the ranges show; None where there is none."""
        e = to_expr(e)
        if e.is_constant:
            return e.offset
        low = self.lower(-e)
        return None if low is None else -low

    def _lower(self, e: Expr, depth: int) -> int | None:
        """Compute what `lower` says.

        What is found without being cut short is kept: parts of expressions come up again and again.
        """
        if e.is_constant:
            return e.offset
        if e in self._parts:
            return self._parts[e]
        was_cut, self._is_cut = self._is_cut, False
        low = self._lower_as_known(e, depth)
        if not self._is_cut:
            self._parts[e] = low
        self._is_cut |= was_cut
        return low

    def _lower_as_known(self, e: Expr, depth: int) -> int | None:
        known = self._least.get(e - e.offset) if self._least else None  # few domains know any, and this is asked often
        low = self._lower_from_ranges(e, depth)
        if known is None:
            return low
        return known + e.offset if low is None else max(low, known + e.offset)

    def _lower_from_ranges(self, e: Expr, depth: int) -> int | None:
        self._effort -= 1
        if depth > 64 or self._effort < 0:
            self._is_cut = True
            return None
        compounds = [(atom, c) for atom, c in e.terms if isinstance(atom, Compound)]
        key = max((a.key for a, _ in e.terms if isinstance(a, Var)), key=self.depth_of, default=None)
        if compounds and (key is None or self.depth_of(key) <= max(map(self._depth_of_compound, compounds))):
            return self._lower_compound(e, *min(compounds, key=_priority), depth)
        # linear in the innermost variable: eliminate it
        c = e.coefficient(key)
        first, last = self.range_of(key)
        end = first if c > 0 else last
        if end is None:
            return None
        return self._lower(e.substitute({key: end}), depth + 1)

    def _depth_of_compound(self, term: tuple[Compound, int]) -> int:
        return max((self.depth_of(key) for a in term[0].args for key in a.variables()), default=-1)

    def depth_of(self, key: Key) -> int:
        """The position of a variable counted from the outermost; unknown ones are innermost."""
        return self._depths.get(key, len(self._depths))

    def _lower_compound(self, e: Expr, atom: Compound, c: int, depth: int) -> int | None:
        """Replace one compound by expressions that bound it from the side its coefficient asks for; best of them."""
        rest = e - Expr(((atom, c),), 0)
        best: int | None = None
        bounds = [bound * c for bound in self._one_sided(atom, below=c > 0, depth=depth)]
        if atom.kind == "floordiv" and (d := atom.args[1].constant) and c % d == 0:
            # x - d + 1 <= d * (x floordiv d) <= x
            x = atom.args[0]
            bounds.append((x - d + 1 if c > 0 else x) * (c // d))
        bounds += self._by_other_quotients(e, atom, c, depth)
        for bound in bounds:
            low = self._lower(rest + bound, depth + 1)
            if low is not None and (best is None or low > best):
                best = low
        if atom.kind == "floordiv" and (d := atom.args[1].constant) and (best is None or best < 0):
            # (x - d + 1) / d <= x floordiv d <= x / d, which is rounded when all is added up
            x = atom.args[0]
            low = self._lower(rest * d + (x - d + 1 if c > 0 else x) * c, depth + 1)
            if low is not None and (best is None or -(-low // d) > best):
                best = -(-low // d)
        if _is_worst(atom, c):
            lows = [self._lower(rest + a * c, depth + 1) for a in atom.args]
            known = [x for x in lows if x is not None]
            if len(known) == len(lows) and (best is None or min(known) > best):
                best = min(known)
        return best

    def _by_other_quotients(self, e: Expr, atom: Compound, c: int, depth: int) -> Iterable[Expr]:
        """What `c * atom` is at least, in terms of another quotient in `e` that is subtracted, or subtracted from."""
        for other, factor in e.terms:
            if not isinstance(other, Compound) or (atom.kind, other.kind) != ("floordiv",) * 2 or c * factor >= 0:
                continue
            (x, d), (y, other_d) = (atom.args, other.args) if c > 0 else (other.args, atom.args)
            added, subtracted = max(c, factor), -min(c, factor)
            if d.constant is None or other_d.constant is None or other_d.constant * added != d.constant * subtracted:
                continue
            if d.constant < 1:
                continue
            # x floordiv d - k * (y floordiv (k * d)) >= (x - y) floordiv d
            low = self._lower(x - y, depth + 1) if subtracted % added == 0 else None
            if low is not None:
                yield Expr(((other, -factor),), added * (low // d.constant))

    def _one_sided(self, atom: Compound, *, below: bool, depth: int) -> Iterable[Expr]:
        """Expressions that are never above (`below`) or never below the atom."""
        known = self._compounds.get(atom, (None, None))[not below]
        return [*([] if known is None else [const(known)]), *self._structural(atom, below=below, depth=depth)]

    def _structural(self, atom: Compound, *, below: bool, depth: int) -> Iterable[Expr]:
        """Those that follow from what the atom is made of."""
        if atom.kind in ("min", "max"):
            return atom.args if (atom.kind == "max") == below else ()
        if atom.kind == "floordiv" and (d := atom.args[1].constant):
            low = self._lower(atom.args[0] if below else -atom.args[0], depth + 1)
            return () if low is None else (const(low // d if below else -low // d),)
        if atom.kind == "floordiv":
            return self._quotient_bound(atom, below, depth)
        if atom.kind == "mod":
            least, most = self._ends(atom.args[1], depth)
            if least is None or least < 1:
                return ()
            ends = [const(0)] if below else [atom.args[1] - 1 if most is None else const(most - 1)]
            low = self._lower(atom.args[0], depth + 1)
            if not below and low is not None and low >= 0:
                ends.append(atom.args[0])  # x mod d <= x for x >= 0
            return ends
        if atom.kind == "product":
            return self._product_bound(atom, below, depth)
        return ()

    def _quotient_bound(self, atom: Compound, below: bool, depth: int) -> Iterable[Expr]:
        """The bound of a quotient by a divisor that varies, but is positive: large divisors bring the quotient towards
        0, from below to -1."""
        (low, high), (least, most) = (self._ends(a, depth) for a in atom.args)
        if least is None or least < 1 or (most is not None and most < least):  # or there is none: a range is empty
            return ()
        end = low if below else high
        if end is None:
            return () if below else self._whole_divisors(*atom.args)
        if (end >= 0) != below:
            return (const(end // least),)
        return (const((0 if below else -1) if most is None else end // most),)

    def _whole_divisors(self, x: Expr, d: Expr) -> Iterable[Expr]:
        """The bound of `x floordiv d` from above, where `x` ends before a multiple of `d`: 1 for x < 2 * N, d = max(1,
        N), and M - 1 for x < M * N, d = N."""
        for end in self._ends_in(x, d.variables()):
            for part in (e for e in (d, *_no_greater(d)) if not e.is_constant):
                times, rest = divide(end, part)
                is_whole = part == d or (times.is_constant and times.offset >= 0)
                if rest.is_constant and rest.offset < 0 and is_whole:
                    yield times - 1

    def _ends_in(self, x: Expr, keys: Collection[Key]) -> Iterator[Expr]:
        """What `x` never exceeds, in terms of these variables, those outside of them and products."""
        key = self.innermost(x)
        if key is None or key in keys or not x.is_affine_in(key):
            yield x
            return
        end = self.range_of(key)[x.coefficient(key) > 0]
        if end is not None:
            for argument in _no_less(end) if x.coefficient(key) > 0 else (end,):
                yield from self._ends_in(x.substitute({key: argument}), keys)

    def _product_bound(self, atom: Compound, below: bool, depth: int) -> Iterable[Expr]:
        ends = [self._ends(a, depth) for a in atom.args]
        lows = [low for low, _ in ends if low is not None and low >= 0]
        if below and len(lows) == len(ends):
            return (const(prod(lows)),)
        known = [(low, high) for low, high in ends if low is not None and high is not None]
        if len(known) < len(ends):
            return ()
        corners = [prod(corner) for corner in product(*known)]
        return (const(min(corners) if below else max(corners)),)

    def _ends(self, e: Expr, depth: int) -> tuple[int | None, int | None]:
        negated = self._lower(-e, depth + 1)
        return self._lower(e, depth + 1), None if negated is None else -negated

    # -- proofs

    def proves(self, p: Predicate) -> bool | None:
        """True or False where the ranges decide the predicate, None where they do not."""
        if (known := p.constant) is not None:
            return known
        if p.kind == "==" and not modular_set(p.expr).contains(0):
            return False
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

    def simplify(self, e: Expr) -> Expr:
        """An equal expression with quotients, remainders, minima and maxima resolved where the ranges allow."""
        return simplified(e, self)


def _no_less(e: Expr) -> Sequence[Expr]:
    """The arguments of a minimum and a number; else the expression."""
    match e.terms:
        case ((Compound(kind="min") as atom, 1),):
            return [a + e.offset for a in atom.args]
        case _:
            return (e,)


def _no_greater(e: Expr) -> Iterable[Expr]:
    """The arguments of a maximum."""
    match e.terms:
        case ((Compound(kind="max") as atom, 1),) if not e.offset:
            return atom.args
        case _:
            return ()


def _is_worst(atom: Compound, c: int) -> bool:
    """Whether `c * atom` is any of its arguments, or the least: a minimum, or a maximum that is subtracted."""
    return atom.kind in ("broadcast", "min" if c > 0 else "max")


def _priority(term: tuple[Compound, int]) -> tuple[int, int]:
    """Which compound to replace first: one whose arguments can be looked at one by one, which loses nothing; then other
    extrema, whose arguments may cancel quotients, and quotients of quotients; products last, because other terms may
    cancel them."""
    atom = term[0]
    kind = 0 if _is_worst(*term) else {"min": 1, "max": 1, "product": 3}.get(atom.kind, 2)
    return kind, -_nesting(atom)


def _nesting(atom: Compound) -> int:
    """How many compounds are inside each other."""
    inside = [inner for e in atom.args for inner, _ in e.terms if isinstance(inner, Compound)]
    return 1 + max(map(_nesting, inside), default=0)
