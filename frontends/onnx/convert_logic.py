"""Converters: comparisons, logic, and Where."""

from __future__ import annotations

from tilework.dialects.graph import AndOp, EqualOp, LessEqualOp, LessOp, NotOp, OrOp, WhereOp, XorOp
from tilework.dialects.graph.base import GraphOp
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Value

BINARY: dict[str, type[GraphOp]] = {
    "Equal": EqualOp,
    "Less": LessOp,
    "LessOrEqual": LessEqualOp,
    "And": AndOp,
    "Or": OrOp,
    "Xor": XorOp,
}

SWAPPED: dict[str, type[GraphOp]] = {"Greater": LessOp, "GreaterOrEqual": LessEqualOp}


def binary(node: Node) -> Value:
    """Operands broadcast as numpy's do."""
    return node.emit(BINARY[node.op_type], node.value(0), node.value(1))


def swapped(node: Node) -> Value:
    """a > b is b < a."""
    return node.emit(SWAPPED[node.op_type], node.value(1), node.value(0))


for _name in BINARY:
    converter(_name, since=7)(binary)

for _name in SWAPPED:
    converter(_name, since=7)(swapped)


@converter("Not")
def not_(node: Node) -> Value:
    """The opposite."""
    return node.emit(NotOp, node.value(0))


@converter("Where")
def where(node: Node) -> Value:
    """All three operands broadcast."""
    return node.emit(WhereOp, *(node.value(i) for i in range(3)))
