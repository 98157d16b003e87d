"""Arrays at the border between Python and compiled code: aligned memory, and inputs taken as they are or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import addressof
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.nibbles import pack, packed_size
from tilework.runtime.addresses import Array, address_of, are_apart, first_byte
from tilework.runtime.tensor_spec import TensorSpec

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register."""

_BYTE = np.dtype(np.uint8)


def dtype_named(name: str) -> np.dtype[Any]:
    """The numpy dtype of a name in a manifest; those numpy lacks, such as bfloat16, are of ml_dtypes."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # a dependency of onnx

        return np.dtype(getattr(ml_dtypes, name))


def check_arrays(arrays: Mapping[str, Array], specs: Sequence[TensorSpec]) -> None:
    """Raise ValueError unless there is an array for each of `specs`, of its dtype and shape."""
    for spec in specs:
        array = arrays.get(spec.name)
        if array is None:
            raise ValueError(f"there is no parameter '{spec.name}'")
        if array.dtype != dtype_named(spec.dtype) or array.shape != spec.shape:
            raise ValueError(f"parameter '{spec.name}' is {array.dtype} {array.shape}, the manifest has {spec}")


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An uninitialized array whose first element is at a multiple of `ALIGNMENT` bytes.

    Raises TileworkError where there is not so much memory.
    """
    return placed_empty(shape, dtype)[0]


def placed_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, int]:
    """`aligned_empty`, and where the array lies in memory: asking it later takes longer."""
    size = dtype.itemsize * prod(shape)
    try:
        buffer = np.empty(size + ALIGNMENT, _BYTE)
    except (MemoryError, ValueError) as error:  # the second where no address space holds it
        raise TileworkError(f"there is no memory for an array of {size} bytes, {dtype} {shape}") from error
    start = addressof(first_byte(buffer))
    offset = -start % ALIGNMENT
    return np.ndarray(shape, dtype, buffer, offset), start + offset


def aligned(array: Array) -> Array:
    """The array itself if it is contiguous and aligned to `ALIGNMENT`, else a copy that is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def are_equal(some: Mapping[str, Array], others: Mapping[str, Array]) -> bool:
    """Whether arrays by name are the same, byte by byte."""
    if some.keys() != others.keys():
        return False
    pairs = ((np.ascontiguousarray(some[name]), np.ascontiguousarray(others[name])) for name in some)
    return all(np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)) for a, b in pairs)


def packed(array: Array) -> Array:
    """The bytes of an array of 4-bit integers, two to a byte, as compiled code wants them."""
    memory = packed_empty(array)
    pack(array, memory)
    return memory


def packed_empty(array: Array) -> NDArray[np.uint8]:
    """Memory for the bytes of an array of 4-bit integers."""
    return aligned_empty((packed_size(array.size),), np.dtype(np.uint8))


def input_array(value: object, spec: TensorSpec, dtype: np.dtype[Any], taker: str = "the module") -> Array:
    """`value` as an array that compiled code can read: copied only if strided or misaligned, never cast.

    Takes numpy arrays and scalars, and through DLPack tensors of other libraries in host memory. The shape is not
    looked at. Raises UsageError naming the input and `taker`, what it is for.
    """
    array = cast("Array", value) if isinstance(value, np.ndarray) else _imported(value, spec)
    if array.dtype != dtype:
        raise UsageError(
            f"input '{spec.name}' is {array.dtype}, {taker} takes {dtype}: "
            f"convert with {spec.name}.astype({_numpy_name(dtype)})"
        )
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, requirements=["C", "A"])


def placed_input(value: object, spec: TensorSpec, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """`input_array`, and where the array lies in memory. An array that can be read as it is takes few steps."""
    if type(value) is np.ndarray and value.dtype is dtype:
        try:
            start = addressof(first_byte(value))
        except (TypeError, ValueError):  # not contiguous, not writable, or empty
            pass
        else:
            if start % dtype.alignment == 0:
                return value, start
    array = input_array(value, spec, dtype)
    return array, address_of(array)


def _imported(value: object, spec: TensorSpec) -> Array:
    if isinstance(value, np.generic):
        return np.asarray(cast("np.generic[Any]", value))
    if not hasattr(value, "__dlpack__"):
        raise UsageError(f"input '{spec.name}' is a {type(value).__name__}: pass a numpy array or a DLPack tensor")
    try:
        return np.from_dlpack(value)  # pyright: ignore[reportArgumentType]
    except Exception as error:  # another library's code: it may raise anything
        raise UsageError(f"input '{spec.name}' cannot be read through DLPack: {error}") from None


def _numpy_name(dtype: np.dtype[Any]) -> str:
    return f"np.{dtype.name}" if hasattr(np, dtype.name) else f"ml_dtypes.{dtype.name}"


def output_array(value: object, spec: TensorSpec, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The user's array for an output, written in place. Raises UsageError where that is not possible."""
    name = f"out['{spec.name}']"
    if not isinstance(value, np.ndarray):
        raise UsageError(f"{name} is a {type(value).__name__}: pass a numpy array to write to")
    array = cast("Array", value)
    if array.dtype != dtype or array.shape != shape:
        raise UsageError(f"{name} is {array.dtype} {array.shape}, the module writes {dtype} {shape}")
    if not array.flags.carray:
        raise UsageError(f"{name} must be a writable, aligned, C-contiguous array")
    return array


def refuse_overlap(written: dict[str, Array], read: dict[str, Array]) -> None:
    """Raise UsageError if an array that a call writes shares memory with another that it reads or writes."""
    if are_apart([*written.values(), *read.values()]):
        return  # the rule; what follows takes a time that is quadratic in the number of arrays
    for name, array in written.items():
        for other_name, other in read.items():
            if np.may_share_memory(array, other):
                raise UsageError(f"out['{name}'] overlaps input '{other_name}': pass an array of its own")
        for other_name, other in written.items():
            if other_name != name and np.may_share_memory(array, other):
                raise UsageError(f"out['{name}'] overlaps out['{other_name}']: pass an array of its own")
