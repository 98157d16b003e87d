"""The rows that an estimator is fitted to: what is asked of their columns is looked up once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tilework.frontends.sklearn.emitter import Array
from tilework.runtime.pipelines.columns import (
    arrow,
    as_rows,
    column,
    dtype_of,
    names_of,
    numbers,
    objects,
    section,
    taken,
)
from tilework.runtime.pipelines.dictionary import OTHER, Dictionary
from tilework.runtime.pipelines.folding import BLOCK
from tilework.runtime.pipelines.interface import Input, Part

SAMPLE = 10
"""Rows of which a sample has the first ones, besides those that show what there is in columns."""


class RowsAndTarget:
    """A frame or array and the target of each row. Raises ValueError for what scikit-learn refuses."""

    def __init__(self, rows: Any, target: Any):
        self.frame = as_rows(rows)
        names = names_of(self.frame)
        self.keys: tuple[Any, ...] = tuple(range(self.frame.shape[1]) if names is None else names)
        self.target = np.ascontiguousarray(target, np.float64)
        if len(self.target) != len(self):
            counts = [len(self), len(self.target)]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {counts}")
        if not np.isfinite(self.target).all():
            raise ValueError("Input y contains NaN or infinity.")
        self._codes: dict[tuple[Any, Dictionary], Array] = {}
        self._values: dict[Any, tuple[Any, ...]] = {}
        self._first: set[int] = set()

    def __len__(self) -> int:
        return self.frame.shape[0]

    @cached_property
    def dtypes(self) -> dict[Any, np.dtype[Any] | None]:
        """The type of each column of numbers."""
        return {key: dtype_of(column(self.frame, key)) for key in self.keys}

    @cached_property
    def _incomplete(self) -> set[Any]:
        """The columns in which a number is missing; infinite ones are found when they are summed."""
        found: set[Any] = set()
        if isinstance(self.frame, np.ndarray) and self.frame.dtype.kind == "f":
            sums = np.add.reduce(self.frame, axis=0)
            return {i for i, total in enumerate(sums.tolist()) if total != total}
        for key in self.keys:
            if self.dtypes[key] is not None and np.isnan(numbers(column(self.frame, key), np.dtype(np.float64)).sum()):
                found.add(key)
        return found

    def is_incomplete(self, key: Any) -> bool:
        """Whether a number of a column is missing in some row."""
        return key in self._incomplete

    def values_of(self, key: Any) -> tuple[Any, ...]:
        """The values of a column, sorted as categories are. Raises TypeError where they have no order."""
        if key not in self._values:
            values = _distinct(column(self.frame, key))
            known = sorted(v for v in values if v is not None and v == v)
            absent = ([None] if None in values else []) + [v for v in values if v != v][:1]
            self._values[key] = (*known, *absent)
        return self._values[key]

    def codes_of(self, given: Input) -> Array:
        """The codes of a column in the dictionary of an input."""
        assert given.dictionary is not None
        place = (given.key, given.dictionary)
        if place not in self._codes:
            self._codes[place] = given.dictionary.codes(column(self.frame, given.key))
        return self._codes[place]

    def blocks(self, parts: Sequence[Part]) -> Iterator[list[Array]]:
        """The arrays of a program on the rows, its target last, block after block."""
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            arrays = [self._part(part, start, stop) for part in parts]
            yield [*arrays, self.target[start:stop, None]]

    def _part(self, part: Part, start: int, stop: int) -> Array:
        if not part.holds_codes:
            return part.numbers(section(self.frame, start, stop))
        return np.stack([self.codes_of(given)[start:stop] for given in part.inputs], axis=1)

    def shift(self, parts: Sequence[Part]) -> list[Array]:
        """For each part of numbers, and for the target, the means of the first rows."""
        with np.errstate(all="ignore"):
            numbers_first = [self._part(p, 0, min(BLOCK, len(self))) for p in parts if not p.holds_codes]
            there = [~np.isnan(first) for first in numbers_first]
            sums = [np.where(k, first, 0).sum(axis=0) for first, k in zip(numbers_first, there, strict=True)]
            means = [s / np.maximum(1, k.sum(axis=0)) for s, k in zip(sums, there, strict=True)]
        return [*means, self.target[:BLOCK].mean(keepdims=True)]

    def sample(self, parts: Sequence[Part]) -> tuple[Any, Array]:
        """A few rows and their targets in which there is every value of a dictionary, and a number in every column."""
        chosen = set(range(min(SAMPLE, len(self))))
        for given in (given for part in parts for given in part.inputs):
            if given.dictionary is not None:
                codes, places = np.unique(self.codes_of(given), return_index=True)
                chosen.update(places[codes != OTHER].tolist())
            elif self.is_incomplete(given.key):
                missing = np.isnan(numbers(column(self.frame, given.key), np.dtype(np.float64)))
                chosen.update([int(missing.argmin()), int(missing.argmax())])
        places = np.array(sorted(chosen))
        return taken(self.frame, places), self.target[places]


def _distinct(values: Any) -> list[Any]:
    found = arrow(values)
    if found is None:
        return list(dict.fromkeys(objects(values).tolist()))
    import pyarrow.compute as pc

    distinct = pc.unique(found).to_pylist()
    if None not in distinct or dtype_of(values) is None and objects(values)[: len(values)].dtype != object:
        return distinct
    absent = {id(v): v for v in objects(values).tolist() if v is None or v != v}
    return [v for v in distinct if v is not None] + list(absent.values())[:2]
