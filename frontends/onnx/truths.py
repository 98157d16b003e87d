"""What a comparison of sizes says: a condition on symbols, true or false only when the model runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain, product
from typing import TypeAlias

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, maximum, minimum
from tilework.algebra.predicate import Predicate, at_least, equal, less_than
from tilework.algebra.requirement import Requirement

Element: TypeAlias = "Truth | Expr | int"

Clause: TypeAlias = tuple[Predicate, ...]
"""Conditions of which at least one holds."""


@dataclass(frozen=True)
class Truth:
    """True where every clause has a condition that holds."""

    clauses: tuple[Clause, ...]

    @staticmethod
    def of(condition: Predicate) -> Truth:
        """The truth that a condition holds."""
        return Truth(((condition,),)).simplified()

    def simplified(self) -> Truth:
        """The same without what is so for all sizes, or for none."""
        clauses: list[Clause] = []
        for clause in self.clauses:
            domain = Domain({key: (0, None) for p in clause for key in p.expr.variables()})
            if not Requirement(clause, "").is_always_met():
                clauses.append(tuple(p for p in clause if domain.proves(p) is not False))
        return Truth(((),)) if () in clauses else Truth(tuple(dict.fromkeys(clauses)))

    @property
    def constant(self) -> bool | None:
        """True or False where that is known."""
        return True if not self.clauses else False if self.clauses == ((),) else None

    @property
    def number(self) -> Expr:
        """1 where it is true, 0 elsewhere."""
        clauses = [reduce(maximum, map(_number, clause), const(0)) for clause in self.clauses]
        return reduce(minimum, clauses) if clauses else const(1)

    def __and__(self, other: Truth) -> Truth:
        return Truth((*self.clauses, *other.clauses)).simplified()

    def __or__(self, other: Truth) -> Truth:
        return Truth(tuple((*a, *b) for a in self.clauses for b in other.clauses)).simplified()

    def __invert__(self) -> Truth:
        # of some clause no condition holds
        opposites = ([tuple(_opposite(p)) for p in clause] for clause in self.clauses)
        return Truth(tuple(tuple(chain(*chosen)) for chosen in product(*opposites))).simplified()

    def __xor__(self, other: Truth) -> Truth:
        return (self & ~other) | (~self & other)

    def is_exceptional(self) -> bool:
        """Whether it is an equality that must hold: true for few sizes."""
        return any(len(clause) == 1 and clause[0].kind == "==" for clause in self.clauses)


def _number(p: Predicate) -> Expr:
    """1 where a condition holds, 0 elsewhere."""
    if p.kind == ">=":
        return minimum(maximum(p.expr + 1, 0), 1)
    return maximum(1 - maximum(p.expr, -p.expr), 0)


def _opposite(p: Predicate) -> Iterator[Predicate]:
    """Conditions one of which holds where this one does not."""
    yield less_than(p.expr, 0)
    if p.kind == "==":
        yield at_least(p.expr, 1)


# ---- ONNX's comparisons, and its logic of what they say --------------------------------------------------------------

COMPARISONS = ("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or", "Xor")


def compared(op: str, first: Element, second: Element = 0) -> Truth:
    """What a comparison says of two sizes, or of what others say; "Not" of the first one."""
    if op in ("And", "Or", "Not", "Xor") or isinstance(first, Truth | bool) or isinstance(second, Truth | bool):
        return _joined(op, as_truth(first), as_truth(second))
    match op:
        case "Equal":
            return Truth.of(equal(first, second))
        case "Greater":
            return Truth.of(less_than(second, first))
        case "GreaterOrEqual":
            return Truth.of(at_least(first, second))
        case "Less":
            return Truth.of(less_than(first, second))
        case _:
            return Truth.of(at_least(second, first))


def _joined(op: str, first: Truth, second: Truth) -> Truth:
    match op:
        case "And":
            return first & second
        case "Or":
            return first | second
        case "Not":
            return ~first
        case "Xor":
            return first ^ second
        case _:
            return ~(first ^ second)


def as_truth(element: Element) -> Truth:
    """Whether a size is not 0; what a comparison says is that itself."""
    return element if isinstance(element, Truth) else ~Truth.of(equal(element, 0))
