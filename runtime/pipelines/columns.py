"""Columns of frames, whatever library they are of, and of arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def names_of(rows: Any) -> list[Any] | None:
    """The names of the columns of a frame of pandas, Polars or pyarrow; None for what is no frame."""
    if _is_of(rows, "pyarrow", "Table"):
        return list(rows.column_names)
    return list(rows.columns) if hasattr(rows, "columns") and hasattr(rows, "shape") else None


def as_rows(rows: Any) -> Any:
    """A frame as it is, anything else as an array with two axes. Raises ValueError as scikit-learn does."""
    if is_array(rows) and rows.ndim == 2 and rows.dtype.kind in "fiubO" and len(rows):
        return rows
    if names_of(rows) is None:
        if hasattr(rows, "tocsr"):
            raise ValueError("a sparse matrix is given: rows.toarray() has its numbers")
        rows = np.asarray(rows)
        if rows.ndim != 2:
            raise ValueError(f"Expected 2D array, got {rows.ndim}D array instead")
        if rows.dtype.kind == "c":
            raise ValueError("Complex data not supported")
    if not rows.shape[0]:
        raise ValueError(f"Found array with 0 sample(s) (shape={tuple(rows.shape)}) while a minimum of 1 is required.")
    return rows


def is_partitioned(rows: Any) -> bool:
    """Whether rows are a frame of Dask."""
    return type(rows).__module__.startswith("dask.") and hasattr(rows, "to_delayed") and hasattr(rows, "columns")


def is_array(value: object) -> bool:
    """Whether a value is an array of numpy."""
    return isinstance(value, np.ndarray)


def column(rows: Any, key: Any) -> Any:
    """One column of a frame by its name, or of an array by its number."""
    return rows[:, key] if is_array(rows) else rows[key]


def numbers(values: Any, dtype: np.dtype[Any]) -> Array:
    """A column as floating-point numbers, its missing values NaN. Raises ValueError for what holds none."""
    if _is_of(values, "pandas", "Series"):
        _require_numbers(values.dtype)
        return values.to_numpy(dtype=dtype, na_value=np.nan)
    made = _as_array(values)
    _require_numbers(made.dtype)
    if made.ndim != 1:
        raise ValueError("a column of numbers is given twice, or has columns of its own")
    return made.astype(dtype, copy=False)


def _require_numbers(dtype: Any) -> None:
    """Refuse complex numbers, dates and times, of which numpy would make other numbers."""
    if getattr(dtype, "kind", "") in ("c", "m", "M"):
        raise ValueError(f"a column of numbers holds elements of type {dtype}")


def dtype_of(values: Any) -> np.dtype[Any] | None:
    """The numpy type of a column of numbers or truth values; None for a column of anything else."""
    found: Any = getattr(values, "dtype", None)
    found = getattr(found, "numpy_dtype", found)  # of pandas's own types of numbers
    if not hasattr(found, "kind"):
        found = numpy_sample(values).dtype
    return np.dtype(found) if found.kind in "fiub" else None


def numpy_sample(values: Any) -> Array:
    """The first values of a column, as numpy has them."""
    return _as_array(values[:1])


def objects(values: Any) -> Array:
    """A column as Python objects, of which NaN stands for a missing value that pandas calls NA."""
    if _is_of(values, "pandas", "Series"):
        return _without_na(values.to_numpy(dtype=object))
    return _without_na(_as_array(values).astype(object))


def _without_na(values: Array) -> Array:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return values
    absent = [i for i in np.flatnonzero(pandas.isna(values)) if values[i] is pandas.NA]
    if absent:
        values = values.copy()
        values[absent] = math.nan
    return values


def without_na(frame: Any) -> Any:
    """A frame of pandas with NaN for every missing word, which scikit-learn knows; NA it refuses."""
    found = {key: column(frame, key) for key in frame.columns}
    words = [key for key, values in found.items() if dtype_of(values) is None and values.hasnans]
    made = frame.copy() if words else frame
    for key in words:
        made[key] = type(found[key])(objects(found[key]), frame.index, dtype=object)
    return made


def _as_array(values: Any) -> Array:
    """A column as its library gives it to numpy, but that pyarrow takes a null of a dictionary for its first value."""
    if _is_of(values, "pyarrow", "ChunkedArray") and hasattr(values.type, "value_type"):
        values = values.cast(values.type.value_type)
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def arrow(values: Any) -> Any:
    """A column as pyarrow has it; None where pyarrow is not there, or knows no one type for all values."""
    pa = pyarrow()
    if pa is None:
        return None
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        if hasattr(values, "to_arrow"):  # Polars
            return values.to_arrow()
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None


def pyarrow() -> Any:
    """The library, or None where it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        return None


Reader = Callable[[int, int], Array]
"""The rows from one number on and before another, side by side columns of one type."""


def reader_of_numbers(rows: Any, keys: Sequence[Any], dtype: np.dtype[Any]) -> Reader:
    """What reads some columns of numbers of a frame or array; what is laid out so already is not copied."""
    if is_array(rows):
        every = list(keys) == list(range(rows.shape[1]))
        which = slice(None) if every else list(keys)
        return lambda start, stop: np.ascontiguousarray(rows[start:stop, which], dtype)
    columns = [_as_it_is(column(rows, key), dtype) for key in keys]
    if len(columns) == 1 and columns[0].dtype == dtype:
        return lambda start, stop: columns[0][start:stop, None]

    def read(start: int, stop: int) -> Array:
        made = np.empty((stop - start, len(columns)), dtype)
        for i, values in enumerate(columns):
            made[:, i] = values[start:stop]
        return made

    return read


def _as_it_is(values: Any, dtype: np.dtype[Any]) -> Array:
    """A column as numpy has it already, else as numbers of that type."""
    if isinstance(getattr(values, "dtype", None), np.dtype) and values.dtype.kind in "fiub":
        return np.asarray(values)
    return numbers(values, dtype)


def _is_of(value: Any, library: str, name: str) -> bool:
    """Whether a value is of a type of a library, which is not imported if nobody has."""
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name))


def taken(rows: Any, places: Array) -> Any:
    """The rows at these places, in order."""
    if _is_of(rows, "pandas", "DataFrame"):
        return rows.iloc[places]
    return rows.take(places) if _is_of(rows, "pyarrow", "Table") else rows[places]


def between(rows: Any, start: int, stop: int) -> Any:
    """The rows from one place on and before another."""
    if _is_of(rows, "pandas", "DataFrame"):
        return rows.iloc[start:stop]
    return rows.slice(start, stop - start) if _is_of(rows, "pyarrow", "Table") else rows[start:stop]
