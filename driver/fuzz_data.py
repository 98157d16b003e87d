"""Data to run programs on: small integers stored as floats, so that sums are exact; small odd dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.predicate import at_least
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array

LARGEST = 4
"""The absolute value of the largest integer."""
NONZERO = 2
"""How many elements of a large weight are not zero, of those that are summed."""


def fuzz_array(shape: Sequence[int], dtype: np.dtype[Any], seed: Sequence[int], *, positive: bool = False) -> Array:
    """Integers from -4 to 4, or from 1 to 4, in elements of that type; the same ones for the same seed."""
    random = np.random.default_rng(list(seed))
    if dtype.kind == "b":
        return random.integers(0, 2, tuple(shape)).astype(dtype)
    lowest = 1 if positive else 0 if dtype.kind == "u" else -LARGEST
    return random.integers(lowest, LARGEST + 1, tuple(shape)).astype(dtype)


def fuzz_indices(shape: Sequence[int], dtype: np.dtype[Any], seed: Sequence[int], limit: int) -> Array:
    """Integers from 0 and below a limit; the same ones for the same seed."""
    return np.random.default_rng(list(seed)).integers(0, max(1, limit), tuple(shape)).astype(dtype)


def fuzz_parameter(shape: Sequence[int], dtype: np.dtype[Any], seed: Sequence[int], *, positive: bool = False) -> Array:
    """Smaller integers for a trained parameter: ones in a weight, and about two a sum; up to 2 in a vector.

    So values grow little from layer to layer, and those of deep networks stay within their type.
    """
    array = fuzz_array(shape, dtype, seed, positive=positive)
    terms = prod(shape[1:])
    array = np.sign(array) if len(shape) > 1 else np.sign(array) * (1 + np.abs(array) % 2)
    if len(shape) > 1 and terms > NONZERO:
        array[np.random.default_rng([*seed, 1]).random(array.shape) > NONZERO / terms] = 0
    return array.astype(dtype)


SCALES = (1, 3, 5, 9, 17, 33, 65, 129, 257, 513, 4, 16, 64)
"""How large symbols are tried to be; the last ones for sizes that have to be multiples."""


MOST_CHOICES = 4
"""How many symbols are tried to be one while others are not."""


def symbol_values(dims: Iterable[Expr], requirements: Sequence[Requirement] = ()) -> list[dict[Key, int]]:
    """Values for the symbols in these dimensions: different small odd ones, and one for all where that is enough.

    They are enough where requirements are met and no dimension becomes less than one; larger ones are tried until they
    are, then equal ones, also those that requirements name. Where symbols may be equal or one, each is one for itself,
    too.
    """
    dims = [e for e in dims if not e.is_constant]
    needs = [*(Requirement.of(at_least(e, 1), "") for e in dims), *requirements]
    names = list(dict.fromkeys(key for need in needs for key in need.variables()))
    if not names:
        return [{}]
    different = ({key: scale * (3 + 2 * i) for i, key in enumerate(names)} for scale in SCALES)
    named = {abs(condition.expr.offset) for need in requirements for condition in need.any_of}
    equal = (dict.fromkeys(names, size) for size in (*(3 * scale for scale in SCALES), *sorted(named - {0, 1})))
    ones = dict.fromkeys(names, 1)
    largest = {key: SCALES[-1] * (3 + 2 * i) for i, key in enumerate(names)}
    last = ones if _are_met(needs, ones) else largest
    first = next((values for values in (*different, *equal) if _are_met(needs, values)), last)
    choices = dict.fromkeys(key for need in requirements if len(need.any_of) > 1 for key in need.variables())
    others = [{**first, key: 1} for key in [*choices][:MOST_CHOICES]]
    return [first, *(values for values in (ones, *others) if _are_met(needs, values))]


def _are_met(needs: Sequence[Requirement], values: dict[Key, int]) -> bool:
    return all(need.evaluate(values) for need in needs)
