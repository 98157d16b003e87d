"""The values that a column of codes stands for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.pipelines.columns import arrow, dtype_of, numbers, objects, pyarrow

Array = NDArray[Any]

OTHER = -1
"""The code of a value that the dictionary does not have."""


@dataclass(frozen=True)
class Dictionary:
    """Known values in the order of their codes. A missing value is taken for `fill`, where there is one.

    strict: whether another value is an error.
    """

    values: tuple[Any, ...]
    fill: Any = None
    strict: bool = False

    def codes(self, column: Any) -> Array:
        """The code of each value of a column. Raises ValueError for values that are not known, if it is strict."""
        numeric = all(isinstance(v, int | float) for v in self.values)
        found = self._codes_of_numbers(column) if numeric and dtype_of(column) is not None else self._codes_of(column)
        if self.strict and (found == OTHER).any():
            unknown = list(dict.fromkeys(objects(column)[found == OTHER].tolist()))
            raise ValueError(f"Found unknown categories {unknown[:10]} during transform")
        return found

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
        if self.fill is not None:
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
            found[mask] = self._code_of_missing(missing[0] if missing else None)
        return found.astype(np.int32, copy=False)

    def _codes_of_objects(self, column: Any) -> Array:
        table = {v: code for code, v in enumerate(self.values) if v is not None and v == v}

        def code(value: Any) -> int:
            if value is None or value != value:
                return self._code_of_missing(value)
            return table.get(value, OTHER)

        return np.fromiter(map(code, objects(column)), np.int32, count=len(column))
