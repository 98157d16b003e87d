"""A column whose values are told apart once: which there are, and which of them stands in each row."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.pipelines.columns import arrow, dtype_of, objects, pyarrow
from tilework.runtime.pipelines.dictionary import OTHER, Dictionary

Array = NDArray[Any]

HEAD = 4096
"""Rows in which values are looked for first."""

_NAN = object()
"""What stands for any NaN where values are looked up."""


@dataclass(frozen=True)
class EncodedColumn:
    """values: the different ones as Python objects, in no order; None and NaN are two. codes: their numbers, by row."""

    values: tuple[Any, ...]
    codes: Array

    @staticmethod
    def of(column: Any) -> EncodedColumn:
        """Tell the values of a column apart."""
        found = arrow(column)
        if found is None:
            return _of_objects(objects(column).tolist())
        pa = pyarrow()
        if not pa.types.is_dictionary(found.type):
            found = found.dictionary_encode()
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
            found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
        values: list[Any] = found.dictionary.to_pylist()
        indices = found.indices
        if not indices.null_count:
            return EncodedColumn(tuple(values), _narrow(indices.to_numpy(zero_copy_only=False), len(values)))
        codes = indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        absent = codes == len(values)
        if getattr(column, "dtype", None) == np.dtype(object):  # which alone has two kinds of missing values
            missing = _of_objects(objects(column)[absent].tolist())
            codes = codes.astype(np.int32)
            codes[absent] = missing.codes.astype(np.int32) + len(values)
            return EncodedColumn((*values, *missing.values), _narrow(codes, len(values) + len(missing.values)))
        return EncodedColumn((*values, _missing(column, absent)), _narrow(codes, len(values) + 1))

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.codes.nbytes + sum(map(sys.getsizeof, self.values))

    @cached_property
    def counts(self) -> Array:
        """How often each value stands there."""
        return np.bincount(self.codes, minlength=len(self.values))

    @cached_property
    def places(self) -> Array:
        """A row in which each value stands."""
        values, first = np.unique(self.codes[:HEAD], return_index=True)
        if len(values) == len(self.values):  # most often there is no need to look at all rows
            return first
        found = np.empty(len(self.values), np.int64)
        found[self.codes[::-1]] = np.arange(len(self.codes) - 1, -1, -1)
        return found

    @cached_property
    def ordered(self) -> tuple[Any, ...]:
        """The values that there are, sorted as scikit-learn does. Raises TypeError where they have no order."""
        there = [value for value, count in zip(self.values, self.counts.tolist(), strict=True) if count]
        known = sorted(v for v in there if not _is_missing(v))
        return (*known, *([None] if None in there else []), *([math.nan] if any(v != v for v in there) else []))

    def counts_of(self, values: Iterable[Any]) -> list[int]:
        """How often each of some values stands there."""
        counts = self.counts.tolist()
        places = {_NAN if v != v else v: i for i, v in enumerate(self.values)}
        return [counts[places[key]] if (key := _NAN if v != v else v) in places else 0 for v in values]

    def most_frequent(self, missing: Any = None) -> Any:
        """The value that stands there most often, of several the least. None where there is none.

        NaN is no value, nor is the one that says `missing`.
        """
        said = [v != v or (missing is not None and v == missing) for v in self.values]
        counts = np.where(said, 0, self.counts)
        if not counts.any():
            return None
        return min(self.values[i] for i in np.flatnonzero(counts == counts.max()))

    def known_in(self, dictionary: Dictionary, dropped: int | None) -> int:
        """In how many rows there is a value that a dictionary knows and that has not the code that is dropped."""
        codes = self.table(dictionary)
        return int(self.counts[(codes >= 0) & (codes != (OTHER if dropped is None else dropped))].sum())

    def table(self, dictionary: Dictionary) -> Array:
        """The code of each value in a dictionary. Raises ValueError for one that it has to know."""
        there = np.empty(len(self.values), object)
        there[:] = self.values
        used = self.counts > 0
        codes = np.full(len(self.values), dictionary.other, np.int32)
        codes[used] = dictionary.codes(there[used])
        return codes


def _of_objects(values: list[Any]) -> EncodedColumn:
    numbers: dict[Any, int] = {}
    nan: Any = None
    codes = np.empty(len(values), np.int32)
    for i, value in enumerate(values):
        if value is not None and value != value:
            nan = value if nan is None else nan
            value = nan
        codes[i] = numbers.setdefault(value, len(numbers))
    return EncodedColumn(tuple(numbers), _narrow(codes, len(numbers)))


def _missing(column: Any, absent: Array) -> Any:
    """None where a column, not of Python objects, calls a missing value so; NaN for NaN, and for the NA of pandas."""
    if dtype_of(column) is not None:
        return math.nan
    first = int(absent.argmax())
    return None if objects(column[first : first + 1])[0] is None else math.nan


def _narrow(codes: Array, count: int) -> Array:
    """Codes below a number, in as few bytes as they need."""
    return codes.astype(np.min_scalar_type(max(0, count - 1)), copy=False)


def _is_missing(value: Any) -> bool:
    return value is None or value != value
