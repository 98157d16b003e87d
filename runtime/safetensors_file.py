"""Tensors in the safetensors format inside a larger file, written one at a time and read as views of a memory map.

The safetensors package reads and writes whole files only; the format is a length, a JSON header and the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from mmap import mmap
from typing import IO, Any

import numpy as np

from tilework.runtime.arrays import ALIGNMENT, Array, dtype_named

_NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
"""numpy's names of dtypes -> the format's."""
_DTYPES = {format_name: name for name, format_name in _NAMES.items()}


def tensors_size(arrays: Mapping[str, Array]) -> int:
    """No fewer bytes than `write_tensors` writes."""
    return len(_header(arrays)) + 8 + ALIGNMENT + sum(array.nbytes for array in arrays.values())


def write_tensors(file: IO[bytes], position: int, arrays: Mapping[str, Array]) -> None:
    """Write C-contiguous arrays to a stream at `position` of its file, with their bytes aligned to 64 there.

    After an array whose size is no multiple of 64 the next is not aligned: the format allows no gap.
    """
    header = _header(arrays)
    header += b" " * (-(position + 8 + len(header)) % ALIGNMENT)
    file.write(len(header).to_bytes(8, "little") + header)
    for name in _order(arrays):
        file.write(arrays[name].reshape(-1).view(np.uint8).data)


def map_tensors(mapped: mmap | bytes, position: int, size: int) -> dict[str, Array]:
    """The tensors written at `position` of a mapped file, or of its content, as read-only views of it.

    Raises ValueError where the header is not one, or a tensor lies outside the `size` bytes.
    """
    length = int.from_bytes(mapped[position : position + 8], "little")
    start, end = position + 8 + length, position + size
    if start > end:
        raise ValueError("the header is longer than the file")
    header: dict[str, Any] = json.loads(mapped[position + 8 : start])
    return {name: _view(mapped, entry, start, end) for name, entry in header.items() if name != "__metadata__"}


def _view(mapped: mmap | bytes, entry: Mapping[str, Any], start: int, end: int) -> Array:
    dtype, shape = dtype_named(_DTYPES[entry["dtype"]]), tuple(entry["shape"])
    first, last = entry["data_offsets"]
    if last - first != prod(shape) * dtype.itemsize or not start <= start + first <= start + last <= end:
        raise ValueError("a tensor lies outside the file")
    if first == last:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, mapped, offset=start + first)


def _header(arrays: Mapping[str, Array]) -> bytes:
    entries: dict[str, Any] = {}
    offset = 0
    for name in _order(arrays):
        array = arrays[name]
        end = offset + array.nbytes
        entries[name] = {"dtype": _NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    return json.dumps(entries, separators=(",", ":")).encode()


def _order(arrays: Mapping[str, Array]) -> list[str]:
    """Those that keep the next one aligned first, then the large ones: what is not aligned is copied when loaded."""
    return sorted(arrays, key=lambda name: (arrays[name].nbytes % ALIGNMENT != 0, -arrays[name].nbytes))
