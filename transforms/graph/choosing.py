"""Operators whose results are some of their operand's elements, elsewhere: of bytes as of what these stand for."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.movement import PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.pooling import MaxPoolOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import element_type
from tilework.transforms.graph.writer import Writer


def chosen_from(value: SSAValue) -> tuple[SSAValue, list[GraphOp]]:
    """What the elements of a value are chosen from, and the operators that do so, the first of them first."""
    operators: list[GraphOp] = []
    while isinstance(op := value.owner, MaxPoolOp | PadOp | ReshapeOp | SliceOp | TransposeOp):
        if isinstance(op, PadOp) and not _pads_whole_numbers(op):
            break
        operators.insert(0, op)
        value = op.operands[0]
    return value, operators


def _pads_whole_numbers(op: PadOp) -> bool:
    """Whether what is around the elements is something of their kind: any integer, and of floats 0."""
    return isinstance(op.value, IntegerAttr) or op.value.value.data == 0


def chosen_again(value: SSAValue, operators: Iterable[GraphOp], write: Writer, more: int = 0) -> SSAValue:
    """The elements that these operators choose, of another tensor of integers: those that are each so much more."""
    for op in operators:
        if isinstance(op, PadOp):
            new = _padded_again(op, value, more)
        else:
            new = type(op).of(value, *op.operands[1:], **op.properties)
        copy_location(new, op)
        new.results[0].name_hint = op.results[0].name_hint
        value = write.insert(new)
    return value


def _padded_again(op: PadOp, value: SSAValue, more: int) -> PadOp:
    dtype = element_type(value.type)
    assert isa(dtype, IntegerType)
    return PadOp.of(value, *op.sizes, pads=op.pads, value=IntegerAttr(int(op.value.value.data) + more, dtype))
