"""Converters: linear models and support vector machines of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, f32

from tilework.algebra.index_expr import const
from tilework.dialects.graph import AddOp, DenseOp, ExpOp, LessOp, MulOp, PowOp, ReduceSumOp, SubOp, TanhOp, WhereOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.convert_ml_features import ML, numbers
from tilework.frontends.onnx.ml_scores import classified, labels, transformed
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.values import Array, Known, Value


@converter("LinearRegressor", domain=ML)
def linear_regressor(node: Node) -> Value:
    """A row of numbers times a row of coefficients for each target."""
    return transformed(node, _linear(node, node.attribute("targets", 1)))


@converter("LinearClassifier", domain=ML)
def linear_classifier(node: Node) -> Sequence[Value]:
    """The class of the highest score, and all scores; of two classes there may be one score."""
    classes = labels(node, "classlabels_ints")
    return classified(node, _linear(node, max(len(numbers(node, "intercepts")), 1)), classes)


def _linear(node: Node, rows: int) -> Value:
    """Scores [rows of input 0, `rows` of coefficients]."""
    x, coefficients = node.cast(node.value(0), f32), numbers(node, "coefficients")
    if rows < 1 or not coefficients.size or len(coefficients) % rows:
        raise node.error(f"its {len(coefficients)} coefficients are no {rows} rows")
    weight = Known(coefficients.reshape(rows, -1), f"{node.title}.coefficients")
    what = f"it has {weight.array.shape[1]} coefficients for rows of {value_dims(x)[1]}"
    scores = node.emit(DenseOp, node.of_size(x, 1, const(weight.array.shape[1]), what), weight)
    intercepts = numbers(node, "intercepts")
    return node.emit(AddOp, scores, Known(intercepts, node.title)) if intercepts.any() else scores


@converter("SVMRegressor", domain=ML)
def svm_regressor(node: Node) -> Value:
    """A sum over support vectors of their likeness to a row; of one class, whether that is positive, as 1 or -1."""
    coefficients, count = numbers(node, "coefficients").reshape(1, -1), node.attribute("n_supports", 0)
    alike: Value = node.cast(node.value(0), f32)
    if count:
        alike = _likeness(node, alike, numbers(node, "support_vectors").reshape(count, -1))
    total: Value = node.emit(DenseOp, alike, Known(coefficients, f"{node.title}.coefficients"))
    total = node.emit(AddOp, total, Known(numbers(node, "rho", [0.0])[:1], node.title))
    if node.attribute("one_class", 0):
        above = node.emit(LessOp, node.scalar(0.0, total), total)
        return node.emit(WhereOp, above, node.scalar(1.0, total), node.scalar(-1.0, total))
    return transformed(node, total)


def _likeness(node: Node, x: Value, vectors: Array) -> Value:
    """The kernel function of each row and each support vector: [rows, vectors]."""
    kind = node.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = map(float, numbers(node, "kernel_params", [0.0, 0.0, 3.0])[:3])
    what = f"its support vectors have {vectors.shape[1]} numbers, a row has {value_dims(x)[1]}"
    x, supports = node.of_size(x, 1, const(vectors.shape[1]), what), Known(vectors, f"{node.title}.support_vectors")
    if kind == "RBF":
        rows = node.reshape(x, [value_dims(x)[0], const(1), value_dims(x)[1]])
        apart = node.emit(SubOp, rows, supports)
        over = {"axes": ints([2]), "keep_dims": BoolAttr.from_bool(False)}
        squared = node.emit(ReduceSumOp, node.emit(MulOp, apart, apart), **over)
        return node.emit(ExpOp, node.emit(MulOp, squared, node.scalar(-gamma, x)))
    product = node.emit(DenseOp, x, supports)
    if kind == "LINEAR":
        return product
    scaled = node.emit(AddOp, node.emit(MulOp, product, node.scalar(gamma, x)), node.scalar(offset, x))
    if kind == "SIGMOID":
        return node.emit(TanhOp, scaled)
    if kind == "POLY":
        return node.emit(PowOp, scaled, node.scalar(degree, x))
    raise node.error(f"its kernel_type is LINEAR, POLY, RBF or SIGMOID, not {kind}")
