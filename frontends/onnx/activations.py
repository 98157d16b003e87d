"""Functions of one value that operators of the standard and gates of recurrent layers share. For converting.

Those of several steps are for numbers of f32 or wider, so that half-precision numbers are rounded once, at the end.
"""

from __future__ import annotations

from tilework.dialects.graph import (
    AbsOp,
    AddOp,
    ClipOp,
    DivOp,
    EluOp,
    ExpOp,
    LeakyReluOp,
    LessOp,
    LogOp,
    MulOp,
    NegOp,
    ReluOp,
    SigmoidOp,
    TanhOp,
    WhereOp,
)
from tilework.frontends.onnx.node import Node, float_attr, number_attr
from tilework.frontends.onnx.values import Value


def relu(node: Node, x: Value) -> Value:
    """max(x, 0)."""
    return node.emit(ReluOp, x)


def sigmoid(node: Node, x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return node.emit(SigmoidOp, x)


def tanh(node: Node, x: Value) -> Value:
    """The hyperbolic tangent."""
    return node.emit(TanhOp, x)


def affine(node: Node, x: Value, alpha: float, beta: float) -> Value:
    """alpha * x + beta."""
    return node.emit(AddOp, node.emit(MulOp, x, node.scalar(alpha, x)), node.scalar(beta, x))


def leaky_relu(node: Node, x: Value, alpha: float) -> Value:
    """x where it is not below zero, else alpha * x."""
    return node.emit(LeakyReluOp, x, alpha=float_attr(alpha))


def thresholded_relu(node: Node, x: Value, alpha: float) -> Value:
    """x where it is above alpha, else 0."""
    above = node.emit(LessOp, node.scalar(alpha, x), x)
    return node.emit(WhereOp, above, x, node.scalar(0.0, x))


def scaled_tanh(node: Node, x: Value, alpha: float, beta: float) -> Value:
    """alpha * tanh(beta * x)."""
    inner = node.emit(TanhOp, node.emit(MulOp, x, node.scalar(beta, x)))
    return node.emit(MulOp, inner, node.scalar(alpha, x))


def hard_sigmoid(node: Node, x: Value, alpha: float, beta: float) -> Value:
    """alpha * x + beta, at least 0 and at most 1."""
    return between(node, affine(node, x, alpha, beta), 0.0, 1.0)


def elu(node: Node, x: Value, alpha: float) -> Value:
    """x where it is not below zero, else alpha * (exp(x) - 1)."""
    return node.emit(EluOp, x, alpha=float_attr(alpha))


def softsign(node: Node, x: Value) -> Value:
    """x / (1 + |x|)."""
    return node.emit(DivOp, x, node.emit(AddOp, node.emit(AbsOp, x), node.scalar(1.0, x)))


def softplus(node: Node, x: Value) -> Value:
    """log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    exps = node.emit(ExpOp, node.emit(NegOp, node.emit(AbsOp, x)))
    return node.emit(AddOp, node.emit(ReluOp, x), node.emit(LogOp, node.emit(AddOp, exps, node.scalar(1.0, x))))


def between(node: Node, x: Value, low: float | None, high: float | None) -> Value:
    """Limit a value to at least `low` and at most `high`; a bound that is None does not bind."""
    bounds = {"low": low, "high": high}
    dtype = node.dtype_of(x)
    return node.emit(ClipOp, x, **{k: None if n is None else number_attr(n, dtype) for k, n in bounds.items()})
