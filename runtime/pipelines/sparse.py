"""Results that are sparse: the ones of codes go straight to their columns, and no matrix of zeros is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NOWHERE = -1
"""The column of a code that stands for nothing."""


@dataclass(frozen=True)
class Codes:
    """A column of codes: in which array of a table's it lies, at which place, and which column of the result each
    code puts a one in; the last entry is that of values that are not known."""

    array: int
    place: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class SparseColumns:
    """The sources of the columns of a sparse result: columns of numbers, and columns of codes.

    width: how many columns there are. form: the name of scipy's type. numbers: the columns in the result of the columns
    of numbers, in order.
    """

    form: str
    width: int
    numbers: tuple[int, ...]
    codes: tuple[Codes, ...]

    @cached_property
    def _order(self) -> Array:
        """In which order what may stand in a row is sorted by columns."""
        firsts = [max(codes.columns, default=NOWHERE) for codes in self.codes]
        return np.argsort([*self.numbers, *firsts], kind="stable")

    @cached_property
    def _tables(self) -> list[Array]:
        return [np.array(codes.columns, np.int32) for codes in self.codes]

    def entries(self, numbers: Array | None, arrays: Sequence[Array]) -> tuple[Array, Array, Array]:
        """The values of a block of rows other than 0, their columns, and how many each row has."""
        rows = len(arrays[0])
        values, columns = (np.empty((rows, len(self._order)), dtype) for dtype in (np.float64, np.int32))
        count = len(self.numbers)
        if numbers is not None:
            values[:, :count], columns[:, :count] = numbers, self.numbers
        for i, codes in enumerate(self.codes, count):
            values[:, i] = 1
            columns[:, i] = self._tables[i - count][arrays[codes.array][:, codes.place]]
        values, columns = values[:, self._order], columns[:, self._order]
        there = (columns != NOWHERE) & (values != 0)
        return values[there], columns[there], there.sum(axis=1)

    def joined(self, blocks: Iterable[tuple[Array, Array, Array]], dtype: np.dtype[Any]) -> Any:
        """The sparse matrix of all rows, given the entries of each block."""
        values, columns, counts = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        starts = np.concatenate([[0], np.cumsum(counts)])
        form = getattr(import_module("scipy.sparse"), self.form)
        ends = starts if starts[-1] > np.iinfo(np.int32).max else starts.astype(np.int32)
        return form((values.astype(dtype, copy=False), columns, ends), shape=(len(counts), self.width))
