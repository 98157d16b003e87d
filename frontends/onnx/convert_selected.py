"""Converters: the largest elements of an axis, or the smallest."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, i64

from tilework.dialects.graph import TopKOp
from tilework.frontends.onnx.axes import axis_from_front, sliced
from tilework.frontends.onnx.node import Node, converter, int_attr
from tilework.frontends.onnx.values import Value


@converter("TopK")
def top_k(node: Node) -> Sequence[Value]:
    """The k largest (or smallest) and their indices, in order, which `sorted=0` does not ask for but allows."""
    axis, k = axis_from_front(node, -1), node.attribute("k")
    count = int(node.number(1, "k")) if k is None else k
    if count == 0:
        nothing = sliced(node, node.emitter.tensor(node.value(0)), {axis: range(0)})
        return [nothing, node.cast(nothing, i64)]
    largest = BoolAttr.from_bool(bool(node.attribute("largest", 1)))
    return node.emit_all(TopKOp, node.value(0), axis=int_attr(axis), count=int_attr(count), largest=largest)
