"""Numbers of a byte and less: `f8E4M3FN` and its like, `f4E2M1FN`, `f8E8M0FNU`, and integers of 2 and 4 bits.

Nothing is computed with them. They are moved, `graph.cast` converts them, and in memory each is a byte whose lowest
bits it has: `graph-store-narrow-types` makes that so, and of casts `graph.decode` and `graph.encode`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

Array = NDArray[Any]

BYTE = IntegerType(8, Signedness.UNSIGNED)

UP, DOWN, NEAREST = "up", "down", "nearest"
"""How what lies between two powers of 2 becomes one of them."""


@dataclass(frozen=True)
class Format:
    """What the bits of a floating-point number of a byte or less mean, the lowest `mantissa` of them the mantissa.

    bias: what is subtracted from the exponent. largest: the bits of the largest number. nan: those of NaN, None where
    there is none. infinity: those of infinity, None where there is none. signed_zero: whether the sign of zero is a
    zero of its own, and not NaN.
    """

    dtype: np.dtype[Any]
    bits: int
    mantissa: int
    bias: int
    largest: int
    nan: int | None
    infinity: int | None = None
    signed_zero: bool = True


FORMATS: dict[type[Attribute], Format] = {
    Float8E4M3FNType: Format(np.dtype(ml_dtypes.float8_e4m3fn), 8, 3, 7, 0x7E, 0x7F),
    Float8E4M3FNUZType: Format(np.dtype(ml_dtypes.float8_e4m3fnuz), 8, 3, 8, 0x7F, 0x80, signed_zero=False),
    Float8E5M2Type: Format(np.dtype(ml_dtypes.float8_e5m2), 8, 2, 15, 0x7B, 0x7E, 0x7C),
    Float8E5M2FNUZType: Format(np.dtype(ml_dtypes.float8_e5m2fnuz), 8, 2, 16, 0x7F, 0x80, signed_zero=False),
    Float4E2M1FNType: Format(np.dtype(ml_dtypes.float4_e2m1fn), 4, 1, 1, 0x7, None),
}
"""The formats with a sign; f8E8M0FNU is a power of 2 and has none."""

_POWERS = np.dtype(ml_dtypes.float8_e8m0fnu)

_INTEGERS = {
    (2, False): np.dtype(ml_dtypes.int2),
    (2, True): np.dtype(ml_dtypes.uint2),
    (4, False): np.dtype(ml_dtypes.int4),
    (4, True): np.dtype(ml_dtypes.uint4),
}
"""Bits, whether unsigned -> numpy's type."""


def is_narrow_integer(type_: Attribute) -> TypeGuard[IntegerType]:
    """Whether a type is one of integers of 2 or 4 bits."""
    return isa(type_, IntegerType) and type_.width.data in (2, 4)


def is_narrow(type_: Attribute) -> bool:
    """Whether a type is one of those that are moved and converted only."""
    return type(type_) in FORMATS or isinstance(type_, Float8E8M0FNUType) or is_narrow_integer(type_)


def narrow_dtype(type_: Attribute) -> np.dtype[Any]:
    """Numpy's type of narrow elements."""
    if is_narrow_integer(type_):
        return _INTEGERS[type_.width.data, is_unsigned(type_)]
    return _POWERS if isinstance(type_, Float8E8M0FNUType) else FORMATS[type(type_)].dtype


def is_unsigned(type_: Attribute) -> bool:
    """Whether an integer type has no negative numbers."""
    return isa(type_, IntegerType) and type_.signedness.data is Signedness.UNSIGNED


def bits_of(type_: Attribute) -> int:
    """How many bits a number of a narrow type has."""
    if is_narrow_integer(type_):
        return type_.width.data
    return 8 if isinstance(type_, Float8E8M0FNUType) else FORMATS[type(type_)].bits


def stored_in(type_: Attribute) -> Attribute:
    """The type of elements in memory: a byte for a narrow one, else the same."""
    return BYTE if is_narrow(type_) else type_


def in_bytes(array: Array) -> Array:
    """Narrow numbers as bytes that have their bits."""
    return array.view(np.uint8)


def of_bytes(array: Array, type_: Attribute) -> Array:
    """The numbers of a narrow type that bytes have the bits of."""
    return (array & np.uint8((1 << bits_of(type_)) - 1)).view(narrow_dtype(type_))


def integers_of_bytes(array: Array, type_: IntegerType) -> Array:
    """The integers of 2 or 4 bits that bytes have the bits of, as numbers of a byte."""
    above = 8 - type_.width.data
    moved = array << np.uint8(above)
    return moved >> np.uint8(above) if is_unsigned(type_) else moved.view(np.int8) >> np.int8(above)


def narrowed(array: Array, type_: Attribute, saturate: bool, rounding: str) -> Array:
    """Numbers in a narrow type, as `graph.cast` makes them."""
    if type(type_) is Float8E8M0FNUType:
        return _powers(array.astype(np.float32), saturate, rounding)
    dtype = narrow_dtype(type_)
    if is_narrow_integer(type_):
        whole = array.astype(np.int64) if array.dtype.kind in "fV" else array
        return of_bytes(whole.astype(np.uint8), type_)  # integers wrap around
    wide = array.astype(np.float32)
    if FORMATS[type(type_)].nan is None:
        wide = np.where(np.isnan(wide), np.float32(0), wide)
    if saturate:
        limits = cast("Any", ml_dtypes.finfo(dtype))
        largest = float(limits.max)
        wide = np.clip(wide, -largest, largest)
    with np.errstate(invalid="ignore"):  # NaN is converted, too
        return wide.astype(dtype)


def _powers(array: Array, saturate: bool, rounding: str) -> Array:
    """The exponents of numbers that are not negative, moved to the next power of 2 as `rounding` says."""
    bits = array.view(np.uint32).astype(np.int64)
    exponent, mantissa = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    half = 0x400000
    rounds_up = {
        UP: mantissa > 0,
        DOWN: np.zeros_like(mantissa, bool),
        NEAREST: (mantissa > half) | ((mantissa == half) & (exponent > 0)),
    }[rounding]
    moved = exponent + rounds_up
    if saturate:
        moved = np.minimum(moved, 0xFE)
    return np.where(np.isnan(array), 0xFF, moved).astype(np.uint8).view(_POWERS)
