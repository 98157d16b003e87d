"""The operators of a group for VDLA: a product of bytes, and what is done to its sums before they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilework.analysis.layout_classes import CHANNELS
from tilework.dialects.graph.broadcast import AddOp, MaxOp, MinOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.layout import BytesOp, UnpackOp
from tilework.dialects.graph.logic import ShiftLeftOp, ShiftRightOp
from tilework.dialects.graph.structure import YieldOp
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.numbers import constant
from tilework.transforms.graph.packed_groups import pack_of
from tilework.transforms.vdla.requantization import Requantization

LAST_BIT = i32.bitwidth - 1
"""The number of its highest bit."""

BIAS = 2
"""The number of the argument that is the bias."""


Windows: TypeAlias = Mapping[str, Attribute]
"""The properties of a convolution."""


def group_body(
    types: Sequence[Attribute], windows: Windows | None, ending: Requantization | None, block_out: int
) -> Region:
    """The body of a group for bytes, a weight and perhaps a bias of these types.

    windows: of a convolution, whose data and results are in blocks of channels; None for a dense layer. ending: what
    makes bytes of the sums; without it all four bytes of each are the result, as `graph.bytes` makes them.
    """
    return _Body(types, block_out).written(windows, ending)


class _Body:
    """Writes operators, one after the other."""

    def __init__(self, types: Sequence[Attribute], block_out: int):
        self._block = Block(arg_types=types)
        self._block_out = block_out

    def written(self, windows: Windows | None, ending: Requantization | None) -> Region:
        """The whole body of the group, as it is written."""
        total = self._product(windows)
        for bias in self._block.args[BIAS:]:
            total = self._add(AddOp.of(total, bias))
        result = self._add(BytesOp.of(total)) if ending is None else self._bytes(total, ending)
        if windows is not None:
            result = self._add(pack_of(result, CHANNELS if ending else CHANNELS + 1, self._block_out))
        self._block.add_op(YieldOp([result]))
        return Region(self._block)

    def _add(self, op: Operation) -> SSAValue:
        self._block.add_op(op)
        return op.results[0]

    def _product(self, windows: Windows | None) -> SSAValue:
        data, weight, *_ = self._block.args
        if windows is None:
            return self._add(DenseOp.of(data, weight))
        size = dims_of(weight.type)[CHANNELS].offset
        whole = self._add(UnpackOp.of(data, axis=IntegerAttr(CHANNELS, i64), size=IntegerAttr(size, i64)))
        return self._add(ConvOp.of(whole, weight, **windows))

    def _bytes(self, total: SSAValue, ending: Requantization) -> SSAValue:
        """The bytes that words become; the bias, if there is one, has half of the divisor in it."""
        if len(self._block.args) <= BIAS and ending.half:
            total = self._more(total, ending.half)
        value = self._divided(total, ending) if ending.shift else total
        if ending.zero:
            value = self._more(value, ending.zero)
        value = self._add(MaxOp.of(value, self._number(ending.low)))
        value = self._add(MinOp.of(value, self._number(ending.high)))
        return self._add(CastOp.of(value, to=ending.last.to))

    def _divided(self, total: SSAValue, ending: Requantization) -> SSAValue:
        """(x - half) / 2**shift, rounded to the nearest integer, of two to the even one.

        x >> shift is that but for halves above even numbers, where it is odd and x has to be less. So 1 is taken off
        wherever it is odd, which changes nothing else: -1 there, and else 0, is the bit number `shift` of x, moved to
        the front and then to all other places.
        """
        first = self._shifted(ShiftLeftOp, total, LAST_BIT - ending.shift)
        less = self._shifted(ShiftRightOp, first, LAST_BIT)
        return self._shifted(ShiftRightOp, self._add(AddOp.of(total, less)), ending.shift)

    def _shifted(self, op: type[ShiftLeftOp | ShiftRightOp], value: SSAValue, amount: int) -> SSAValue:
        return self._add(op.of(value, self._number(amount)))

    def _more(self, value: SSAValue, amount: int) -> SSAValue:
        return self._add(AddOp.of(value, self._number(amount)))

    def _number(self, number: int) -> SSAValue:
        return self._add(constant(number, i32))
