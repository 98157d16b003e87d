"""The arithmetic that puts a floating-point number into the bits of a narrow type, and takes it out of them."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType, f32

from tilework.dialects import arith
from tilework.dialects.graph.narrow import BYTE, DOWN, UP, Format, is_unsigned
from tilework.dialects.te.builder import KernelBuilder, Scalar

i32 = IntegerType(32)

_MANTISSA = 23
"""The bits of the mantissa of an f32."""

_BIAS = 127
"""What is subtracted from the exponent of an f32."""

_INFINITY = 0x7F800000
"""The bits of an infinite f32; those of NaN are larger."""


def encoded(k: KernelBuilder, x: Scalar, form: Format, saturate: bool) -> Scalar:
    """The bits of an f32 in a format.

    An addition rounds those below the smallest normal number: in the sum with a number whose last digit is worth as
    much as theirs, the mantissa is theirs. Of others, the mantissa is rounded as an integer.
    """
    bits, shift = _bits(k, x), _MANTISSA - form.mantissa
    magnitude = bits & 0x7FFFFFFF
    odd = (magnitude >> shift) & 1
    rounded = (magnitude + (odd + ((1 << (shift - 1)) - 1))) >> shift
    normal = rounded - ((_BIAS - form.bias) << form.mantissa)
    aligned = np.float32(2.0 ** (1 - form.bias - form.mantissa + _MANTISSA))
    small = _bits(k, _float(k, magnitude) + float(aligned)) - int(aligned.view(np.int32))
    code = k.select(magnitude.compare("lt", (_BIAS + 1 - form.bias) << _MANTISSA), small, normal)
    too_large = form.largest if saturate or form.nan is None else form.nan if form.infinity is None else form.infinity
    code = k.select(code.compare("gt", form.largest), k.constant(too_large, i32), code)
    is_nan = magnitude.compare("gt", _INFINITY)
    sign = ((bits >> 31) & 1) << (form.bits - 1)
    if form.nan is None:
        return k.cast(k.select(is_nan, k.constant(0, i32), code | sign), BYTE)
    code = k.select(is_nan, k.constant(form.nan, i32), code)
    signed = code | sign
    if not form.signed_zero:
        signed = k.select(code.compare("eq", 0), code, signed)
    return k.cast(signed, BYTE)


def decoded(k: KernelBuilder, x: Scalar, form: Format) -> Scalar:
    """The f32 that bits in a byte stand for: those without a leading one are multiples of the smallest number."""
    bits, sign = k.cast(x, i32), 1 << (form.bits - 1)
    magnitude = bits & (sign - 1)
    small = k.cast(magnitude, f32) * float(2.0 ** (1 - form.bias - form.mantissa))
    normal = _float(k, (magnitude << (_MANTISSA - form.mantissa)) + ((_BIAS - form.bias) << _MANTISSA))
    number = k.select(magnitude.compare("lt", 1 << form.mantissa), small, normal)
    if form.infinity is not None:
        number = k.select(magnitude.compare("eq", form.infinity), k.constant(float("inf"), f32), number)
    number = _float(k, _bits(k, number) | ((bits & sign) << (32 - form.bits)))
    return (
        number if form.nan is None else k.select(_is_nan(bits, magnitude, form), k.constant(float("nan"), f32), number)
    )


def _is_nan(bits: Scalar, magnitude: Scalar, form: Format) -> Scalar:
    if form.infinity is not None:
        return magnitude.compare("gt", form.infinity)
    return magnitude.compare("eq", form.nan or 0) if form.signed_zero else bits.compare("eq", form.nan or 0)


def encoded_power(k: KernelBuilder, x: Scalar, saturate: bool, rounding: str) -> Scalar:
    """The exponent of an f32 that is not negative, in a byte."""
    bits, half = _bits(k, x), 1 << (_MANTISSA - 1)
    exponent, mantissa = (bits >> _MANTISSA) & 0xFF, bits & ((1 << _MANTISSA) - 1)
    code = exponent
    if rounding == UP:
        code = exponent + k.cast(mantissa.compare("gt", 0), i32)
    elif rounding != DOWN:
        ties_up = mantissa.compare("eq", half) & exponent.compare("gt", 0)
        code = exponent + k.cast(mantissa.compare("gt", half) | ties_up, i32)
    if saturate:
        code = k.min(code, 0xFE)
    is_nan = (bits & 0x7FFFFFFF).compare("gt", _INFINITY)
    return k.cast(k.select(is_nan, k.constant(0xFF, i32), code), BYTE)


def decoded_power(k: KernelBuilder, x: Scalar) -> Scalar:
    """The power of 2 that a byte stands for; that of 0 is below the smallest normal f32."""
    exponent = k.cast(x, i32)
    bits = k.select(exponent.compare("eq", 0), k.constant(1 << (_MANTISSA - 1), i32), exponent << _MANTISSA)
    return k.select(exponent.compare("eq", 0xFF), k.constant(float("nan"), f32), _float(k, bits))


def decoded_integer(k: KernelBuilder, x: Scalar, type_: IntegerType) -> Scalar:
    """The i32 that the lowest bits of a byte stand for."""
    width, bits = type_.width.data, k.cast(x, i32)
    if is_unsigned(type_):
        return bits & ((1 << width) - 1)
    return (bits << (32 - width)) >> (32 - width)


def _bits(k: KernelBuilder, x: Scalar) -> Scalar:
    return k.insert(arith.BitcastOp(x.value, i32))


def _float(k: KernelBuilder, bits: Scalar) -> Scalar:
    return k.insert(arith.BitcastOp(bits.value, f32))
