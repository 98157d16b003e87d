"""Divisibility: which numbers an index expression can be, whatever its variables are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import gcd

from tilework.algebra.index_expr import CALLS, Compound, Expr, Var


@dataclass(frozen=True, slots=True)
class ModularSet:
    """The numbers `coeff * n + base` for all integers n; `0 <= base < coeff`, or coeff = 0 for the one number base."""

    coeff: int
    base: int

    def contains(self, number: int) -> bool:
        """Whether a number is among them."""
        return number == self.base if self.coeff == 0 else (number - self.base) % self.coeff == 0

    def first_from(self, low: int) -> int:
        """The least of them that is at least `low`; `low` itself where there is one number only."""
        return low if self.coeff == 0 else low + (self.base - low) % self.coeff


def modular_set(e: Expr) -> ModularSet:
    """The smallest such set that the form of `e` shows."""
    total = ModularSet(0, e.offset)
    for atom, c in e.terms:
        part = _INTEGERS if isinstance(atom, Var) else _of_compound(atom)
        total = _of(gcd(total.coeff, c * part.coeff), total.base + c * part.base)
    return total


def _of(coeff: int, base: int) -> ModularSet:
    return ModularSet(coeff, base % coeff if coeff else base)


_INTEGERS = ModularSet(1, 0)


def _of_compound(atom: Compound) -> ModularSet:
    parts = [modular_set(a) for a in atom.args]
    if atom.kind == "product":
        return reduce(_times, parts)
    if atom.kind in CALLS:
        return reduce(_either, parts)
    x, d = parts[0], atom.args[1].constant
    if d is None or (atom.kind == "floordiv" and x.coeff % d):
        return _INTEGERS
    return _of(x.coeff // d, x.base // d) if atom.kind == "floordiv" else _of(gcd(x.coeff, d), x.base)


def _times(x: ModularSet, y: ModularSet) -> ModularSet:
    """(p*m + a) * (q*n + b) is a*b and multiples of p*q, p*b and q*a."""
    return _of(gcd(x.coeff * y.coeff, x.coeff * y.base, y.coeff * x.base), x.base * y.base)


def _either(x: ModularSet, y: ModularSet) -> ModularSet:
    return _of(gcd(x.coeff, y.coeff, x.base - y.base), x.base)
