"""How element types, vectors and constants are written in LLVM IR.

An `index` is an i64. A boolean is an i1 in registers and a byte, 0 or 1, in memory, as in numpy.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from tilework.backends.element_types import bfloat16_bits, element_of, is_boolean, width_of
from tilework.dialects.support.diagnostics import CompileError

_FLOATS: dict[type[Attribute], tuple[str, str]] = {
    Float16Type: ("half", "f16"),
    BFloat16Type: ("i16", "i16"),
    Float32Type: ("float", "f32"),
    Float64Type: ("double", "f64"),
}
"""Type -> LLVM's name, the suffix of intrinsics. bfloat16 is the bits that it has."""


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


def constant(value: float | int | bool, element: Attribute, op: Operation | None = None) -> str:
    """A scalar constant; floats are written by their bits, hence exactly."""
    if isinstance(element, Float32Type):
        return f"0x{_bits64(float(np.float32(value))):016X}"
    if isinstance(element, Float64Type):
        return f"0x{_bits64(value):016X}"
    if isinstance(element, Float16Type):
        return f"0xH{np.float16(value).view(np.uint16):04X}"
    if isinstance(element, BFloat16Type):
        return str(bfloat16_bits(value))
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
