"""Products of dequantized numbers that VDLA's matrix unit can do: what they multiply as bytes with a sign."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32, i8
from xdsl.ir import SSAValue

from tilework.analysis.quantized import constant_of, distances_of, holds, scaled_integers
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.support.shapes import dims_of, element_type

Product = ConvOp | DenseOp | MatmulOp

SIGN = 128
"""How far apart the zeros of bytes with and without a sign are."""

IMAGE = 4
"""The axes of images, and of their weights."""

TERMS = 1 << 14
"""So many products are summed at most. Words hold their sum, and that of the zero point's, with room for a bias."""


@dataclass(frozen=True)
class BytesProduct:
    """A product of dequantized tensors: data_scale * (data - zero) by weight_scale * (weight - weight_zero).

    data, weight: bytes with a sign or without one. The scale of the weight is one number, or one for each output.
    """

    op: Product
    data: SSAValue
    zero: int
    data_scale: SSAValue
    weight: SSAValue
    weight_zero: int
    weight_scale: SSAValue

    @classmethod
    def of(cls, op: Product, known: Set[SSAValue]) -> BytesProduct | None:
        """A product as one of bytes, if its sizes are constants and its weight is `known`."""
        if op.operands[1] not in known or op.operands[0] in known or not _has_known_sizes(op):
            return None
        data, weight = (_dequantized(operand) for operand in op.operands)
        if data is None or weight is None or element_type(op.results[0].type) != f32:
            return None
        found = cls(op, *data, *weight)
        return found if found._fits() else None

    @property
    def is_image(self) -> bool:
        """Whether it is a convolution."""
        return isinstance(self.op, ConvOp)

    @property
    def channels(self) -> int:
        """How many channels the data have."""
        return self.op.dims(0)[1].offset

    @property
    def outputs(self) -> int:
        """How many filters or columns the weight has."""
        return self.op.dims(1)[self.output_axis].offset

    @property
    def output_axis(self) -> int:
        """Which axis of the weight counts them."""
        return 1 if isinstance(self.op, MatmulOp) else 0

    @property
    def terms(self) -> int:
        """How many products are summed for an element."""
        return prod(d.offset for d in self.op.dims(1)) // self.outputs

    @property
    def signed_zero(self) -> int:
        """The zero point of the data as bytes with a sign."""
        return self.zero if element_type(self.data.type) == i8 else self.zero - SIGN

    @property
    def scale(self) -> float | None:
        """The scale of the sums, if one number is known that is for all of them."""
        scales = [constant_of(self.data_scale), constant_of(self.weight_scale)]
        return None if None in scales else prod(s for s in scales if s is not None)

    def _fits(self) -> bool:
        signed_weight = self.weight_zero if element_type(self.weight.type) == i8 else self.weight_zero - SIGN
        one_scale = prod(d.offset for d in dims_of(self.data_scale.type)) == 1
        return signed_weight == 0 and holds(i8, self.signed_zero) and one_scale and self._scales_outputs()

    def _scales_outputs(self) -> bool:
        """Whether the weight has one scale, or one for each output, and sums fit in words."""
        dims, rank = dims_of(self.weight_scale.type), len(self.op.dims(1))
        outer = [*[1] * (rank - len(dims)), *(d.constant for d in dims)]
        return self.terms <= TERMS and all(d == 1 for axis, d in enumerate(outer) if axis != self.output_axis)


def _has_known_sizes(op: Product) -> bool:
    """Whether all sizes are numbers, of an image and its filters, or of rows and a matrix."""
    data, weight = op.dims(0), op.dims(1)
    if not all(d.constant for d in (*data, *weight)):
        return False
    if isinstance(op, ConvOp):
        return len(data) == IMAGE and op.groups.value.data == 1
    return len(data) == len(weight) == 2


def _dequantized(value: SSAValue) -> tuple[SSAValue, int, SSAValue] | None:
    """The bytes that floats stand for, their zero point and their scale."""
    scaled = scaled_integers(value)
    found = None if scaled is None else distances_of(scaled[0])
    if scaled is None or found is None or found.zero is not None:
        return None
    return found.bytes, found.number, scaled[1]
