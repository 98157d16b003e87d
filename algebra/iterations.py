"""The points that a nest of loops comes to, and whether some condition holds at one of them.

Bounds say what never happens, and may be too wide; a point is a proof that something does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.predicate import Predicate, at_least

MOST_POINTS = 1 << 14
"""How many points are looked at, where variables are not known to have few values: their ends and what is near."""

MOST_CORNERS = 8
"""How many variables whose ends are symbols are put to all combinations of their ends."""

SIZES = (1, 2, 3, 4, 8, 64, 1024)
"""What symbols are, to see whether there are points for any sizes."""

Clause: TypeAlias = tuple[Predicate, ...]
"""Conditions of which one holds."""

Point: TypeAlias = Mapping[Key, Expr]


class Iterations:
    """Variables with inclusive ends, outermost first, that may use those before them; and what holds at every point.

    Symbols are sizes, such that there are points; any other variable may have any value at a point.
    """

    def __init__(
        self,
        ranges: Mapping[Key, tuple[Expr, Expr]],
        clauses: Sequence[Clause] = (),
        symbols: Collection[Key] = (),
    ):
        self._ranges = ranges
        self._given = clauses
        self._symbols = symbols
        self._clauses = [*clauses, *(clause for key in ranges for clause in self._clauses_of(key))]
        self._sizes = Domain(dict.fromkeys(symbols, (0, None)))
        self.domain = Domain({**dict.fromkeys(symbols, (0, None)), **ranges})
        """What is known at every point."""
        for first, last in ranges.values():
            self.domain = self.domain.knowing(last - first)
            if self._is_size(last - first):
                self._sizes = self._sizes.knowing(last - first)
        for clause in clauses:
            if len(clause) == 1 and clause[0].kind == ">=":
                self.domain = self.domain.knowing(clause[0].expr)

    def _clauses_of(self, key: Key) -> list[Clause]:
        """Clauses that say that a variable has a value at all and, where its ends vary, that it lies between them."""
        first, last = self._ranges[key]
        is_there = [] if self._is_size(last - first) else [(at_least(last, first),)]
        if not any(k in self._ranges for e in (first, last) for k in e.variables()):
            return is_there
        return [*is_there, (at_least(var(key), first),), (at_least(last, var(key)),)]

    def _is_size(self, e: Expr) -> bool:
        """Whether it is a matter of symbols alone."""
        return not e.is_constant and all(key in self._symbols for key in e.variables())

    def inside(self, key: Key, first: Expr, last: Expr, clauses: Sequence[Clause] = ()) -> Iterations:
        """With one more variable, innermost, and what holds besides."""
        return Iterations({**self._ranges, key: (first, last)}, [*self._given, *clauses], self._symbols)

    def point_where(self, p: Predicate) -> Point | None:
        """A point at which a predicate holds, whatever symbols and other variables are; None where none is found."""
        if not self._are_there:
            return None
        point: dict[Key, Expr] = {}
        for keys, clauses in self._related([*self._clauses, (p,)]):
            found = self._found(keys, clauses)
            if found is None:
                return None
            point.update(found)
        return point

    @cached_property
    def _are_there(self) -> bool:
        """Whether there are points at all, for some of the sizes that are tried."""
        extents = [last - first for first, last in self._ranges.values() if self._is_size(last - first)]
        trials = [{key: scale * (i + 1) for i, key in enumerate(self._symbols)} for scale in SIZES]
        trials += [dict.fromkeys(self._symbols, scale) for scale in SIZES]
        return not extents or any(all(e.evaluate(trial) >= 0 for e in extents) for trial in trials)

    def reach(self, e: Expr) -> tuple[int, int] | None:
        """The least and the greatest value of an expression, among the points that are looked at; None for symbols."""
        itself = (Predicate(e),)
        keys, clauses = next(group for group in self._related([*self._clauses, itself]) if itself in group[1])
        ends = self._numeric_ends(keys, clauses)
        if ends is None:
            return None
        for values, holds in self._tried(keys, ends, [clause for clause in clauses if clause != itself]):
            found = np.broadcast_to(e.evaluate(values), holds.shape)[holds]
            return (int(found.min()), int(found.max())) if found.size else None
        return None

    def _related(self, clauses: Sequence[Clause]) -> list[tuple[list[Key], list[Clause]]]:
        """The clauses in groups that share variables, with these; what is true of all sizes is left out."""
        groups: list[tuple[set[Key], list[Clause]]] = []
        for clause in clauses:
            if any(p.constant for p in clause):
                continue
            keys = {k for p in clause for k in p.expr.variables() if k in self._ranges}
            own = [clause]
            for other in [g for g in groups if g[0] & keys]:
                groups.remove(other)
                keys |= other[0]
                own = other[1] + own
            groups.append((keys, own))
        return [([k for k in self._ranges if k in keys], own) for keys, own in groups]

    def _found(self, keys: Sequence[Key], clauses: Sequence[Clause]) -> Point | None:
        ends = self._numeric_ends(keys, clauses)
        if ends is None:
            return self._corner(keys, clauses)
        for values, holds in self._tried(keys, ends, clauses):
            if holds.any():
                at = np.unravel_index(int(np.argmax(holds)), holds.shape)
                return {k: const(int(values[k].reshape(-1)[i])) for k, i in zip(keys, at, strict=True)}
        return None

    # -- numbers

    def _numeric_ends(self, keys: Sequence[Key], clauses: Sequence[Clause]) -> list[tuple[int, int]] | None:
        """The ends of variables that are numbers; None where symbols play a part."""
        used = [*(p.expr for clause in clauses for p in clause), *(e for key in keys for e in self._ranges[key])]
        if any(k not in self._ranges for e in used for k in e.variables()):
            return None
        found = [(self.domain.lower(var(k)), self.domain.upper(var(k))) for k in keys]
        ends = [(low, high) for low, high in found if low is not None and high is not None]
        return ends if len(ends) == len(found) else None

    def _tried(
        self, keys: Sequence[Key], ends: Sequence[tuple[int, int]], clauses: Sequence[Clause]
    ) -> Iterator[tuple[dict[Key, Any], Any]]:
        """Values of the variables, each along an axis of its own, and where all the clauses hold; none for no point."""
        if any(high < low for low, high in ends):
            return
        choices = [np.arange(low, high + 1) for low, high in ends] if _points(ends) <= MOST_POINTS else []
        for near in (2, 0):
            if not choices or prod(map(len, choices)) > MOST_POINTS:
                choices = [self._near_ends(k, *e, near, clauses) for k, e in zip(keys, ends, strict=True)]
        if prod(map(len, choices)) > MOST_POINTS:
            return
        values: dict[Key, Any] = dict(zip(keys, np.ix_(*choices), strict=True))
        holds: Any = np.ones(tuple(map(len, choices)), bool)
        for clause in clauses:
            one: Any = np.False_
            for p in clause:
                one = one | p.evaluate(values)
            holds = holds & one
        yield values, holds

    def _near_ends(self, key: Key, low: int, high: int, near: int, clauses: Sequence[Clause]) -> Any:
        """Values up to so far from an end of a variable, from its middle, and from where a condition on it changes."""
        turns = [low, high, *([(low + high) // 2] if near else [])]
        for p in (p for clause in clauses for p in clause if p.expr.variables() == (key,) and near):
            c = p.expr.coefficient(key)
            if c and p.expr.is_affine_in(key):
                turns.append(-p.expr.offset // c)
        return np.array(sorted({n for t in turns for n in range(t - near, t + near + 1) if low <= n <= high}))

    # -- symbols

    def _corner(self, keys: Sequence[Key], clauses: Sequence[Clause]) -> Point | None:
        """A combination of ends at which all clauses hold for all sizes."""
        if len(keys) > MOST_CORNERS:
            return None
        for which in product((1, 0), repeat=len(keys)):
            point: dict[Key, Expr] = {}
            for key, end in zip(keys, which, strict=True):
                point[key] = self._ranges[key][end].substitute(point)
            if all(any(self._sizes.proves(p.substitute(point)) for p in clause) for clause in clauses):
                return point
        return None


def _points(ends: Sequence[tuple[int, int]]) -> int:
    return prod(high - low + 1 for low, high in ends)


def opposite(p: Predicate) -> Clause:
    """What holds where a predicate does not."""
    below = Predicate(-p.expr - 1)
    return (below,) if p.kind == ">=" else (below, Predicate(p.expr - 1))
