"""Symbols of a model that have to be equal, or a certain number, whatever its inputs declare.

Exporters give each input its own, and know of some that they are the same: a cache of keys and one of values are of one
length, say, which the shapes that are computed inside rely on. Of others they know that they are the batch, though they
have written what the model computes for a batch of one.
"""

from __future__ import annotations

from itertools import combinations

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, var


class SameSizes(Exception):
    """A model makes sense only where a symbol is another, or a number: it is imported again with `other` for `one`."""

    def __init__(self, one: str, other: str | int):
        super().__init__(one, other)
        self.one = one
        self.other = other


def find_same_sizes(a: Expr, b: Expr) -> None:
    """Raise SameSizes if two numbers, which have to be equal, are that where two symbols are, or their only one is a
    number from 1 on."""
    find_same_symbols(a, b)
    names = {str(name) for name in (a - b).variables()}
    if len(names) == 1:
        [name] = names
        first, second = (_with(a - b, name, number) for number in (0, 1))
        if first is not None and second is not None and second != first:
            number, rest = divmod(first, first - second)
            if rest == 0 and number >= 1 and _with(a - b, name, number) == 0:
                raise SameSizes(name, number)


def _with(e: Expr, name: str, number: int) -> int | None:
    return e.substitute({name: const(number)}).constant


def find_same_symbols(a: Expr, b: Expr) -> None:
    """Raise SameSizes if two numbers, which have to be equal, are that where two symbols in them are."""
    names = sorted({str(name) for e in (a, b) for name in e.variables()})
    domain = Domain({name: (0, None) for name in names})
    if a == b or domain.simplify(a) == domain.simplify(b):
        return
    for one, other in combinations(names, 2):
        left, right = (domain.simplify(e.substitute({one: var(other)})) for e in (a, b))
        if left == right:
            raise SameSizes(one, other)
