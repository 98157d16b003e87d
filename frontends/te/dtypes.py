"""Element types by numpy's names, and the type in which two of them meet."""

from __future__ import annotations

from math import inf

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from tilework.algebra.errors import UsageError
from tilework.frontends.te.arguments import check_word

_FLOATS: dict[str, AnyFloat] = {"float32": f32, "float64": f64, "float16": f16, "bfloat16": bf16}
_I4 = IntegerType(4)
_SIGNED: dict[str, IntegerType] = {"int4": _I4, "int8": i8, "int16": i16, "int32": i32, "int64": i64}
_UNSIGNED: dict[str, IntegerType] = {
    "uint4": _I4,
    "uint8": i8,
    "uint16": i16,
    "uint32": i32,
    "uint64": i64,
    "bool": i1,
}
_ALL: dict[str, AnyFloat | IntegerType] = {**_FLOATS, **_SIGNED, **_UNSIGNED}


_SHORT = {"float": "float32", "int": "int32", "uint": "uint32", "uint1": "bool"}
"""TVM's other names of types."""


def check_dtype(dtype: object) -> str:
    """The name of an element type, given as a name or as numpy's. Raises UsageError for one that there is not."""
    name = dtype.name if isinstance(dtype, np.dtype) else dtype.__name__ if isinstance(dtype, type) else dtype
    return check_word(_SHORT.get(dtype, name) if isinstance(dtype, str) else name, tuple(_ALL), "unknown dtype")


def is_float(dtype: str) -> bool:
    """Whether it is a floating-point type."""
    return dtype in _FLOATS


def is_signed(dtype: str) -> bool:
    """Whether it is a signed integer type."""
    return dtype in _SIGNED


def is_integer(dtype: str) -> bool:
    """Whether it is an integer type, signed or not; bool is none."""
    return dtype not in _FLOATS and dtype != "bool"


def is_narrow(dtype: str) -> bool:
    """Whether it is an integer type to keep values in, two to a byte, and not one to compute with."""
    return dtype in ("int4", "uint4")


def type_of(dtype: str) -> AnyFloat | IntegerType:
    """The type of a value. As in MLIR, its integers have no sign: operations have."""
    return _ALL[dtype]


def element_type_of(dtype: str) -> AnyFloat | IntegerType:
    """The type of a tensor's elements, whose integers have a sign or none."""
    if dtype in _UNSIGNED and dtype != "bool":
        return IntegerType(bits_of(dtype), Signedness.UNSIGNED)
    return _ALL[dtype]


def dtype_of(element: Attribute) -> str:
    """The name of the type that a tensor's elements have. Raises UsageError for one that te does not know."""
    for name in _ALL:
        if element_type_of(name) == element:
            return name
    raise UsageError(f"te has no elements of {element}; known: {', '.join(_ALL)}")


def bits_of(dtype: str) -> int:
    """The width in bits; a bool has one."""
    return _ALL[dtype].bitwidth


def integer_range(dtype: str) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    if dtype == "bool":
        return 0, 1
    bits = bits_of(dtype)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(dtype) else (0, (1 << bits) - 1)


_INFINITE = {"float64": inf, "float32": 3.4028235677973366e38, "float16": 65520.0, "bfloat16": 3.3961775292304996e38}
"""The least number of each type that is rounded to infinity."""


def holds(dtype: str, number: float) -> bool:
    """Whether a type has the number, a floating-point type one near it."""
    if is_float(dtype):
        return abs(number) < _INFINITE[dtype] or number in (inf, -inf) or number != number
    low, high = integer_range(dtype)
    return low <= number <= high


def common_dtype(a: str, b: str) -> str:
    """The type that values of two types are converted to where they meet, as in TVM.

    The float wins over the integer, the wider over the narrower, the signed over the unsigned. Raises UsageError for
    float16 and bfloat16, which have no such type.
    """
    if a == b:
        return a
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if is_float(a):
        if bits_of(a) == bits_of(b):
            raise UsageError(f"{a} and {b} do not mix: convert one with astype")
        return max(a, b, key=bits_of)
    if is_signed(a) == is_signed(b):
        return max(a, b, key=bits_of)
    return f"int{max(bits_of(a), bits_of(b))}"
