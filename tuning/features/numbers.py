"""Index expressions evaluated for many configurations at a time.

A number is an array with one element for each configuration, or a single one where all have the same. All are floats:
what is counted stays below 2^53, and quotients of floats take a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilework.algebra.index_expr import Compound, Expr, Key, Var, joined_sizes

Number: TypeAlias = "float | NDArray[np.float64]"
Array: TypeAlias = NDArray[Any]

Ends: TypeAlias = tuple[Number, Number]
"""The least and the greatest value."""


class Numbers:
    """The values of symbols, and of expressions over them, each worked out once."""

    def __init__(self, symbols: Mapping[Key, Number]):
        self._symbols = symbols
        self._known: dict[Expr, Number] = {}

    @property
    def count(self) -> int:
        """How many configurations the symbols have values of; one where all have the same values."""
        return max(map(np.size, self._symbols.values()), default=1)

    def of(self, e: Expr) -> Number:
        """The value of an expression over symbols."""
        if not e.terms:
            return float(e.offset)
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = value_at(e, self._symbols)
        return known

    def at(self, e: Expr, indices: Mapping[Key, Number]) -> Number:
        """The value of an expression where indices have these values."""
        return value_at(e, {**self._symbols, **indices})

    def ends(self, e: Expr, indices: Mapping[Key, Ends]) -> Ends:
        """Between which values an expression is while indices run. Exact where each index is in one term only."""
        return _ends(e, {**{key: (value, value) for key, value in self._symbols.items()}, **indices})


def quotient(a: Number, b: Number) -> Number:
    """`a` divided by `b` and rounded down, or 0 where `b` is 0, as in index expressions."""
    if isinstance(b, float):
        return np.floor(a / b) if b else 0.0
    return np.where(b == 0, 0.0, np.floor(a / np.where(b == 0, 1.0, b)))


def value_at(e: Expr, values: Mapping[Key, Number]) -> Number:
    """The value of an expression whose variables have these values."""
    result: Number = float(e.offset)
    for atom, count in e.terms:
        value = values[atom.key] if isinstance(atom, Var) else _atom_at(atom, values)
        result = result + (value if count == 1 else value * count)
    return result


def _atom_at(atom: Compound, values: Mapping[Key, Number]) -> Number:
    return combined(atom.kind, [value_at(a, values) for a in atom.args])


def combined(kind: str, args: Sequence[Number]) -> Number:
    """What a compound of this kind is of these numbers."""
    match kind:
        case "floordiv":
            return quotient(args[0], args[1])
        case "mod":
            return args[0] - quotient(args[0], args[1]) * args[1]
        case "product":
            return reduce(lambda a, b: a * b, args)
        case "min":
            return reduce(np.minimum, args)
        case "max":
            return reduce(np.maximum, args)
        case _:
            return joined_sizes(*args)


# -- ranges


def _ends(e: Expr, ranges: Mapping[Key, Ends]) -> Ends:
    low: Number = float(e.offset)
    high: Number = float(e.offset)
    for atom, count in e.terms:
        first, last = ranges[atom.key] if isinstance(atom, Var) else _atom_ends(atom, ranges)
        if count < 0:
            first, last = last, first
        low, high = low + first * count, high + last * count
    return low, high


def _atom_ends(atom: Compound, ranges: Mapping[Key, Ends]) -> Ends:
    ends = [_ends(a, ranges) for a in atom.args]
    if atom.kind in ("min", "max", "broadcast"):
        return combined(atom.kind, [low for low, _ in ends]), combined(atom.kind, [high for _, high in ends])
    if atom.kind == "mod":
        return _remainder_ends(*ends)
    if atom.kind == "floordiv":
        return _corners([quotient(x, d) for x in ends[0] for d in ends[1]])
    (low, high), *others = ends
    for first, last in others:
        low, high = _corners([low * first, low * last, high * first, high * last])
    return low, high


def _corners(values: Sequence[Number]) -> Ends:
    return reduce(np.minimum, values), reduce(np.maximum, values)


def _remainder_ends(x: Ends, d: Ends) -> Ends:
    """A remainder runs as the dividend does within one block, and through all of one where that crosses its end."""
    (low, high), (_, most) = x, d
    within = quotient(low, most) == quotient(high, most)
    base = quotient(low, most) * most
    return np.where(within, low - base, 0.0), np.where(within, high - base, most - 1)


# -- many numbers


def total(numbers: Iterable[Number]) -> Number:
    """The sum."""
    return reduce(lambda a, b: a + b, numbers, 0.0)


def product(numbers: Iterable[Number]) -> Number:
    """The product."""
    return reduce(lambda a, b: a * b, numbers, 1.0)


def nowhere(holds: Number) -> bool:
    """Whether a number is 0 in all configurations."""
    return not np.any(holds)
