"""Arrays: `tvm.nd.array`, `tvm.nd.empty`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.compat.tvm.runtime.device import Device, cpu
from tilework.runtime.arrays import dtype_named

_SHORT = {"float": "float32", "int": "int32", "uint1": "bool"}


class NDArray:
    """An array that functions read and write, in memory of its own; numpy's memory is that of the host."""

    def __init__(self, memory: np.ndarray[Any, Any], device: Device | None = None):
        self.memory = memory
        self.device = device or cpu(0)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many elements there are along each dimension."""
        return self.memory.shape

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return self.memory.dtype.name

    @property
    def ctx(self) -> Device:
        """The device, by its name of TVM 0.7."""
        return self.device

    @property
    def context(self) -> Device:
        """The device, by its name of TVM 0.7."""
        return self.device

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy as a numpy array."""
        return self.memory.copy()

    asnumpy = numpy

    def copyfrom(self, source_array: Any) -> NDArray:
        """Take the elements of an array of this shape, converted to this type; returns the array itself."""
        source = source_array.memory if isinstance(source_array, NDArray) else np.asarray(source_array)
        if source.shape != self.shape:
            raise UsageError(f"an array of shape {source.shape} is copied to one of shape {self.shape}")
        self.memory[...] = source
        return self

    def copyto(self, target: NDArray | Device) -> NDArray:
        """Copy the elements to an array of this shape, or to a new one on a device; returns that array."""
        if isinstance(target, Device):
            return NDArray(self.memory.copy(), target)
        return target.copyfrom(self)

    def same_as(self, other: object) -> bool:
        """Whether it is the same array."""
        return self is other

    def __setitem__(self, in_slice: slice, value: Any) -> None:
        if in_slice != slice(None):
            raise UsageError("an NDArray is assigned as a whole: a[:] = value")
        self.copyfrom(np.broadcast_to(np.asarray(getattr(value, "memory", value)), self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.memory, dtype, copy=copy)

    def __str__(self) -> str:
        return str(self.memory)

    def __repr__(self) -> str:
        return f"<tvm.nd.NDArray shape={self.shape}, {self.device}>\n{self.memory!r}"


def array(arr: Any, device: Device | None = None, ctx: Device | None = None) -> NDArray:
    """An array with the elements of another one, a list or a number, in memory of its own."""
    return NDArray(np.array(arr.memory if isinstance(arr, NDArray) else arr, order="C"), device or ctx)


def empty(
    shape: int | Sequence[int], dtype: str = "float32", device: Device | None = None, ctx: Device | None = None
) -> NDArray:
    """An array whose elements nobody has set."""
    return NDArray(np.empty(shape, dtype_named(_SHORT.get(dtype, dtype))), device or ctx)
