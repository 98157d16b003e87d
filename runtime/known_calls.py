"""Calls like the last two, of arrays of the same shapes: native code, `calls.ll`, looks at the arrays.

When a call begins, the caches hold what the last one has read, and each thing that Python does is fetched from far:
asking numpy what two arrays are and where they lie takes a tenth of what a small network does.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import starmap
from math import prod
from struct import Struct, pack
from typing import Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.runtime.arrays import Array, aligned_empty
from tilework.runtime.call_sizes import CallSizes
from tilework.runtime.devices.base import Code
from tilework.runtime.devices.llvm.workers import UNLIKE, worker_symbols

MOST_UNALIGNED = 4096
"""Bytes of an output that may begin inside a line of a cache: numpy's own arrays are made in fewer steps."""

PLAIN = 0x101
"""The flags of an array in C order whose elements are aligned, by numpy's names NPY_ARRAY_C_CONTIGUOUS and _ALIGNED."""

Kind = tuple[tuple[int, ...], np.dtype[Any]]
"""The shape and the type of an array."""


class KnownCalls:
    """Calls the entry of `code` with arrays of these kinds, where `numpy_is_known`.

    sizes: those of such calls. written: how many symbols the entry writes behind those that it is told.
    """

    def __init__(
        self,
        code: Code,
        inputs: Sequence[Kind],
        outputs: Sequence[Kind],
        parameters: bytes,
        sizes: CallSizes,
        written: int = 0,
    ):
        self.scratch_bytes = sizes.scratch[0]
        self.symbols = sizes.symbols
        self._held = code, parameters, sizes.symbol_table  # native code is told where they are
        counts = len(inputs), len(inputs) + len(outputs)
        self._code = pack("PP", code.address, _place(parameters))
        self._kinds = pack("qqq", *counts, _CLASS_AT) + b"".join(starmap(_expected, [*inputs, *outputs]))
        self._known = self._code + pack("P", _place(sizes.symbol_table)) + self._kinds
        self._written = written
        self._symbol_table = ctypes.c_int64 * (len(sizes.symbols) + written)
        self._table = Struct(f"{counts[1]}P").pack
        self._outputs = [(_maker(shape, dtype), shape, dtype) for shape, dtype in outputs]
        self._native_call = native_call()

    def call(self, inputs: Sequence[object], arena: int, threads: int) -> tuple[int, list[Array], Sequence[int]]:
        """The entry's status, fresh outputs, and the symbols that it wrote.

        Where an input is of another kind, the status is UNLIKE, and nothing is done. Nobody else may change what the
        arrays are meanwhile: native code looks at them without the GIL.
        """
        try:
            outputs = [make(shape, dtype) for make, shape, dtype in self._outputs]
        except (MemoryError, TileworkError):  # perhaps it is a smaller call
            return UNLIKE, [], ()
        arrays = self._table(*map(id, inputs), *map(id, outputs))
        if not self._written:
            return self._native_call(arrays, self._known, arena, threads), outputs, ()
        table = self._symbol_table(*self.symbols.values())
        known = self._code + pack("P", ctypes.addressof(table)) + self._kinds
        status = self._native_call(arrays, known, arena, threads)
        return status, outputs, table[-self._written :]


def are_plain(values: Sequence[object], dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Whether native code takes them as they are: numpy's own arrays of just these types, in C order and aligned."""
    for value, dtype in zip(values, dtypes, strict=True):
        if type(value) is not np.ndarray or value.dtype is not dtype:
            return False
        if not (value.flags.c_contiguous and value.flags.aligned):
            return False
    return True


def _place(memory: bytes) -> int | None:
    return ctypes.cast(ctypes.c_char_p(memory), ctypes.c_void_p).value


def _maker(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Callable[..., Array]:
    return aligned_empty if prod(shape) * dtype.itemsize > MOST_UNALIGNED else np.empty


def _expected(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    return pack(f"PPq{len(shape)}q", id(np.ndarray), id(dtype), len(shape), *shape)


@cache
def native_call() -> Callable[..., int]:
    """`tilework_call`."""
    types = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32
    return ctypes.CFUNCTYPE(ctypes.c_int32, *types)(worker_symbols()["tilework_call"])


# ---- What numpy's arrays are in memory -------------------------------------------------------------------------------

_CLASS_AT = object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p)
"""Where an object's class stands: at the end of what all objects begin with."""


class _Fields(ctypes.Structure):
    """An array from its class on, as in `calls.ll`."""

    _fields_ = (
        ("type", ctypes.c_size_t),
        ("data", ctypes.c_size_t),
        ("rank", ctypes.c_int),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


@cache
def numpy_is_known() -> bool:
    """Whether arrays are in memory as numpy's C interface has had them so far."""
    if sys.implementation.name != "cpython" or np.ndarray.__basicsize__ < _CLASS_AT + ctypes.sizeof(_Fields):
        return False
    array = np.empty((2, 3), np.float32)
    fields = _Fields.from_address(id(array) + _CLASS_AT)
    found = fields.type, fields.data, fields.rank, fields.dtype, fields.flags & PLAIN
    expected = id(np.ndarray), array.ctypes.data, 2, id(array.dtype), PLAIN
    return found == expected and fields.sizes[:2] == [2, 3]
