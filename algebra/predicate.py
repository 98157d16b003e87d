"""Conditions on indices: `expr >= 0` and `expr == 0`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from tilework.algebra.index_expr import Compound, Expr, ExprLike, to_expr


@dataclass(frozen=True, slots=True)
class Predicate:
    """`expr >= 0` (kind `>=`) or `expr == 0` (kind `==`)."""

    expr: Expr
    kind: str = ">="

    def substitute(self, values: Mapping[Any, ExprLike]) -> Predicate:
        """Replace variables in the expression."""
        return Predicate(self.expr.substitute(values), self.kind)

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """Truth at a point; numpy arrays broadcast."""
        value = self.expr.evaluate(values)
        return value >= 0 if self.kind == ">=" else value == 0

    @property
    def constant(self) -> bool | None:
        """The truth of a predicate without variables, or None."""
        value = self.expr.constant
        if value is None:
            return None
        return value >= 0 if self.kind == ">=" else value == 0

    def shortest(self) -> Predicate:
        """One that holds for the same values, without common factors, and with `mod` where a rest has to be 0."""
        common = gcd(*(c for _, c in self.expr.terms))
        if common == 0 or (self.kind == "==" and self.expr.offset % common):
            return self
        e = self.expr // common
        if self.kind == ">=":
            return Predicate(e)
        ordered = Expr(tuple(sorted(e.terms, key=lambda term: str(term[0]))), e.offset)
        return _equals_zero(ordered if ordered.terms[0][1] > 0 else -ordered)

    def __str__(self) -> str:
        return f"{self.expr} {self.kind} 0"


def _equals_zero(e: Expr) -> Predicate:
    for atom, _ in e.terms:
        if isinstance(atom, Compound) and atom.kind == "floordiv":
            x, d = atom.args
            if e in (x - x // d * d, x // d * d - x):
                return multiple_of(x, d)
    return Predicate(e, "==")


def at_least(a: ExprLike, b: ExprLike) -> Predicate:
    """`a >= b`."""
    return Predicate(to_expr(a) - b)


def less_than(a: ExprLike, b: ExprLike) -> Predicate:
    """`a < b`, over the integers `b - a - 1 >= 0`."""
    return Predicate(to_expr(b) - a - 1)


def multiple_of(a: ExprLike, n: ExprLike) -> Predicate:
    """`a mod n == 0`, for a positive n."""
    return Predicate(to_expr(a) % to_expr(n), "==")


def equal(a: ExprLike, b: ExprLike) -> Predicate:
    """`a == b`."""
    return Predicate(to_expr(a) - b, "==")
