"""Symbols of a model that have to be equal: exporters give each input its own, and know of some that they are the same.

A cache of keys and one of values are of one length, say, which the shapes that are computed inside rely on.
"""

from __future__ import annotations

from itertools import combinations

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, var


class SameSizes(Exception):
    """A model makes sense only where one symbol equals another: it is imported again with `other` for both."""

    def __init__(self, one: str, other: str):
        super().__init__(one, other)
        self.one = one
        self.other = other


def find_same_sizes(a: Expr, b: Expr) -> None:
    """Raise SameSizes if two numbers, which have to be equal, are that where two symbols in them are."""
    names = sorted({str(name) for e in (a, b) for name in e.variables()})
    domain = Domain({name: (0, None) for name in names})
    if a == b or domain.simplify(a) == domain.simplify(b):
        return
    for one, other in combinations(names, 2):
        left, right = (domain.simplify(e.substitute({one: var(other)})) for e in (a, b))
        if left == right:
            raise SameSizes(one, other)
