"""Where arrays lie in memory, as compiled code reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def addresses(arrays: Sequence[Array]) -> list[int]:
    """Where the first element of each array lies; what holds as long as the arrays live."""
    try:
        return [addressof(first_byte(array)) for array in arrays]
    except (TypeError, ValueError):  # of one of them: then all the slow way
        return [array.ctypes.data for array in arrays]


def address_table(length: int) -> Callable[..., bytes]:
    """What makes a C array of so many pointers of as many addresses."""
    return Struct(f"{length}P").pack


def are_apart(arrays: Sequence[Array]) -> bool:
    """Whether each of these contiguous arrays lies behind or before every other in memory, none of them empty."""
    spans = sorted([(start, start + array.nbytes) for start, array in zip(addresses(arrays), arrays, strict=True)])
    return all(end <= start for (_, end), (start, _) in pairwise(spans))
