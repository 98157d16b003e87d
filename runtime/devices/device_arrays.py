"""Arrays that other libraries have in the memory of a device, taken as they are: by DLPack, or as CUDA's libraries say.

DLPack's structures are those of `dlpack.h`; nothing is consumed, so that the array's own library frees it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import ml_dtypes
import numpy as np

from tilework.algebra.errors import UsageError

_HOST = (1, 3)
"""What DLPack calls memory that processors read: that of the host, pinned or not."""

CUDA = 2
"""What DLPack calls memory of NVIDIA's devices."""

_BFLOAT, _BOOL = 4, 6
_LETTERS = {0: "i", 1: "u", 2: "f"}
"""Kinds of numbers, as DLPack counts them."""


@dataclass(frozen=True)
class DeviceArray:
    """Memory of a device, contiguous, with what keeps it there.

    stream: on which the array is still being made, perhaps; None where it is ready.
    """

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: object
    stream: int | None = None

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.address + prod(self.shape) * self.dtype.itemsize


def overlap(one: DeviceArray, other: DeviceArray) -> bool:
    """Whether two arrays share memory."""
    return max(one.address, other.address) < min(one.end, other.end)


def is_on_device(value: object) -> bool:
    """Whether an array is in memory that the host does not read."""
    if type(value) is np.ndarray:
        return False
    device = getattr(value, "__dlpack_device__", None)
    return device()[0] not in _HOST if device is not None else hasattr(value, "__cuda_array_interface__")


def device_array(value: Any, name: str, kind: int, stream: int) -> DeviceArray:
    """An array in memory of a device of some kind, by DLPack ready for what comes on a stream. name: for people.

    Raises UsageError for an array that is elsewhere, or has gaps.
    """
    if not is_on_device(value):
        raise UsageError(f"'{name}' is on the host, and other arrays are on a device: pass all of them there, or none")
    device = getattr(value, "__dlpack_device__", None)
    if device is None:
        if kind != CUDA:
            raise UsageError(f"'{name}' is on a device of NVIDIA, and the kernel runs on another one")
        return _by_interface(value, name)
    if device()[0] != kind:
        raise UsageError(
            f"'{name}' is on another kind of device than the kernel ({device()[0]}, not {kind}, in DLPack)"
        )
    return _by_dlpack(value, name, stream)


# -- DLPack


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def _by_dlpack(value: Any, name: str, stream: int) -> DeviceArray:
    capsule = value.__dlpack__(stream=stream)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(get(capsule, b"dltensor"))
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        _refuse_gaps(shape, tuple(tensor.strides[: tensor.ndim]), name)
    dtype = _dtype(tensor.code, tensor.bits, name)
    return DeviceArray((tensor.data or 0) + tensor.byte_offset, shape, dtype, capsule)


def _dtype(code: int, bits: int, name: str) -> np.dtype[Any]:
    if (code, bits) == (_BFLOAT, 16):
        return np.dtype(ml_dtypes.bfloat16)
    if (code, bits) == (_BOOL, 8):
        return np.dtype(np.bool_)
    if code not in _LETTERS:
        raise UsageError(f"'{name}' has elements that numpy has not: type {code} of DLPack, of {bits} bits")
    return np.dtype(f"{_LETTERS[code]}{bits // 8}")


def _refuse_gaps(shape: tuple[int, ...], strides: tuple[int, ...], name: str) -> None:
    """Raise UsageError unless elements, by which strides count, follow each other."""
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != expected:
            raise UsageError(f"'{name}' has strides {strides} on its device: make it contiguous")
        expected *= extent


# -- CUDA's array interface


def _by_interface(value: Any, name: str) -> DeviceArray:
    said = cast("Mapping[str, Any]", value.__cuda_array_interface__)
    shape, dtype = tuple(said["shape"]), np.dtype(said["typestr"])
    strides = said.get("strides")
    if strides is not None:
        _refuse_gaps(shape, tuple(stride // dtype.itemsize for stride in strides), name)
    return DeviceArray(said["data"][0], shape, dtype, value, said.get("stream"))
