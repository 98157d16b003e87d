"""The cubics by which four elements in a row are weighted. For converting."""

from __future__ import annotations

from tilework.dialects.graph import AddOp, MulOp, SubOp
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import Value

COEFFICIENT = -0.75
"""The slope at the neighbours where none is given."""


def cubic_weights(node: Node, share: Value, coefficient: float = COEFFICIENT) -> list[Value]:
    """The weights of the two elements before a place and of the two behind it, which is this share of the way between
    the middle ones.

    Near ones are weighted by ((a + 2) t - (a + 3)) t t + 1, t being their distance, and far ones by a (1 - t) t t, t
    being the distance of the near one on the other side.
    """
    one = node.scalar(1.0, share)
    rest = node.emit(SubOp, one, share)

    def near(t: Value) -> Value:
        slope = node.emit(SubOp, node.emit(MulOp, t, node.scalar(coefficient + 2, t)), node.scalar(coefficient + 3, t))
        return node.emit(AddOp, node.emit(MulOp, node.emit(MulOp, slope, t), t), one)

    def far(t: Value, other: Value) -> Value:
        squared = node.emit(MulOp, t, t)
        return node.emit(MulOp, node.emit(MulOp, other, squared), node.scalar(coefficient, t))

    return [far(rest, share), near(share), near(rest), far(share, rest)]
