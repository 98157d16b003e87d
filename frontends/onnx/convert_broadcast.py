"""Converters: element-wise operators of two or more operands."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, f32, f64
from xdsl.ir import Attribute

from tilework.dialects.graph import AddOp, DivOp, FmodOp, IntegerPowOp, MaxOp, MinOp, ModOp, MulOp, PowOp, SubOp
from tilework.dialects.graph.base import GraphOp, is_float, numpy_dtype
from tilework.frontends.onnx.axes import right_operand
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Known, Value

BINARY: dict[str, type[GraphOp]] = {"Add": AddOp, "Sub": SubOp, "Mul": MulOp, "Div": DivOp}

VARIADIC: dict[str, type[GraphOp]] = {"Max": MaxOp, "Min": MinOp}


def binary(node: Node) -> Value:
    """Operands broadcast as numpy's do."""
    return node.emit(BINARY[node.op_type], node.value(0), right_operand(node))


def variadic(node: Node) -> Value:
    """Combine operands from left to right; one operand alone is the result."""
    return reduce(lambda a, b: node.emit(VARIADIC[node.op_type], a, b), _values(node))


for _name in BINARY:
    converter(_name)(binary)


@converter("Pow")
def power(node: Node) -> Value:
    """Squares and cubes are products. The exponent may be of another type, the result is of the base's."""
    base, exponent = node.value(0), right_operand(node)
    known = exponent.array if isinstance(exponent, Known) and exponent.array.ndim <= len(node.dims(0)) else None
    if known is not None and known.size == 1 and known.item() in (2, 3):
        square = node.emit(MulOp, base, base)
        return square if known.item() == 2 else node.emit(MulOp, square, base)
    if isinstance(node.dtype(0), IntegerType) and isinstance(node.dtype(1), IntegerType):
        return node.emit(IntegerPowOp, base, exponent)
    between = _holds_both(node)
    return node.narrowed(node.emit(PowOp, node.cast(base, between), node.cast(exponent, between)))


def _holds_both(node: Node) -> Attribute:
    """The floating-point type that a power is computed in: the base's, where it holds the exponent, or a wider one."""
    base, exponent = node.dtype(0), node.value(1)
    if base == node.dtype(1) or (isinstance(base, AnyFloat) and _holds(numpy_dtype(base), exponent)):
        return base
    types = [numpy_dtype(node.dtype(i)) for i in (0, 1)]
    sizes = [dtype.itemsize if is_float(dtype) else 2 * dtype.itemsize for dtype in types]
    return f32 if max(sizes) <= 4 else f64


def _holds(dtype: np.dtype[Any], value: Value) -> bool:
    """Whether it is known that a type holds all elements as they are."""
    if not isinstance(value, Known) or value.is_symbolic:
        return False
    with np.errstate(all="ignore"):
        return np.array_equal(value.array, value.array.astype(dtype).astype(value.dtype))


@converter("Mod", since=10)
def mod(node: Node) -> Value:
    """The remainder has the sign of the right operand, or with fmod=1 of the left one."""
    return node.emit(FmodOp if node.attribute("fmod", 0) else ModOp, node.value(0), node.value(1))


for _name in VARIADIC:
    converter(_name)(variadic)


@converter("Sum")
def sum_(node: Node) -> Value:
    """Add operands from left to right."""
    return node.narrowed(_sum(node))


def _sum(node: Node) -> Value:
    return reduce(lambda a, b: node.emit(AddOp, a, b), map(node.widened, _values(node)))


def _values(node: Node) -> list[Value]:
    return [node.value(i) for i in range(len(node.inputs))]


@converter("Mean")
def mean(node: Node) -> Value:
    """The sum by the number of operands."""
    return node.narrowed(node.emit(DivOp, _sum(node), node.scalar(len(node.inputs), node.widened(node.value(0)))))
