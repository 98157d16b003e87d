"""Converters: linear models and support vector machines of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32

from tilework.algebra.index_expr import const
from tilework.dialects.graph import AddOp, DenseOp
from tilework.frontends.onnx.convert_ml_features import ML, numbers
from tilework.frontends.onnx.ml_scores import classified, labels, transformed
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.values import Known, Value


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
