"""Converters: support vector machines of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations

import numpy as np
from xdsl.dialects.builtin import BoolAttr, f32

from tilework.algebra.index_expr import const
from tilework.dialects.graph import (
    AddOp,
    ArgMaxOp,
    ClipOp,
    ConcatOp,
    DenseOp,
    ExpOp,
    GatherOp,
    LessOp,
    MulOp,
    NegOp,
    PowOp,
    ReduceMaxOp,
    ReduceSumOp,
    SigmoidOp,
    SubOp,
    TanhOp,
    WhereOp,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.dialects.te.pairwise_coupling import couple
from tilework.frontends.onnx.convert_ml_features import ML, numbers
from tilework.frontends.onnx.ml_scores import labels, transformed
from tilework.frontends.onnx.node import Node, converter, float_attr, int_attr, value_dims
from tilework.frontends.onnx.values import Array, Known, Value

LEAST_PROBABILITY = 1e-7
"""How near the probability of a class against another one is to 0 or 1 at most."""


@converter("SVMRegressor", domain=ML)
def svm_regressor(node: Node) -> Value:
    """A sum over support vectors of their likeness to a row; of one class, whether that is positive, as 1 or -1."""
    coefficients, count = numbers(node, "coefficients").reshape(1, -1), node.attribute("n_supports", 0)
    alike: Value = node.cast(node.value(0), f32)
    if count:
        alike = _likeness(node, alike, numbers(node, "support_vectors").reshape(count, -1))
    total = _weighted(node, alike, coefficients, numbers(node, "rho", [0.0])[:1])
    if node.attribute("one_class", 0):
        above = node.emit(LessOp, node.scalar(0.0, total), total)
        return node.emit(WhereOp, above, node.scalar(1.0, total), node.scalar(-1.0, total))
    return transformed(node, total)


@converter("SVMClassifier", domain=ML)
def svm_classifier(node: Node) -> Sequence[Value]:
    """The class that wins against most others, and a score for each pair, or a probability for each class.

    Without support vectors there is a row of coefficients, and a score, for each class.
    """
    classes = labels(node, "classlabels_ints")
    if len(classes) < 2:
        raise node.error("it has one class only")
    counts = list(node.attribute("vectors_per_class", []))
    if not sum(counts):
        return _by_rows(node, classes)
    if len(counts) != len(classes):
        raise node.error(f"it has support vectors for {len(counts)} classes, not {len(classes)}")
    scores = _of_pairs(node, counts)
    chosen = node.emit(GatherOp, Known(classes, node.title), _winner(node, scores, len(classes)), axis=int_attr(0))
    if node.attribute("prob_a"):
        return [chosen, transformed(node, _probabilities(node, scores, len(classes)))]
    if len(classes) > 2:
        return [chosen, transformed(node, scores)]
    is_plain = node.attribute("post_transform", "NONE") == "NONE"
    other = node.emit(NegOp, scores) if is_plain else node.emit(SubOp, node.scalar(1.0, scores), scores)
    return [chosen, node.emit(ConcatOp, other, scores, axis=int_attr(1))]


def _by_rows(node: Node, classes: Array) -> Sequence[Value]:
    """The class of the highest score, and all scores; of two, the second one wherever the highest one is positive.

    Where no coefficient is negative, that is one half.
    """
    coefficients = numbers(node, "coefficients").reshape(len(classes), -1)
    scores = _weighted(node, node.cast(node.value(0), f32), coefficients, numbers(node, "rho", [0.0])[:1])
    best = _largest(node, scores)
    if len(classes) == 2 and not node.attribute("prob_a"):
        along = {"axes": ints([1]), "keep_dims": BoolAttr.from_bool(False)}
        highest = node.emit(ReduceMaxOp, scores, **along)
        bound = np.nextafter(np.float32(0.5), np.float32(0)) if (coefficients >= 0).all() else np.float32(0)
        is_above = node.emit(LessOp, Known(np.array(bound), node.title), highest)
        best = node.emit(WhereOp, is_above, Known(np.array(1), node.title), best)
    return [node.emit(GatherOp, Known(classes, node.title), best, axis=int_attr(0)), transformed(node, scores)]


def _of_pairs(node: Node, counts: Sequence[int]) -> Value:
    """A score for each pair of classes [rows, pairs], above 0 where the first one of the pair wins.

    The coefficients of a support vector are one for each class but its own.
    """
    vectors = numbers(node, "support_vectors").reshape(sum(counts), -1)
    given = numbers(node, "coefficients").reshape(len(counts) - 1, -1)
    ends = list(accumulate(counts, initial=0))
    pairs = list(combinations(range(len(counts)), 2))
    weights = np.zeros((len(pairs), sum(counts)), np.float32)
    for pair, (i, j) in zip(weights, pairs, strict=True):
        first, second = (slice(ends[n], ends[n + 1]) for n in (i, j))
        pair[first], pair[second] = given[j - 1, first], given[i, second]
    alike = _likeness(node, node.cast(node.value(0), f32), vectors)
    return _weighted(node, alike, weights, numbers(node, "rho")[: len(pairs)])


def _winner(node: Node, scores: Value, count: int) -> Value:
    """Which class wins most of its pairs [rows]."""
    pairs = list(combinations(range(count), 2))
    won = np.zeros((count, len(pairs)), np.float32)
    for number, (i, j) in enumerate(pairs):
        won[i, number], won[j, number] = 1, -1
    is_first = node.cast(node.emit(LessOp, node.scalar(0.0, scores), scores), f32)
    lost_by_all = np.array([sum(j == n for _, j in pairs) for n in range(count)], np.float32)
    return _largest(node, _weighted(node, is_first, won, lost_by_all))


def _probabilities(node: Node, scores: Value, count: int) -> Value:
    """The probability of each class [rows, classes], from a sigmoid of the score of each pair."""
    slopes, offsets = (Known(numbers(node, name), node.title) for name in ("prob_a", "prob_b"))
    against = node.emit(SigmoidOp, node.emit(NegOp, node.emit(AddOp, node.emit(MulOp, scores, slopes), offsets)))
    ends = {"low": float_attr(LEAST_PROBABILITY), "high": float_attr(1 - LEAST_PROBABILITY)}
    return _coupled(node, node.emit(ClipOp, against, **ends), count)


def _coupled(node: Node, against: Value, count: int) -> Value:
    """The probabilities of classes, from those of the first class of each pair [rows, pairs]."""
    pairs = list(combinations(range(count), 2))
    other = node.emit(SubOp, node.scalar(1.0, against), against)
    columns = np.zeros((count, count), np.int64)
    for number, (i, j) in enumerate(pairs):
        columns[i, j], columns[j, i] = number, len(pairs) + number
    both = node.emit(ConcatOp, against, other, axis=int_attr(1))
    matrix = node.emitter.tensor(node.emit(GatherOp, both, Known(columns, node.title), axis=int_attr(1)))
    k = KernelBuilder("coupling")
    made = KernelOp.holding(k.finish([couple(k, k.argument(matrix.type, "pairs"))]), [matrix])
    node.emitter.insert(made, node.title)
    return made.results[0]


def _largest(node: Node, scores: Value) -> Value:
    """The first one of the largest scores of each row."""
    along = {"axis": int_attr(1), "keep_dims": BoolAttr.from_bool(False), "last": BoolAttr.from_bool(False)}
    return node.emit(ArgMaxOp, scores, **along)


def _weighted(node: Node, x: Value, weights: Array, offsets: Array) -> Value:
    """Each row times rows of weights, and a number added to each product."""
    product = node.emit(DenseOp, x, Known(weights, f"{node.title}.coefficients"))
    return node.emit(AddOp, product, Known(offsets, node.title))


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
