"""Data to run programs on: small integers stored as floats, so that sums are exact; small odd dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from tilework.algebra.index_expr import Expr, Key
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


def symbol_values(dims: Iterable[Expr]) -> list[dict[Key, int]]:
    """Values for the symbols in these dimensions: different small odd ones, and one for all where that is enough.

    They are enough where no dimension becomes less than one; larger ones are tried until they are.
    """
    dims = [e for e in dims if not e.is_constant]
    names = list(dict.fromkeys(key for e in dims for key in e.variables()))
    if not names:
        return [{}]
    ones = {key: 1 for key in names}
    first = next(
        values
        for scale in SCALES
        if _all_positive(dims, values := {key: scale * (3 + 2 * i) for i, key in enumerate(names)})
        or scale == SCALES[-1]
    )
    return [first, ones] if _all_positive(dims, ones) else [first]


def _all_positive(dims: Sequence[Expr], values: dict[Key, int]) -> bool:
    return all(e.evaluate(values) >= 1 for e in dims)
