"""Integers of four bits in memory, two to a byte: element 2 * k is the low half of byte k, 2 * k + 1 the high one.

In Python such integers are ml_dtypes' `int4` and `uint4`, which take a byte each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a byte of memory holds two numbers of this type."""
    return dtype.name in ("int4", "uint4")


def packed_size(elements: int) -> int:
    """How many bytes so many elements take."""
    return (elements + 1) // 2


def pack(array: NDArray[Any], out: NDArray[np.uint8]) -> None:
    """Write an array's elements, in row-major order, to their bytes; the half of the last one that is left is 0."""
    halves = array.reshape(-1).view(np.uint8) & 15
    out[:] = halves[::2]
    out[: halves.size // 2] |= halves[1::2] << 4


def unpack(packed: NDArray[np.uint8], out: NDArray[Any]) -> None:
    """Fill a contiguous array with the elements that lie in these bytes."""
    flat = out.reshape(-1)
    assert np.may_share_memory(flat, out) or not out.size, "the array is not contiguous"
    flat[::2] = packed.astype(out.dtype)
    flat[1::2] = (packed[: out.size // 2] >> 4).astype(out.dtype)
