"""Numbers of 16 bits, half and bfloat16, as float: C has no type for them everywhere; they are the bits that they have.

What is rounded is rounded to nearest, ties to even.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float16Type
from xdsl.ir import Attribute

from tilework.backends.c_family.expressions import Expressions
from tilework.backends.c_family.forms import Form
from tilework.backends.c_family.helper import Helper, call_helper
from tilework.backends.element_types import bfloat16_bits, element_of
from tilework.dialects.support.shapes import is_narrow


def is_of_16_bits(type_: Attribute) -> bool:
    """Whether a scalar, or the elements of a vector, are floating-point numbers of 16 bits."""
    return isinstance(element_of(type_), Float16Type | BFloat16Type)


def plain_number(number: float | int, type_: Attribute) -> float | int:
    """A constant as its kind has it: for floating-point numbers of 16 bits these bits."""
    element = element_of(type_)
    if is_narrow(element):
        return (int(number) + 8) % 16 - 8
    if isinstance(element, Float16Type):
        return int(np.float16(number).view(np.uint16))
    return bfloat16_bits(number) if isinstance(element, BFloat16Type) else number


def widened(c: Expressions, type_: Attribute, form: Form, text: str) -> str:
    """A number of 16 bits as float. form: that of the number."""
    half = isinstance(element_of(type_), Float16Type)
    name, write = ("float_of_half", _widen_half) if half else ("float_of_bfloat16", _widen_bfloat16)
    return call_helper(c, name, write, [(form, text)], form.of("f32"))


def narrowed(c: Expressions, type_: Attribute, form: Form, text: str) -> str:
    """A float as a number of 16 bits. form: that of the float."""
    half = isinstance(element_of(type_), Float16Type)
    name, write = ("half_of_float", _narrow_half) if half else ("bfloat16_of_float", _narrow_bfloat16)
    return call_helper(c, name, write, [(form, text)], form.of("u16"))


def narrowed_double(c: Expressions, type_: Attribute, form: Form, text: str) -> str:
    """A double as a number of 16 bits. form: that of the double."""
    odd = call_helper(c, "odd_float_of_double", _odd, [(form, text)], form.of("f32"))
    return narrowed(c, type_, form.of("f32"), odd)


def _widen_half(h: Helper, x: str) -> str:
    bits = h.let("u32", h.convert("u16", "u32", x), "bits")
    size = h.let("u32", f"{bits} & {h.number('u32', 0x7FFF)}", "size")
    placed = h.let("u32", f"{size} << 13", "placed")
    scaled = h.let("f32", f"{h.bits('u32', 'f32', placed)} * {h.number('f32', 2.0**112)}", "scaled")
    finite = h.let("u32", h.bits("f32", "u32", scaled), "finite")
    infinite = h.let("u32", f"{placed} | {h.number('u32', 0x7F800000)}", "infinite")
    quiet = h.let("u32", f"{infinite} | {h.number('u32', 0x400000)}", "quiet")
    is_nan = h.condition("u32", f"{size} > {h.number('u32', 0x7C00)}", "is_nan")
    is_finite = h.condition("u32", f"{size} < {h.number('u32', 0x7C00)}", "is_finite")
    special = h.let("u32", h.choose("u32", is_nan, quiet, infinite), "special")
    chosen = h.let("u32", h.choose("u32", is_finite, finite, special), "chosen")
    signed = h.let("u32", f"{chosen} | (({bits} & {h.number('u32', 0x8000)}) << 16)", "signed")
    return h.bits("u32", "f32", signed)


def _narrow_half(h: Helper, x: str) -> str:
    bits = h.let("u32", h.bits("f32", "u32", x), "bits")
    size = h.let("u32", f"{bits} & {h.number('u32', 0x7FFFFFFF)}", "size")
    # The exponent as half has it, and half a unit in the last place.
    odd = h.let("u32", f"({size} >> 13) & {h.number('u32', 1)}", "odd")
    normal = h.let("u32", f"({size} + {odd} + {h.number('u32', (1 << 32) - 939520001)}) >> 13", "normal")
    # Adding a half leaves multiples of 2**-24.
    shifted = h.let("f32", f"{h.bits('u32', 'f32', size)} + {h.number('f32', 0.5)}", "shifted")
    small = h.let("u32", f"{h.bits('f32', 'u32', shifted)} - {h.number('u32', 1056964608)}", "small")
    is_small = h.condition("u32", f"{size} < {h.number('u32', 947912704)}", "is_small")  # 2**-14
    is_large = h.condition("u32", f"{size} > {h.number('u32', 1199570943)}", "is_large")  # 65536 or more
    is_nan = h.condition("u32", f"{size} > {h.number('u32', 0x7F800000)}", "is_nan")
    finite = h.let("u32", h.choose("u32", is_small, small, normal), "finite")
    bounded = h.let("u32", h.choose("u32", is_large, h.number("u32", 0x7C00), finite), "bounded")
    chosen = h.let("u32", h.choose("u32", is_nan, h.number("u32", 0x7E00), bounded), "chosen")
    signed = h.let("u32", f"{chosen} | (({bits} >> 16) & {h.number('u32', 0x8000)})", "signed")
    return h.convert("u32", "u16", signed)


def _widen_bfloat16(h: Helper, x: str) -> str:
    bits = h.let("u32", h.convert("u16", "u32", x), "bits")
    upper = h.let("u32", f"{bits} << 16", "upper")
    return h.bits("u32", "f32", upper)


def _narrow_bfloat16(h: Helper, x: str) -> str:
    bits = h.let("u32", h.bits("f32", "u32", x), "bits")
    odd = h.let("u32", f"({bits} >> 16) & {h.number('u32', 1)}", "odd")
    rounded = h.let("u32", f"{bits} + {odd} + {h.number('u32', 0x7FFF)}", "rounded")
    quiet = h.let("u32", f"{bits} | {h.number('u32', 0x400000)}", "quiet")
    is_nan = h.condition("f32", f"{x} != {x}", "is_nan")
    chosen = h.let("u32", h.choose("u32", is_nan, quiet, rounded), "chosen")
    upper = h.let("u32", f"{chosen} >> 16", "upper")
    return h.convert("u32", "u16", upper)


def _odd(h: Helper, x: str) -> str:
    """A double as float, rounded towards zero and with the last bit set where something was lost.

    Rounding it again is as good as rounding once.
    """
    nearest = h.let("f32", h.convert("f64", "f32", x), "nearest")
    back = h.let("f64", h.convert("f32", "f64", nearest), "back")
    size = h.let("f64", h.c.function(h.form("f64"), "fabs", x), "size")
    reached = h.let("f64", h.c.function(h.form("f64"), "fabs", back), "reached")
    one, none = h.number("i64", 1), h.number("i64", 0)
    above = h.let("i64", h.choose("i64", f"({reached} > {size})", one, none), "above")
    lost = h.let("i64", h.choose("i64", f"({back} != {x})", one, none), "lost")
    bits = h.let("i32", h.bits("f32", "i32", nearest), "bits")
    towards_zero = h.let("i32", f"{bits} - {h.convert('i64', 'i32', above)}", "towards_zero")
    odd = h.let("i32", f"{towards_zero} | {h.convert('i64', 'i32', lost)}", "odd")
    return h.bits("i32", "f32", odd)
