"""The rows that an estimator is fitted to: what is asked of their columns is looked up once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.untyped import issparse
from tilework.runtime.pipelines.cluster import Pass, states_on
from tilework.runtime.pipelines.columns import (
    Reader,
    as_rows,
    column,
    dtype_of,
    names_of,
    numbers,
    taken,
)
from tilework.runtime.pipelines.encoded import EncodedColumn
from tilework.runtime.pipelines.folding import BLOCK, State
from tilework.runtime.pipelines.interface import Part
from tilework.runtime.pipelines.lineage_cache import Derived, LineageCache
from tilework.runtime.pipelines.source import Source

DOUBLE: np.dtype[Any] = np.dtype(np.float64)

SAMPLE = 10
"""Rows of which a sample has the first ones, besides those that show what there is in columns."""

CODES, MISSING = "codes of words", "which columns have missing numbers"
"""What is computed from rows before they are summed."""

FIRST = 256
"""Rows among which a number is looked for that most rows have."""


def require_dense(rows: Any) -> None:
    """Refuse what is neither a frame nor an array of rows. Raises Unsupported."""
    if issparse(rows):
        raise Unsupported("the rows are a sparse matrix")
    if type(rows).__module__.startswith("dask."):
        raise Unsupported("the rows are an array of Dask")
    if getattr(rows, "ndim", 2) == 1:
        raise Unsupported("the rows are a vector")


class Rows:
    """What something is fitted to. Raises Unsupported, and ValueError for what scikit-learn refuses.

    cache: where what is computed from all rows is kept for later fits. derived: takes it from there.
    """

    def __init__(self, rows: Any, cache: LineageCache | None = None):
        require_dense(rows)
        self.frame: Any = as_rows(rows)
        names = names_of(self.frame)
        self.keys: tuple[Any, ...] = tuple(range(self.frame.shape[1]) if names is None else names)
        self.dtypes: dict[Any, np.dtype[Any] | None] = {key: dtype_of(column(self.frame, key)) for key in self.keys}
        self.target: Any = None
        self._missing_rows: set[int] = set()
        self._readers: dict[Part, Reader] = {}
        self._encoded: dict[Any, EncodedColumn] = {}
        outline = names is None, self.frame.shape, self.keys, tuple(self.dtypes.values())
        self.derived = Derived(cache, outline, lambda: Source.of(self.frame, self.keys))

    def __len__(self) -> int:
        return self.frame.shape[0]

    def is_incomplete(self, key: Any) -> bool:
        """Whether a number of a column may be missing: nobody has looked."""
        return True

    def encoded(self, key: Any) -> EncodedColumn:
        """The values of a column, told apart."""
        if key not in self._encoded:
            own = column(self.frame, key)
            self._encoded[key] = self.derived.of(CODES, (CODES, key), lambda: EncodedColumn.of(own))
        return self._encoded[key]

    def whole(self, key: Any) -> EncodedColumn:
        """The same, for what is learned from how often values stand in all rows."""
        return self.encoded(key)

    def first_missing(self, key: Any, missing: float | None) -> int | None:
        """The first row in which a number of a column is missing, which every sample has from now on."""
        found = self._absent(key, missing)
        if not found.any():
            return None
        row = int(found.argmax())
        self._missing_rows.add(row)
        return row

    def _absent(self, key: Any, missing: float | None) -> Array:
        """Whether each number of a column is missing."""
        values = numbers(column(self.frame, key), DOUBLE)
        return np.isnan(values) if missing is None else values == missing

    def row_numbers(self, places: Array) -> Array:
        """The numbers that rows of the frame have among all."""
        return places

    def states_on(self, client: Any, given: Pass, groups: Array) -> list[State]:
        """The state of each group of rows, computed by workers to which the rows are sent."""
        return states_on(client, given, self.frame, self.target, groups)

    def blocks(self, parts: Sequence[Part]) -> Iterator[list[Array]]:
        """The arrays of a program on the rows, block after block."""
        readers = [self._reader(part) for part in parts]
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            yield [read(start, stop) for read in readers]
        for part in parts:  # nobody has refused a number: there is no need to look again
            if not part.holds_codes:
                self._readers[part] = part.reader(self.frame, checked=False)

    def _reader(self, part: Part) -> Reader:
        if part not in self._readers:
            self._readers[part] = self.reader_of_codes(part) if part.holds_codes else part.reader(self.frame)
        return self._readers[part]

    def reader_of_codes(self, part: Part) -> Reader:
        """What reads columns of codes, whose values are told apart once."""
        given = [(self.encoded(g.key), g.dictionary) for g in part.inputs if g.dictionary is not None]
        tables = [(found.codes, found.table(dictionary)) for found, dictionary in given]

        def read(start: int, stop: int) -> Array:
            made = np.empty((stop - start, len(tables)), np.int32)
            for i, (codes, table) in enumerate(tables):
                np.take(table, codes[start:stop], out=made[:, i], mode="clip")
            return made

        return read

    def shift(self, part: Part) -> Array:
        """What the numbers of each column are summed about, for a part of numbers."""
        return middle(self._reader(part)(0, min(BLOCK, len(self))))

    def sample_places(self, parts: Sequence[Part]) -> Array:
        """The places of a few rows in which there is every value of a dictionary, and two numbers of every column."""
        chosen = {*range(min(SAMPLE, len(self))), *self._missing_rows}
        for given in (given for part in parts for given in part.inputs):
            if given.dictionary is not None:
                found = self.encoded(given.key)
                chosen.update(found.places[found.counts > 0].tolist())
            else:
                chosen.update(self._two_values(given.key, given.missing))
        return np.array(sorted(chosen))

    def _two_values(self, key: Any, missing: float | None) -> list[int]:
        """Rows in which different numbers of a column stand, if there are two; the first rows need no help."""
        first = numbers(column(self.frame, key)[:SAMPLE], DOUBLE)
        if len(np.unique(first[~np.isnan(first) & (first != missing)])) > 1:
            return []
        every, there = numbers(column(self.frame, key), DOUBLE), ~self._absent(key, missing)
        known = int(there.argmax())
        return [known, int(((every != every[known]) & there).argmax())]

    def sample(self, parts: Sequence[Part]) -> Any:
        """These rows."""
        return taken(self.frame, self.sample_places(parts))


class RowsAndTarget(Rows):
    """The rows of a search, which are split into folds, and the target of each."""

    def __init__(self, rows: Any, target: Any, cache: LineageCache | None = None):
        super().__init__(rows, cache)
        self.target: Any = np.ascontiguousarray(target, np.float64)
        if len(self.target) != len(self):
            counts = [len(self), len(self.target)]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {counts}")
        if not np.isfinite(self.target).all():
            raise ValueError("Input y contains NaN or infinity.")

    @cached_property
    def _incomplete(self) -> frozenset[Any]:
        """The columns in which a number is missing; infinite ones are found when they are summed."""
        return self.derived.of(MISSING, MISSING, self._with_missing_numbers)

    def _with_missing_numbers(self) -> frozenset[Any]:
        if type(self.frame) is np.ndarray and self.frame.dtype.kind == "f":
            sums: Array = np.add.reduce(self.frame, axis=0)
            return frozenset(i for i, total in enumerate(sums.tolist()) if total != total)
        known = [key for key in self.keys if self.dtypes[key] is not None]
        return frozenset(key for key in known if np.isnan(numbers(column(self.frame, key), DOUBLE).sum()))

    def is_incomplete(self, key: Any) -> bool:
        """Whether a number of a column is missing in some row."""
        return key in self._incomplete

    def whole(self, key: Any) -> EncodedColumn:
        """Nothing is learned from how often values stand in all rows. Raises Unsupported."""
        raise Unsupported(f"how often values of {key} occur in each training set is not summed")

    def first_missing(self, key: Any, missing: float | None) -> int | None:
        """Which columns are complete in a part of the rows is not known. Raises Unsupported."""
        raise Unsupported(f"whether {key} is complete in each training set is not looked up")

    def blocks(self, parts: Sequence[Part]) -> Iterator[list[Array]]:
        """The same, and the target last."""
        for start, block in zip(range(0, len(self), BLOCK), super().blocks(parts), strict=True):
            yield [*block, self.target[start : start + BLOCK, None]]

    def shifts(self, parts: Sequence[Part]) -> list[Array]:
        """Return the shifts of each part of numbers, and that of the target."""
        numbers_of_parts = [self.shift(part) for part in parts if not part.holds_codes]
        return [*numbers_of_parts, middle(self.target[:BLOCK, None])]


def middle(rows: Array) -> Array:
    """The mean of each column; the number that most of the rows have, if there is one; 0 where every one is missing.

    Numbers that are the same nearly everywhere have no distance from it then, so that their variance is exactly 0.
    """
    there = ~np.isnan(rows)
    known = there.sum(axis=0)
    ordered = np.sort(rows[:FIRST], axis=0)
    lower = np.maximum((~np.isnan(ordered)).sum(axis=0) - 1, 0) // 2
    median = ordered[lower, np.arange(rows.shape[1])]
    mean = np.where(there, rows, 0).sum(axis=0) / np.maximum(1, known)
    return np.where((rows == median).sum(axis=0) > known / 2, median, mean)


def one_target(target: Any) -> Any:
    """A target that is one number for each row. Raises Unsupported for another."""
    if target is None or np.ndim(target) != 1 or np.asarray(target).dtype.kind not in "fiub":
        raise Unsupported("the target is not one number for each row")
    return target
