"""How a program on tables is called: which columns it takes, in which arrays they lie, what its result is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.pipelines.columns import Reader, as_rows, column, names_of, reader_of_numbers
from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.folding import BLOCK
from tilework.runtime.pipelines.sparse import SparseColumns

Array = NDArray[Any]


@dataclass(frozen=True)
class Input:
    """A column of the table that a program takes: where it is found, what is in it.

    key: the name of a column of a frame, or the number of one of an array. dictionary: what its codes stand for; None
    for numbers. finite: whether a missing number is an error. optional: whether a number may be missing. missing: the
    number that says so, besides NaN.
    """

    key: Any
    dtype: str
    dictionary: Dictionary | None = None
    finite: bool = False
    optional: bool = True
    missing: float | None = None


@dataclass(frozen=True)
class Part:
    """Columns that lie side by side in one array: numbers of one type, or codes."""

    inputs: tuple[Input, ...]

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """The names or numbers by which the columns are found."""
        return tuple(given.key for given in self.inputs)

    @cached_property
    def _finite(self) -> list[int]:
        return [i for i, given in enumerate(self.inputs) if given.finite]

    @cached_property
    def _marks(self) -> dict[int, float]:
        return {i: given.missing for i, given in enumerate(self.inputs) if given.missing is not None}

    @property
    def holds_codes(self) -> bool:
        """Whether these are codes of dictionaries."""
        return self.inputs[0].dictionary is not None

    def reader(self, rows: Any, *, checked: bool = True) -> Reader:
        """What reads the columns of a frame or array; `checked`: whether it looks for numbers that are refused.

        Raises ValueError for values that have to be known and are not; what it gives, for numbers that are refused.
        """
        if self.holds_codes:
            codes = [given.dictionary.codes(column(rows, given.key)) for given in self.inputs if given.dictionary]
            every = np.stack(codes, axis=1)
            return lambda start, stop: every[start:stop]
        read = reader_of_numbers(rows, self.keys, np.dtype(self.inputs[0].dtype))
        numbers: Reader = (lambda start, stop: self._checked(read(start, stop))) if checked else read
        return (lambda start, stop: self._marked(numbers(start, stop))) if self._marks else numbers

    def _checked(self, made: Array) -> Array:
        """The numbers, if none is infinite, and none is missing where it is not filled in."""
        if np.isfinite(made.sum()):
            return made
        if np.isinf(made).any():
            raise ValueError(f"Input X contains infinity or a value too large for dtype('{made.dtype}').")
        if self._finite and np.isnan(made[:, self._finite]).any():
            raise ValueError("Input X contains NaN.")
        return made

    def _marked(self, made: Array) -> Array:
        """The numbers with NaN in the place of those that say that a number is missing."""
        made = made.copy()
        for i, mark in self._marks.items():
            made[made[:, i] == mark, i] = np.nan
        return made


@dataclass(frozen=True)
class Output:
    """What a result is: "rows" of numbers, "numbers", one for each row, or "classes", which are then listed.

    "integers" are rows of these, "sparse" rows a sparse matrix, whose columns `sparse` tells. dtype: of the classes,
    the integers or what is sparse, as numpy writes it.
    """

    kind: str
    classes: tuple[Any, ...] = ()
    dtype: str = "|O"
    sparse: SparseColumns | None = None

    @cached_property
    def _classes(self) -> Array:
        return np.array(self.classes, np.dtype(self.dtype))

    def of(self, result: Array) -> Array:
        """The result of a call, as scikit-learn gives it."""
        if self.kind == "rows":
            return result
        if self.kind == "integers":
            return result.astype(self.dtype, copy=False)
        flat = result.reshape(-1)
        return flat if self.kind == "numbers" else self._classes[flat]


@dataclass(frozen=True)
class Interface:
    """keys: of all columns of the tables that it takes. named: whether these are frames, whose columns have names.

    any_order: whether columns are found by their names, in frames that may have others too.
    """

    keys: tuple[Any, ...]
    named: bool
    parts: tuple[Part, ...]
    output: Output
    any_order: bool = False

    def blocks(self, rows: Any) -> Iterator[list[Array]]:
        """What the program is called with for a frame or array, block of rows after block.

        Raises ValueError for what scikit-learn refuses.
        """
        readers, count = [part.reader(rows) for part in self.parts], rows.shape[0]
        for start in range(0, count, BLOCK):
            yield [read(start, min(start + BLOCK, count)) for read in readers]

    def checked(self, rows: Any) -> Any:
        """A frame or array with the columns that are needed. Raises ValueError for any other."""
        rows = as_rows(rows)
        names = names_of(rows)
        if names is not None:
            self._check_names(names)
        elif rows.shape[1] != len(self.keys):
            raise ValueError(f"X has {rows.shape[1]} features, but {len(self.keys)} features are expected as input.")
        elif self.named:
            raise ValueError("Specifying the columns by their names needs a frame, as at fit; an array is given.")
        return rows

    def _check_names(self, names: list[Any]) -> None:
        if not self.named:
            raise ValueError("X has feature names, but the example rows were an array without: give an array.")
        if tuple(names) == self.keys:
            return
        if not self.any_order:
            raise ValueError("The feature names should match those that were passed during fit, in their order.")
        missing = [str(given.key) for part in self.parts for given in part.inputs if given.key not in names]
        if missing:
            raise ValueError(f"columns are missing: {set(missing)}")
