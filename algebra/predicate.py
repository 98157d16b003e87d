"""Conditions on indices: `expr >= 0` and `expr == 0`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilework.algebra.index_expr import Expr, ExprLike, to_expr


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

    def __str__(self) -> str:
        return f"{self.expr} {self.kind} 0"


def at_least(a: ExprLike, b: ExprLike) -> Predicate:
    """`a >= b`."""
    return Predicate(to_expr(a) - b)


def less_than(a: ExprLike, b: ExprLike) -> Predicate:
    """`a < b`, over the integers `b - a - 1 >= 0`."""
    return Predicate(to_expr(b) - a - 1)


def equal(a: ExprLike, b: ExprLike) -> Predicate:
    """`a == b`."""
    return Predicate(to_expr(a) - b, "==")
