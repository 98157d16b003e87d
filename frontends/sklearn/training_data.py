"""The rows that an estimator is fitted to: what is asked of their columns is looked up once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tilework.frontends.sklearn.emitter import Array
from tilework.runtime.pipelines.columns import (
    Reader,
    arrow,
    as_rows,
    column,
    dtype_of,
    names_of,
    numbers,
    objects,
    taken,
)
from tilework.runtime.pipelines.dictionary import OTHER
from tilework.runtime.pipelines.folding import BLOCK
from tilework.runtime.pipelines.interface import Part

SAMPLE = 10
"""Rows of which a sample has the first ones, besides those that show what there is in columns."""


class RowsAndTarget:
    """A frame or array and the target of each row. Raises ValueError for what scikit-learn refuses."""

    def __init__(self, rows: Any, target: Any):
        self.frame: Any = as_rows(rows)
        names = names_of(self.frame)
        self.keys: tuple[Any, ...] = tuple(range(self.frame.shape[1]) if names is None else names)
        self.dtypes: dict[Any, np.dtype[Any] | None] = {key: dtype_of(column(self.frame, key)) for key in self.keys}
        self.target = np.ascontiguousarray(target, np.float64)
        if len(self.target) != len(self):
            counts = [len(self), len(self.target)]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {counts}")
        if not np.isfinite(self.target).all():
            raise ValueError("Input y contains NaN or infinity.")
        self._readers: dict[Part, Reader] = {}
        self._values: dict[Any, tuple[Any, ...]] = {}

    def __len__(self) -> int:
        return self.frame.shape[0]

    @cached_property
    def _incomplete(self) -> set[Any]:
        """The columns in which a number is missing; infinite ones are found when they are summed."""
        found: set[Any] = set()
        if type(self.frame) is np.ndarray and self.frame.dtype.kind == "f":
            sums: Array = np.add.reduce(self.frame, axis=0)
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

    def blocks(self, parts: Sequence[Part]) -> Iterator[list[Array]]:
        """The arrays of a program on the rows, its target last, block after block."""
        readers = [self._reader(part) for part in parts]
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            yield [*(read(start, stop) for read in readers), self.target[start:stop, None]]

    def _reader(self, part: Part) -> Reader:
        if part not in self._readers:
            self._readers[part] = part.reader(self.frame)
        return self._readers[part]

    def shift(self, parts: Sequence[Part]) -> list[Array]:
        """For each part of numbers, and for the target, the means of the first rows."""
        stop = min(BLOCK, len(self))
        first = [self._reader(part)(0, stop) for part in parts if not part.holds_codes]
        there = [~np.isnan(numbers) for numbers in first]
        sums = [np.where(known, x, 0).sum(axis=0) for x, known in zip(first, there, strict=True)]
        means = [total / np.maximum(1, known.sum(axis=0)) for total, known in zip(sums, there, strict=True)]
        return [*means, self.target[:stop].mean(keepdims=True)]

    def sample(self, parts: Sequence[Part]) -> tuple[Any, Array]:
        """A few rows and their targets in which there is every value of a dictionary, and a number in every column."""
        chosen = set(range(min(SAMPLE, len(self))))
        for given in (given for part in parts for given in part.inputs):
            if given.dictionary is not None:
                codes, places = np.unique(given.dictionary.codes(column(self.frame, given.key)), return_index=True)
                chosen.update(places[codes != OTHER].tolist())
            elif self.is_incomplete(given.key):
                missing = np.isnan(numbers(column(self.frame, given.key), np.dtype(np.float64)))
                chosen.update([int(missing.argmin()), int(missing.argmax())])
        places = np.array(sorted(chosen))
        return taken(self.frame, places), self.target[places]


def _distinct(values: Any) -> list[Any]:
    """The different values of a column; None and NaN are two, where Python objects are told apart."""
    found = arrow(values)
    given: list[Any] = objects(values).tolist() if found is None or found.null_count else []
    if found is None:
        return list(dict.fromkeys(given))
    known = [value for value in found.unique().to_pylist() if value is not None]
    absent: dict[str, Any] = {repr(value): value for value in given if value is None or value != value}
    return [*known, *absent.values()]
