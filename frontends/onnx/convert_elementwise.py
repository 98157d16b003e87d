"""Converters: element-wise operators of one operand, and what is composed of them, half-precision numbers in f32."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const, product
from tilework.dialects.graph import (
    AbsOp,
    AcoshOp,
    AcosOp,
    AddOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    BitcastOp,
    CeilOp,
    CoshOp,
    CosOp,
    DivOp,
    DropoutOp,
    EluOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LessOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    NotOp,
    PReluOp,
    ReluOp,
    RoundOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    SubOp,
    TanhOp,
    TanOp,
    WhereOp,
)
from tilework.dialects.graph.base import GraphOp
from tilework.frontends.onnx import activations
from tilework.frontends.onnx.conversions import converted, converted_array
from tilework.frontends.onnx.node import Node, converter, float_attr, value_dims
from tilework.frontends.onnx.values import AnyValue, Known, Value, known

UNARY: dict[str, type[GraphOp]] = {
    "Abs": AbsOp,
    "Acos": AcosOp,
    "Acosh": AcoshOp,
    "Asin": AsinOp,
    "Asinh": AsinhOp,
    "Atan": AtanOp,
    "Atanh": AtanhOp,
    "Ceil": CeilOp,
    "Cos": CosOp,
    "Cosh": CoshOp,
    "Erf": ErfOp,
    "Exp": ExpOp,
    "Floor": FloorOp,
    "Log": LogOp,
    "Neg": NegOp,
    "Relu": ReluOp,
    "Round": RoundOp,
    "Sigmoid": SigmoidOp,
    "Sign": SignOp,
    "Sin": SinOp,
    "Sinh": SinhOp,
    "Sqrt": SqrtOp,
    "Tan": TanOp,
    "Tanh": TanhOp,
}


def unary(node: Node) -> Value:
    """The graph operator of the same meaning."""
    return node.emit(UNARY[node.op_type], node.value(0))


for _name in UNARY:
    converter(_name)(unary)


@converter("Identity")
def identity(node: Node) -> AnyValue:
    """The input itself."""
    return node.any_value(0)


@converter("Dropout")
def dropout_by_attribute(node: Node) -> Value:
    """The ratio is an attribute. The mask, an output for training, is not made."""
    return node.emit(DropoutOp, node.value(0), ratio=float_attr(node.attribute("ratio", 0.5)))


@converter("Dropout", since=12)
def dropout_by_input(node: Node) -> Sequence[Value]:
    """The ratio is an input, and so is whether to train, which for a ratio of 0 is no matter. All is kept."""
    x = node.value(0)
    ratio = node.number(1, "ratio") if node.has(1) and isinstance(node.value(1), Known) else 0.5
    if node.has(2) and node.number(2, "training mode") and (node.number(1, "ratio") if node.has(1) else ratio):
        raise node.error("training mode is not supported: what it drops is random")
    kept: Value = x if node.has(1) and not isinstance(node.value(1), Known) else _undropped(node, ratio)
    return [kept, node.emit(NotOp, node.emit(LessOp, x, x))] if len(node.proto.output) > 1 else [kept]


def _undropped(node: Node, ratio: float) -> Value:
    return node.emit(DropoutOp, node.value(0), ratio=float_attr(ratio))


@converter("LeakyRelu")
def leaky_relu(node: Node) -> Value:
    """Multiply what is below zero by a slope."""
    return activations.leaky_relu(node, node.value(0), node.attribute("alpha", 0.01))


@converter("Elu")
def elu(node: Node) -> Value:
    """Replace what is below zero by an exponential."""
    return activations.elu(node, node.value(0), node.attribute("alpha", 1.0))


@converter("Selu")
def selu(node: Node) -> Value:
    """gamma * elu. Before opset 6, both had fewer digits."""
    alpha = node.attribute("alpha", 1.67326319217681884765625 if node.opset >= 6 else 1.6732)
    gamma = node.attribute("gamma", 1.05070102214813232421875 if node.opset >= 6 else 1.0507)
    x = node.emit(EluOp, node.widened(node.value(0)), alpha=float_attr(alpha))
    return node.narrowed(node.emit(MulOp, x, node.scalar(gamma, x)))


@converter("PRelu")
def prelu(node: Node) -> Value:
    """A slope below zero, for each channel or each element."""
    return node.emit(PReluOp, node.value(0), _slope(node))


def _slope(node: Node) -> Value:
    """Before opset 7 a slope for each channel stands at axis 1 by itself."""
    dims, slope = node.dims(0), node.dims(1)
    if node.opset < 7 and len(slope) == 1 and len(dims) > 2:
        return node.reshape(node.value(1), [*slope, *[const(1)] * (len(dims) - 2)])
    return node.value(1)


@converter("Clip")
def clip_by_attributes(node: Node) -> Value:
    """Bounds are attributes."""
    bounds = {name: node.attribute(name) for name in ("min", "max")}
    return _clip(node, bounds["min"], bounds["max"])


@converter("Clip", since=11)
def clip_by_inputs(node: Node) -> Value:
    """Bounds are inputs; those computed from data, and those of integers, make a maximum and a minimum."""
    bounds = [node.value(i) if node.has(i) else None for i in (1, 2)]
    is_float = isinstance(node.dtype(0), AnyFloat)
    if is_float and not any(isinstance(bound, SSAValue) for bound in bounds):
        low, high = (node.number(i, "bound") if node.has(i) else None for i in (1, 2))
        return _clip(node, low, high)
    result = node.value(0)
    for op, bound in zip((MaxOp, MinOp), bounds, strict=True):
        if bound is not None and product(value_dims(bound)) != 1:
            raise node.error("a bound is one number")
        result = result if bound is None else node.emit(op, result, node.reshape(bound, ()))
    return result


def _clip(node: Node, low: float | None, high: float | None) -> Value:
    return activations.between(node, node.value(0), low, high)


@converter("HardSigmoid")
def hard_sigmoid(node: Node) -> Value:
    """alpha * x + beta between 0 and 1."""
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return node.narrowed(activations.hard_sigmoid(node, node.widened(node.value(0)), alpha, beta))


@converter("HardSwish")
def hard_swish(node: Node) -> Value:
    """x * hard_sigmoid(x), with a slope of 1/6."""
    x = node.widened(node.value(0))
    return node.narrowed(node.emit(MulOp, x, activations.hard_sigmoid(node, x, 1 / 6, 0.5)))


@converter("Softplus")
def softplus(node: Node) -> Value:
    """log(1 + exp(x))."""
    return node.narrowed(activations.softplus(node, node.widened(node.value(0))))


@converter("Mish", since=18)
def mish(node: Node) -> Value:
    """x * tanh(softplus(x))."""
    x = node.widened(node.value(0))
    return node.narrowed(node.emit(MulOp, x, node.emit(TanhOp, activations.softplus(node, x))))


@converter("Swish", since=24)
def swish(node: Node) -> Value:
    """x * sigmoid(alpha * x)."""
    x = node.widened(node.value(0))
    scaled = node.emit(MulOp, x, node.scalar(node.attribute("alpha", 1.0), x))
    return node.narrowed(node.emit(MulOp, x, node.emit(SigmoidOp, scaled)))


@converter("Celu", since=12)
def celu(node: Node) -> Value:
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))."""
    x, alpha = node.widened(node.value(0)), node.attribute("alpha", 1.0)
    scaled = node.emit(DivOp, x, node.scalar(alpha, x))
    below = node.emit(MinOp, node.emit(EluOp, scaled, alpha=float_attr(alpha)), node.scalar(0.0, x))
    return node.narrowed(node.emit(AddOp, node.emit(ReluOp, x), below))


@converter("ThresholdedRelu", since=10)
def thresholded_relu(node: Node) -> Value:
    """x where it is above alpha, else 0."""
    return activations.thresholded_relu(node, node.value(0), node.attribute("alpha", 1.0))


@converter("Shrink")
def shrink(node: Node) -> Value:
    """x nearer to zero by a bias where it is further away than lambd, else 0."""
    x = node.value(0)
    bias, limit = (node.scalar(node.attribute(name, default), x) for name, default in (("bias", 0.0), ("lambd", 0.5)))
    below = node.emit(LessOp, x, node.scalar(-limit.array.item(), x))
    inside = node.emit(WhereOp, below, node.emit(AddOp, x, bias), node.scalar(0.0, x))
    return node.emit(WhereOp, node.emit(LessOp, limit, x), node.emit(SubOp, x, bias), inside)


@converter("Softsign")
def softsign(node: Node) -> Value:
    """x / (1 + |x|)."""
    return node.narrowed(activations.softsign(node, node.widened(node.value(0))))


@converter("Reciprocal")
def reciprocal(node: Node) -> Value:
    """1 / x."""
    return node.emit(DivOp, node.scalar(1.0, node.value(0)), node.value(0))


@converter("Gelu", since=20)
def gelu(node: Node) -> Value:
    """x * the normal distribution's share below x, or its approximation by tanh."""
    x = node.widened(node.value(0))
    if node.attribute("approximate", "none") == "tanh":
        cube = node.emit(MulOp, node.emit(MulOp, x, x), x)
        inner = node.emit(AddOp, x, node.emit(MulOp, cube, node.scalar(0.044715, x)))
        share = node.emit(TanhOp, node.emit(MulOp, inner, node.scalar(math.sqrt(2 / math.pi), x)))
    else:
        share = node.emit(ErfOp, node.emit(MulOp, x, node.scalar(math.sqrt(0.5), x)))
    half = node.emit(MulOp, x, node.scalar(0.5, x))
    return node.narrowed(node.emit(MulOp, half, node.emit(AddOp, share, node.scalar(1.0, x))))


@converter("Cast")
def cast(node: Node) -> Value:
    """Convert to the type that an enumeration names, before opset 6 a text."""
    return converted(node, node.value(0), node.element_type(node.attribute("to")))


@converter("BitCast", since=26)
def bit_cast(node: Node) -> Value:
    """Read the same bits as elements of another type, of as many."""
    return node.emit(BitcastOp, node.value(0), to=node.element_type(node.attribute("to")))


@converter("CastLike", since=15)
def cast_like(node: Node) -> Value:
    """Convert to the type of another tensor."""
    value, to = node.value(0), node.dtype(1)
    if isinstance(value, Known) and value.array.size == 1 and not value.is_symbolic:
        with np.errstate(invalid="ignore"):  # what is no number is some integer
            return known(converted_array(node, value.array, to), node.title)
    return converted(node, value, to)
