"""Operators whose results are some of their operand's elements, elsewhere: of bytes as of what these stand for."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.movement import SliceOp, TransposeOp
from tilework.dialects.graph.pooling import MaxPoolOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.locations import copy_location


def chosen_from(value: SSAValue) -> tuple[SSAValue, list[GraphOp]]:
    """What the elements of a value are chosen from, and the operators that do so, the first of them first."""
    operators: list[GraphOp] = []
    while isinstance(value.owner, MaxPoolOp | ReshapeOp | SliceOp | TransposeOp):
        operators.insert(0, value.owner)
        value = value.owner.operands[0]
    return value, operators


def chosen_again(value: SSAValue, operators: Iterable[GraphOp], at: InsertPoint) -> SSAValue:
    """The elements that these operators choose, of another value."""
    for op in operators:
        new = type(op).of(value, **op.properties)
        copy_location(new, op)
        new.results[0].name_hint = op.results[0].name_hint
        Rewriter.insert_op(new, at)
        value = new.results[0]
    return value
