"""Converters: comparisons, logic, operations on bits, and Where."""

from __future__ import annotations

import math

from tilework.dialects.graph import (
    AbsOp,
    AndOp,
    EqualOp,
    LessEqualOp,
    LessOp,
    NotOp,
    OrOp,
    ShiftLeftOp,
    ShiftRightOp,
    WhereOp,
    XorOp,
)
from tilework.dialects.graph.base import GraphOp
from tilework.frontends.onnx.axes import right_operand
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Value

BINARY: dict[str, type[GraphOp]] = {
    "Equal": EqualOp,
    "Less": LessOp,
    "LessOrEqual": LessEqualOp,
    "And": AndOp,
    "Or": OrOp,
    "Xor": XorOp,
    "BitwiseAnd": AndOp,
    "BitwiseOr": OrOp,
    "BitwiseXor": XorOp,
}

SWAPPED: dict[str, type[GraphOp]] = {"Greater": LessOp, "GreaterOrEqual": LessEqualOp}


def binary(node: Node) -> Value:
    """Operands broadcast as numpy's do."""
    return node.emit(BINARY[node.op_type], node.value(0), right_operand(node))


def swapped(node: Node) -> Value:
    """a > b is b < a."""
    return node.emit(SWAPPED[node.op_type], right_operand(node), node.value(0))


for _name in BINARY:
    converter(_name)(binary)

for _name in SWAPPED:
    converter(_name)(swapped)


@converter("Not")
@converter("BitwiseNot", since=18)
def not_(node: Node) -> Value:
    """Negate truth values."""
    return node.emit(NotOp, node.value(0))


@converter("BitShift", since=11)
def bit_shift(node: Node) -> Value:
    """Shift bits in the direction that an attribute names."""
    shifts = {"LEFT": ShiftLeftOp, "RIGHT": ShiftRightOp}
    direction = node.attribute("direction")
    if direction not in shifts:
        raise node.error(f"its direction is LEFT or RIGHT, it is not {direction}")
    return node.emit(shifts[direction], node.value(0), node.value(1))


@converter("IsNaN", since=9)
def is_nan(node: Node) -> Value:
    """Whether a number is not even equal to itself."""
    x = node.value(0)
    return node.emit(NotOp, node.emit(EqualOp, x, x))


@converter("IsInf", since=10)
def is_inf(node: Node) -> Value:
    """Whether a number is infinite: positive, negative, either, or (with both switched off) never."""
    x = node.value(0)
    positive, negative = (node.attribute(f"detect_{sign}", 1) for sign in ("positive", "negative"))
    if not positive and not negative:
        return node.emit(LessOp, x, x)
    x = node.emit(AbsOp, x) if positive and negative else x
    return node.emit(EqualOp, x, node.scalar(math.inf if positive else -math.inf, x))


@converter("Where")
def where(node: Node) -> Value:
    """Select between two operands; all three broadcast."""
    return node.emit(WhereOp, *(node.value(i) for i in range(3)))
