"""How element types, vectors and constants are written in LLVM IR.

An `index` is an i64. A boolean is an i1 in registers and a byte, 0 or 1, in memory, as in numpy.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
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

_FLOATS: dict[type[Attribute], tuple[str, str, int, str]] = {
    Float16Type: ("half", "f16", 2, "float16"),
    BFloat16Type: ("i16", "i16", 2, "bfloat16"),
    Float32Type: ("float", "f32", 4, "float32"),
    Float64Type: ("double", "f64", 8, "float64"),
}
"""Type -> LLVM's name, the suffix of intrinsics, bytes, numpy's name. bfloat16 is the bits that it has."""


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


def _vector_lanes(type_: Attribute) -> int | None:
    """The lanes of a vector of one dimension."""
    if not isinstance(type_, VectorType) or type_.get_num_dims() != 1:
        return None
    return type_.get_shape()[0]


def llvm_type(type_: Attribute, op: Operation | None = None) -> str:
    """`float`, `i64`, `<16 x float>`, `ptr`. Raises CompileError, about `op`, for a type without a counterpart."""
    if (known := _FLOATS.get(type(type_))) is not None:
        return known[0]
    if isinstance(type_, IndexType):
        return "i64"
    if (width := width_of(type_)) is not None:
        return f"i{width}"
    if isinstance(type_, MemRefType):
        return "ptr"
    if (lanes := _vector_lanes(type_)) is not None:
        return f"<{lanes} x {llvm_type(element_of(type_), op)}>"
    raise CompileError(f"the LLVM backend has no type for {type_}; it knows scalars and one-dimensional vectors", op)


def suffix(type_: Attribute, op: Operation | None = None) -> str:
    """How intrinsics name a type: `f32`, `v16f32`, `i64`."""
    if (lanes := _vector_lanes(type_)) is not None:
        return f"v{lanes}{suffix(element_of(type_), op)}"
    known = _FLOATS.get(type(type_))
    return llvm_type(type_, op) if known is None else known[1]


def vector_text(element: str, lanes: int | None) -> str:
    """The type of `lanes` elements, or of one where there is no number."""
    return element if lanes is None else f"<{lanes} x {element}>"


def bytes_of(element: Attribute, op: Operation | None = None) -> int:
    """How many bytes one element takes in memory."""
    if (known := _FLOATS.get(type(element))) is not None:
        return known[2]
    if isinstance(element, IndexType):
        return 8
    if (width := width_of(element)) is not None:
        return (width + 7) // 8
    raise CompileError(f"{element} cannot be an element in memory", op)


def dtype_name(element: Attribute, op: Operation | None = None) -> str:
    """Numpy's name of the elements of an array: `float32`, `uint8`, `bool`."""
    if (known := _FLOATS.get(type(element))) is not None:
        return known[3]
    if is_boolean(element):
        return "bool"
    if isinstance(element, IntegerType):
        integer = cast("IntegerType", element)
        unsigned = integer.signedness.data is Signedness.UNSIGNED
        return f"{'u' if unsigned else ''}int{integer.width.data}"
    if isinstance(element, IndexType):
        return "int64"
    raise CompileError(f"{element} is no element type of an array", op)


def is_boolean(element: Attribute) -> bool:
    """Whether an element is an i1."""
    return width_of(element) == 1


def stored_as(element: Attribute, op: Operation | None = None) -> Attribute:
    """The type of an element in memory: a byte for a boolean, else the same. Raises CompileError for half a byte."""
    if is_narrow(element):
        raise CompileError(f"{element} is half a byte, which has no address: run loop-emulate-narrow-types before", op)
    return i8 if is_boolean(element) else element


def constant(value: float | int | bool, element: Attribute, op: Operation | None = None) -> str:
    """A scalar constant; floats are written by their bits, hence exactly."""
    if isinstance(element, Float32Type):
        return f"0x{_bits64(float(np.float32(value))):016X}"
    if isinstance(element, Float64Type):
        return f"0x{_bits64(value):016X}"
    if isinstance(element, Float16Type):
        return f"0xH{np.float16(value).view(np.uint16):04X}"
    if isinstance(element, BFloat16Type):
        return str(_bfloat16_bits(value))
    if is_boolean(element):
        return "true" if value else "false"
    if isinstance(element, IndexType | IntegerType):
        return str(int(value))
    raise CompileError(f"the LLVM backend has no constants of {element}", op)


def vector_constant(values: Iterable[float | int | bool], type_: VectorType[Attribute], op: Operation) -> str:
    """The constant of a vector type; a single value fills all lanes."""
    texts = [constant(v, type_.element_type, op) for v in values]
    element = llvm_type(type_.element_type, op)
    if len(set(texts)) == 1:
        return splat(element, texts[0])
    return f"<{', '.join(f'{element} {text}' for text in texts)}>"


def splat(element: str, text: str) -> str:
    """A vector constant with one value in all lanes."""
    return f"splat ({element} {text})"


def _bits64(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def _bfloat16_bits(value: float) -> int:
    """The upper half of a float, rounded to nearest, ties to even."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return 0x7FC0
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
