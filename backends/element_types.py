"""What back ends ask about the types of elements and vectors, whatever they write.

A boolean is a byte, 0 or 1, in memory, as in numpy.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    VectorType,
    i8,
)
from xdsl.ir import Attribute, Operation

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import is_narrow

_FLOATS: dict[type[Attribute], tuple[int, str]] = {
    Float16Type: (2, "float16"),
    BFloat16Type: (2, "bfloat16"),
    Float32Type: (4, "float32"),
    Float64Type: (8, "float64"),
}
"""Type -> bytes, numpy's name."""


def element_of(type_: Attribute) -> Attribute:
    """The element of a vector or memref; a scalar itself."""
    if isinstance(type_, VectorType | MemRefType):
        return cast("VectorType[Attribute] | MemRefType[Attribute]", type_).element_type
    return type_


def width_of(element: Attribute) -> int | None:
    """The bits of an integer type; None for another one."""
    return cast("IntegerType", element).width.data if isinstance(element, IntegerType) else None


def is_float(type_: Attribute) -> bool:
    """Whether a scalar or the elements of a vector are floating-point numbers."""
    return type(element_of(type_)) in _FLOATS


def lanes_of(type_: Attribute) -> int | None:
    """The length of a vector, None for a scalar."""
    return type_.get_shape()[0] if isinstance(type_, VectorType) else None


def is_boolean(element: Attribute) -> bool:
    """Whether an element is an i1."""
    return width_of(element) == 1


def bytes_of(element: Attribute, op: Operation | None = None) -> int:
    """How many bytes one element takes in memory."""
    if (known := _FLOATS.get(type(element))) is not None:
        return known[0]
    if isinstance(element, IndexType):
        return 8
    if (width := width_of(element)) is not None:
        return (width + 7) // 8
    raise CompileError(f"{element} cannot be an element in memory", op)


def dtype_name(element: Attribute, op: Operation | None = None) -> str:
    """Numpy's name of the elements of an array: `float32`, `uint8`, `bool`."""
    if (known := _FLOATS.get(type(element))) is not None:
        return known[1]
    if is_boolean(element):
        return "bool"
    if isinstance(element, IntegerType):
        integer = cast("IntegerType", element)
        unsigned = integer.signedness.data is Signedness.UNSIGNED
        return f"{'u' if unsigned else ''}int{integer.width.data}"
    if isinstance(element, IndexType):
        return "int64"
    raise CompileError(f"{element} is no element type of an array", op)


def stored_as(element: Attribute, op: Operation | None = None) -> Attribute:
    """The type of an element in memory: a byte for a boolean, else the same. Raises CompileError for half a byte."""
    if is_narrow(element):
        raise CompileError(f"{element} is half a byte, which has no address: run loop-emulate-narrow-types before", op)
    return i8 if is_boolean(element) else element


def bfloat16_bits(value: float) -> int:
    """The bits of the bfloat16 nearest to a number: the upper half of a float, ties rounded to even."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return 0x7FC0
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
