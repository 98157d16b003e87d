"""Converter: Snake, an operator of the domain `audio`."""

from tilework_python.dialects.graph.snake import SnakeOp

from tilework.frontends.onnx.node import Node, converter, float_attr
from tilework.frontends.onnx.values import Value


@converter("Snake", domain="audio")
def snake(node: Node) -> Value:
    """The attribute alpha is 1 where it is absent."""
    return node.emit(SnakeOp, node.value(0), alpha=float_attr(node.attribute("alpha", 1.0)))
