"""The values that a column of codes stands for."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.pipelines.columns import arrow, dtype_of, is_array, numbers, objects, pyarrow

Array = NDArray[Any]

OTHER = -1
"""The code of a value that the dictionary does not have."""

FEW = 32
"""Fewer Python objects than these are looked up one by one: a library takes longer to begin."""


@dataclass(frozen=True)
class Dictionary:
    """Known values in the order of their codes. NaN is taken for `fill`, where there is one; None is a value.

    strict: whether another value is an error; else its code is `other`. groups: the code of each value, where several
    values have the same; else each has its own number. warning: what is said where there is another value, if anything.
    """

    values: tuple[Any, ...]
    fill: Any = None
    strict: bool = False
    groups: tuple[int, ...] | None = None
    other: int = OTHER
    warning: str = ""

    @property
    def size(self) -> int:
        """How many codes there are, but for that of values which are not known."""
        return len(self.values) if self.groups is None else max(self.groups, default=-1) + 1

    def codes(self, column: Any) -> Array:
        """The code of each value of a column. Raises ValueError for values that are not known, if it is strict."""
        found = self._places(column)
        if self.strict and (found == OTHER).any():
            unknown = list(dict.fromkeys(objects(column)[found == OTHER].tolist()))
            raise ValueError(f"Found unknown categories {unknown[:10]} during transform")
        if self.warning and (found == OTHER).any():
            warnings.warn(self.warning, UserWarning, stacklevel=2)
        if self.groups is None and self.other == OTHER:
            return found
        own = range(len(self.values)) if self.groups is None else self.groups
        return np.array([*own, self.other], np.int32)[found]  # the place of what is not known is the last

    def _places(self, column: Any) -> Array:
        if self._are_numbers and dtype_of(column) is not None:
            return self._codes_of_numbers(column)
        return self._codes_of_objects(column) if is_array(column) and len(column) < FEW else self._codes_of(column)

    @cached_property
    def _are_numbers(self) -> bool:
        return all(isinstance(v, int | float) for v in self.values)

    @cached_property
    def _numbers_of_values(self) -> dict[Any, int]:
        return {v: code for code, v in enumerate(self.values) if v is not None and v == v}

    def _codes_of_numbers(self, column: Any) -> Array:
        known = np.array([v for v in self.values if v == v], np.float64)
        order = np.argsort(known)
        given = numbers(column, np.dtype(np.float64))
        missing = np.isnan(given)
        at = np.searchsorted(known[order], given).clip(0, max(0, len(known) - 1))
        codes = np.full(len(given), OTHER, np.int32)
        if len(known):
            same = known[order][at] == given
            codes[same] = order[at[same]]
        codes[missing] = self._code_of_missing(float("nan"))
        return codes

    def _code_of_missing(self, value: Any) -> int:
        if self.fill is not None and value is not None:
            value = self.fill
        for code, known in enumerate(self.values):
            if known is value or known == value or (known != known and value != value):
                return code
        return OTHER

    def _codes_of(self, column: Any) -> Array:
        missing = [v for v in self.values if v is None or v != v]
        given = arrow(column) if len(missing) < 2 else None  # None and NaN are one and the same to pyarrow
        if given is None:
            return self._codes_of_objects(column)
        pa, pc = pyarrow(), import_module("pyarrow.compute")
        if pa.types.is_dictionary(given.type):
            given = given.cast(given.type.value_type)
        known = [None if v is None or v != v else v for v in self.values]
        try:
            if given.type == pa.large_string() and all(isinstance(v, str | None) for v in known):
                values = pa.array(known, pa.large_string())
            else:
                values = pa.array(known).cast(given.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            return self._codes_of_objects(column)
        codes = pc.fill_null(pc.index_in(given, values), OTHER)
        found = np.array(codes.to_numpy(zero_copy_only=False) if isinstance(codes, pa.Array) else codes.to_numpy())
        if given.null_count:
            nothing = pc.is_null(given)
            mask = nothing.to_numpy(zero_copy_only=False) if isinstance(nothing, pa.Array) else nothing.to_numpy()
            if getattr(column, "dtype", None) == np.dtype(object):
                found[mask] = self._codes_of_objects(objects(column)[mask])
            else:  # of one kind, whatever a library calls it
                found[mask] = self._code_of_missing(missing[0] if missing else math.nan)
        return found.astype(np.int32, copy=False)

    def _codes_of_objects(self, column: Any) -> Array:
        table = self._numbers_of_values

        def code(value: Any) -> int:
            if value is None or value != value:
                return self._code_of_missing(value)
            return table.get(value, OTHER)

        return np.fromiter(map(code, objects(column)), np.int32, count=len(column))
