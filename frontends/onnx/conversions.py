"""What a Cast says of conversions to the types that are narrower than a byte, or one."""

from __future__ import annotations

from xdsl.dialects.builtin import Float8E8M0FNUType, StringAttr, UnitAttr
from xdsl.ir import Attribute

from tilework.dialects.graph import CastOp
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.graph.narrow import NEAREST, UP, is_narrow, narrowed
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import Array, Value


def converted(node: Node, value: Value, to: Attribute) -> Value:
    """The value in another element type, as the node's attributes `saturate` and `round_mode` say."""
    if node.dtype_of(value) == to or not is_narrow(to):
        return node.cast(value, to)
    saturate, rounding = _options(node, to)
    options = {"saturate": UnitAttr() if saturate else None, "rounding": StringAttr(rounding)}
    return node.emit(CastOp, value, to=to, **options)


def converted_array(node: Node, array: Array, to: Attribute) -> Array:
    """The array in another element type, in the same way."""
    return narrowed(array, to, *_options(node, to)) if is_narrow(to) else array.astype(numpy_dtype(to))


def _options(node: Node, to: Attribute) -> tuple[bool, str]:
    """Whether it saturates, and how it rounds."""
    rounding = node.attribute("round_mode", UP) if isinstance(to, Float8E8M0FNUType) else NEAREST
    return bool(node.attribute("saturate", 1)), rounding
