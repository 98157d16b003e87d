"""The toy, simulated: its memory is that of the process."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tilework.runtime.devices.base import Loaded

TYPES = (np.int8, np.int8, np.int32)
"""The types of the data, the weight and the sums, in the order of the arguments of a kernel."""


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> Loaded:
    """A kernel as a function of addresses."""
    instructions = [line.split() for line in objects[0].decode().splitlines()]

    def run(*addresses: int) -> None:
        for name, total, *factors in instructions:
            sums = part(addresses, total, ())
            if name == "npu.zero":
                sums[:] = 0
            else:
                x, w = (part(addresses, factor, shape) for factor, shape in zip(factors, ((), (8,)), strict=True))
                sums += w.astype(np.int32) @ x.astype(np.int32)

    return Loaded(run)


def part(addresses: Sequence[int], text: str, rows: tuple[int, ...]) -> np.ndarray:
    """Eight elements of an argument, or so many rows of eight."""
    place, *distance = text.split(",")
    number, start = map(int, place.split(":"))
    size = np.dtype(TYPES[number]).itemsize
    strides = [int(d) * size for d in distance] + [size]
    first = np.frombuffer((ctypes.c_char * (8 * size)).from_address(addresses[number] + start * size), TYPES[number])
    return as_strided(first, (*rows, 8), strides)
