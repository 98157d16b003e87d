"""Rows that are hard to sort, and what numpy's stable sort makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx_models import Array

RANDOM = np.random.default_rng(7)


def expected(x: Array, count: int, axis: int = 0, largest: int = 1) -> list[Array]:
    """What numpy's stable sort makes, for which NaN is the largest too; both zeros are equal."""
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    if largest:
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(wide, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(wide, axis, kind="stable")
    order = order.take(range(count), axis)
    return [np.take_along_axis(x, order, axis), order]


def special(shape: tuple[int, ...], dtype: Any) -> Array:
    """Few different numbers, among them both zeros, both infinities, NaN of both signs, and ones close to zero."""
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-7, -1e-7, 6e4, 1.0, -1.0]
    return np.array(numbers, dtype)[RANDOM.integers(0, len(numbers), shape)]


def assert_same_bits(results: Array | tuple[Array, ...], wanted: Sequence[Array]) -> None:
    """Raise AssertionError unless the results are of the types wanted and of the same bits."""
    assert isinstance(results, tuple)
    for result, right in zip(results, wanted, strict=True):
        assert result.dtype == right.dtype
        np.testing.assert_array_equal(result.view(np.uint8), right.view(np.uint8))
