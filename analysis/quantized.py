"""What quantized tensors look like in a graph: bytes, their distances from a zero point, scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from tilework.analysis.parameters import is_splat
from tilework.dialects import arith
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.graph.broadcast import AddOp, DivOp, MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import ClipOp, RoundOp
from tilework.dialects.support.shapes import dims_of, element_type

BYTE_TYPES = (UNSIGNED_BYTE, i8)
"""The element types of quantized tensors."""

FARTHEST = 1 << 16
"""The largest magnitude of zero points: integers and floats of 32 bits hold them, and floats tell apart what is so far
from bytes."""


def holds(dtype: Attribute, number: int) -> bool:
    """Whether a number is one of the integers of a type."""
    limits = np.iinfo(numpy_dtype(dtype))
    return limits.min <= number <= limits.max


@dataclass(frozen=True)
class Distances:
    """Bytes, and the zero point that a tensor of i32 holds their distances from: a number, and a tensor of i32 if it is
    known only when the program runs."""

    bytes: SSAValue
    number: int = 0
    zero: SSAValue | None = None


def distances_of(value: SSAValue) -> Distances | None:
    """The bytes whose distances from a zero point a value is."""
    match value.owner:
        case CastOp() as widened if element_type(widened.input.type) in BYTE_TYPES and widened.to == i32:
            return Distances(widened.input)
        case SubOp() as sub if sub.result.type == sub.left.type:
            found, number = distances_of(sub.left), number_of(sub.right)
            if found is not None and number is not None:
                return replace(found, number=found.number + number)
            return replace(found, zero=sub.right) if found is not None and found.zero is None else None
        case _:
            return None


def scaled_integers(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The integers of 32 bits and the scale of floats that are their products."""
    mul = value.owner
    floats = mul.left.owner if isinstance(mul, MulOp) else None
    if not isinstance(mul, MulOp) or not isinstance(floats, CastOp) or value.type != floats.result.type:
        return None
    return (floats.input, mul.right) if (element_type(floats.input.type), floats.to) == (i32, f32) else None


@dataclass(frozen=True)
class Scale:
    """How floats and bytes of a tensor hang together, if that is known: float = scale * (byte - zero)."""

    scale: float
    zero: int


def dequantized(value: SSAValue) -> tuple[SSAValue, Scale] | None:
    """The bytes that floats stand for."""
    scaled = scaled_integers(value)
    found = None if scaled is None else distances_of(scaled[0])
    if scaled is None or found is None or found.zero is not None:
        return None
    scale = constant_of(scaled[1])
    if scale is None or abs(found.number) > FARTHEST:
        return None
    return found.bytes, Scale(scale, found.number)


def quantized(value: SSAValue) -> tuple[SSAValue, Scale] | None:
    """The floats that bytes stand for, once they are rounded and what does not fit is the nearest byte."""
    match value.owner:
        case CastOp(input=clipped, to=dtype) if dtype in BYTE_TYPES and isinstance(clip := clipped.owner, ClipOp):
            limits = np.iinfo(numpy_dtype(dtype))
            bounds = [None if bound is None else bound.value.data for bound in (clip.low, clip.high)]
            if bounds != [limits.min, limits.max]:
                return None
        case _:
            return None
    rounded, zero = clip.input.owner, 0
    if isinstance(rounded, AddOp):
        rounded, zero = rounded.left.owner, number_of(rounded.right)
    steps = rounded.input.owner if isinstance(rounded, RoundOp) else None
    if not isinstance(steps, DivOp) or zero is None or element_type(steps.left.type) != f32:
        return None
    scale = constant_of(steps.right)
    if scale is None or dims_of(steps.left.type) != dims_of(value.type):
        return None
    return steps.left, Scale(scale, zero)


def is_whole(value: SSAValue) -> bool:
    """Whether floats are integers that bytes with a sign hold, as quantizing leaves them."""
    limits = np.iinfo(np.int8)
    clip = value.owner
    if not isinstance(clip, ClipOp) or clip.low is None or clip.high is None:
        return False
    if (clip.low.value.data, clip.high.value.data) != (limits.min, limits.max):
        return False
    rounded = clip.input.owner
    if isinstance(rounded, AddOp):
        zero = rounded.right.owner
        of_integer = isinstance(zero, CastOp) and isinstance(element_type(zero.input.type), IntegerType)
        rounded = rounded.left.owner if of_integer else None
    return isinstance(rounded, RoundOp)


def number_of(value: SSAValue) -> int | None:
    """An integer that is known and the same for all elements."""
    number = constant_of(value)
    return int(number) if number is not None and isfinite(number) and int(number) == number else None


def constant_of(value: SSAValue) -> float | None:
    """A number that is known and the same for all elements, an integer perhaps converted."""
    owner = value.owner
    if isinstance(owner, CastOp) and isinstance(element_type(owner.input.type), IntegerType):
        number = constant_of(owner.input)
        held = number is not None and abs(number) <= FARTHEST and owner.to in (i32, f32)
        return number if held else None
    if isinstance(owner, arith.ConstantOp) and is_splat(owner) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        [number, *_] = cast("Sequence[float]", owner.value.get_values())
        return number
    return None
