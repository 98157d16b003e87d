"""What makes bytes of the sums of a product again, where words do that: a bias, bounds, a shift with rounding."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from math import frexp

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.algebra.index_expr import const
from tilework.analysis.layout_classes import CHANNELS
from tilework.analysis.quantized import Scale, constant_of, quantized
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.graph.broadcast import AddOp, MulOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import ClipOp, ReluOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.vdla.bytes_product import BytesProduct

LONGEST = 8
"""So many operators quantize a tensor at most."""

LARGEST_SHIFT = 15
"""Half of the divisor is a number in an instruction, of 16 bits with a sign; and a sum with a bias as large as words
hold is larger than any byte once it is shifted so far."""


@dataclass(frozen=True)
class Requantization:
    """y = clip(round((sum + bias) / 2**shift) + zero, low, high), where halves are rounded to the even neighbour.

    last: the cast that makes the bytes. bias: a word for each output, if there is one.
    """

    last: CastOp
    bias: SSAValue | None
    shift: int
    zero: int
    low: int
    high: int

    @property
    def half(self) -> int:
        """Half of the divisor; nothing where nothing is divided."""
        return 1 << self.shift >> 1

    @classmethod
    def of(cls, product: BytesProduct, known: Set[SSAValue]) -> Requantization | None:
        """What is done to the sums of a product, up to bytes, if nothing else reads what is between."""
        value, bias, bounds = product.op.results[0], None, None
        for user in _readers(value):
            match user:
                case AddOp() if bias is None and bounds is None:
                    other = user.right if user.left is value else user.left
                    bias = _bias(other, product) if other in known else None
                    if bias is None:
                        return None
                case ReluOp() if bounds is None:
                    bounds = (0.0, None)
                case ClipOp() if bounds is None:
                    bounds = (user.low and user.low.value.data, user.high and user.high.value.data)
                case _:
                    return cls._of(product, value, bias, bounds or (None, None))
            value = user.results[0]
        return None

    @classmethod
    def _of(
        cls, product: BytesProduct, value: SSAValue, bias: SSAValue | None, bounds: tuple[float | None, float | None]
    ) -> Requantization | None:
        last = next((op for op in _readers(value) if isinstance(op, CastOp)), None)
        found = None if last is None else quantized(last.result)
        if last is None or found is None or found[0] is not value or product.scale is None:
            return None
        shift = _shift(product, found[1].scale)
        if shift is None:
            return None
        low, high = _limits(found[1], element_type(last.result.type), bounds)
        return cls(last, bias, shift, found[1].zero, low, high)


def _readers(value: SSAValue) -> Iterator[Operation]:
    """What reads a value, what reads the result of that, and so on, as long as there is one reader."""
    for _ in range(LONGEST):
        if not value.has_one_use():
            return
        [use] = value.uses
        yield use.operation
        if len(use.operation.results) != 1:
            return
        value = use.operation.results[0]


def _shift(product: BytesProduct, scale: float) -> int | None:
    """How many bits sums are shifted by for a scale of the result; None where that is not what makes bytes of them."""
    scales = (constant_of(product.data_scale), constant_of(product.weight_scale), scale)
    powers = [_power_of_two(s) for s in scales if s is not None]
    if None in powers:
        return None
    data, weight, result = (power for power in powers if power is not None)
    shift = result - data - weight
    return shift if 0 <= shift <= LARGEST_SHIFT else None


def _power_of_two(number: float) -> int | None:
    """The exponent of a power of two."""
    mantissa, exponent = frexp(number)
    return exponent - 1 if mantissa == 0.5 else None  # noqa: PLR2004  as frexp returns it


def _bias(value: SSAValue, product: BytesProduct) -> SSAValue | None:
    """The words of a bias that is dequantized by the scale of the sums, one for each output."""
    result = product.op.results[0].type
    dims = [*[const(1)] * (len(dims_of(result)) - len(dims_of(value.type))), *dims_of(value.type)]
    if any(d != const(1) for axis, d in enumerate(dims) if axis != CHANNELS):
        return None
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    mul = value.owner
    floats = mul.left.owner if isinstance(mul, MulOp) else None
    if not isinstance(mul, MulOp) or not isinstance(floats, CastOp) or element_type(floats.input.type) != i32:
        return None
    one_each = [d.constant for d in dims_of(floats.input.type)] == [product.outputs]
    return floats.input if one_each and constant_of(mul.right) == product.scale else None


def _limits(scale: Scale, dtype: Attribute, bounds: tuple[float | None, float | None]) -> tuple[int, int]:
    """What bounds of floats become, within those of the bytes: quantizing keeps the order of numbers."""
    limits = np.iinfo(numpy_dtype(dtype))
    low, high = (None if b is None else _quantized(b, scale) for b in bounds)
    first = limits.min if low is None else int(np.clip(low, limits.min, limits.max))
    last = limits.max if high is None else int(np.clip(high, limits.min, limits.max))
    return first, last


def _quantized(number: float, scale: Scale) -> float:
    return float(np.rint(np.float32(number) / np.float32(scale.scale))) + scale.zero
