"""Where arrays lie in memory, as compiled code reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ctypes import addressof, c_char
from itertools import pairwise
from struct import Struct
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

first_byte: Callable[[Array], c_char] = c_char.from_buffer  # pyright: ignore[reportAssignmentType]
"""The byte at which a writable array begins; `ctypes.addressof` of it is the fast way to an array's address.

Raises TypeError for a read-only array, ValueError for an empty one and for types that Python's buffers lack.
"""


def address_of(array: Array) -> int:
    """Where the first element of an array lies; what holds as long as the array lives."""
    try:
        return addressof(first_byte(array))
    except (TypeError, ValueError):
        return array.ctypes.data


def addresses(arrays: Iterable[Array]) -> list[int]:
    """Where the first element of each array lies."""
    return [address_of(array) for array in arrays]


def address_table(length: int) -> Callable[..., bytes]:
    """What makes a C array of so many pointers of as many addresses."""
    return Struct(f"{length}P").pack


def are_apart(arrays: Sequence[Array]) -> bool:
    """Whether each of these contiguous arrays lies behind or before every other in memory, none of them empty."""
    spans = sorted([(start, start + array.nbytes) for start, array in zip(addresses(arrays), arrays, strict=True)])
    return all(end <= start for (_, end), (start, _) in pairwise(spans))
