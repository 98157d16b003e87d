"""Symbols of a model that have to be equal, or a certain number, whatever its inputs declare.

Exporters give each input its own, and know of some that they are the same: a cache of keys and one of values are of one
length, say, which the shapes that are computed inside rely on. Of others they know that they are the batch, though they
have written what the model computes for a batch of one.

Nothing is guessed: two sizes are equal for no other values of these symbols, but where all is of no elements.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import combinations

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Compound, Expr, Key, const, divide, var

Whole = Collection[tuple[Expr, ...]]
"""Dividends and divisors of quotients that are whole numbers, as a requirement says."""


class SameSizes(Exception):
    """A model makes sense only where a symbol is another, or a number, as an operator needs that is `needed_by`."""

    def __init__(self, one: str, other: str | int, needed_by: str):
        super().__init__(one, other)
        self.one = one
        self.other = other
        self.needed_by = needed_by


def find_same_sizes(
    a: Expr, b: Expr, needed_by: str, whole: Whole = (), is_told: Callable[[Key], bool] = lambda _: False
) -> None:
    """Raise SameSizes if two numbers, which have to be equal, are that only where two symbols are, or one symbol is a
    number from 1 on.

    Symbols of which `is_told` says that the running model tells them are what they are: nothing is found about them.
    """
    difference = _cleared(a - b, whole)
    names = sorted(str(key) for key in difference.variables() if not is_told(key))
    for one, other in combinations(names, 2):
        factor, rest = divide(difference, var(one) - var(other))
        if rest == 0 and _is_never_zero(factor):
            raise SameSizes(one, other, needed_by)
    for name in names:
        at_zero, at_one = (difference.substitute({name: number}) for number in (0, 1))
        factor = at_one - at_zero
        number, rest = _divided(-at_zero, factor)
        exact = rest == 0 and difference == factor * (var(name) - number)
        if exact and number.constant is not None and number.constant >= 1 and _is_never_zero(factor):
            raise SameSizes(name, number.constant, needed_by)


def _cleared(difference: Expr, whole: Whole) -> Expr:
    """What is zero where a difference is, without quotients that are whole: x / d - y is zero where x - d * y is."""
    simple = Domain({name: (0, None) for name in difference.variables()}).simplify(difference)
    for atom, factor in simple.terms:
        if isinstance(atom, Compound) and atom.kind == "floordiv" and atom.args in whole:
            dividend, divisor = atom.args
            return _cleared((simple - Expr(((atom, factor),), 0)) * divisor + dividend * factor, whole)
    return simple


def _divided(e: Expr, by: Expr) -> tuple[Expr, Expr]:
    """A quotient, and what is left over."""
    if by.constant is None:
        return divide(e, by)
    return (e // by, e % abs(by.offset)) if by.offset else (const(0), e)


def _is_never_zero(factor: Expr) -> bool:
    """Whether an expression is never zero for sizes of 1 and more."""
    domain = Domain({name: (1, None) for name in factor.variables()})
    low, high = domain.lower(factor), domain.upper(factor)
    return (low is not None and low > 0) or (high is not None and high < 0)
