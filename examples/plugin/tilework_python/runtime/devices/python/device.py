"""How Python source is loaded: it is executed, and finds arrays at the addresses that it is called with."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy

from tilework.runtime.devices.base import Loaded


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> Loaded:
    """The function `entry` of pieces of source."""
    names: dict[str, Any] = {"numpy": numpy, "floats": floats}
    for source in objects:
        exec(source, names)
    return Loaded(names[entry])


def floats(address: int, count: int) -> numpy.ndarray:
    """The array of f32 at an address."""
    return numpy.ctypeslib.as_array((ctypes.c_float * count).from_address(address))
