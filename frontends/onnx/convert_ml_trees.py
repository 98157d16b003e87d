"""Converters: ensembles of decision trees, as tables of nodes that one kernel walks down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, f64

from tilework.dialects.graph import AddOp, DivOp
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.dialects.te.decision_trees import walk_trees
from tilework.frontends.onnx.convert_ml_features import ML, numbers
from tilework.frontends.onnx.ml_scores import classified, labels, transformed
from tilework.frontends.onnx.ml_trees import Forest, by_keys, by_numbers
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.values import Known, Value

JOINED = {"AVERAGE": "sum", "SUM": "sum", "MIN": "min", "MAX": "max"}
"""How trees' values become one, in the order of the numbers that a TreeEnsemble has for it."""

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@converter("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(node: Node) -> Value:
    """What the values of the trees' leaves come to, for each target."""
    forest = by_keys(node, "target", node.attribute("n_targets", 1))
    return transformed(node, _with_base(node, _walked(node, forest, node.attribute("aggregate_function", "SUM"))))


@converter("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(node: Node) -> Sequence[Value]:
    """The class of the highest score, and all scores; of two classes there may be weights for one."""
    classes = labels(node, "classlabels_int64s")
    is_single = len(classes) == 2 and len({*node.attribute("class_ids", [])}) == 1
    forest = by_keys(node, "class", 1 if is_single else len(classes))
    scores = _with_base(node, _walked(node, forest, "SUM"))
    return classified(node, scores, classes, certain=bool((forest.values >= 0).all()))


@converter("TreeEnsemble", domain=ML)
def tree_ensemble(node: Node) -> Value:
    """What the values of the trees' leaves come to, for each target, where nodes and leaves are told apart."""
    aggregate, function = (int(node.attribute(*named)) for named in (("aggregate_function", 1), ("post_transform", 0)))
    total = _walked(node, by_numbers(node), [*JOINED][aggregate])
    return node.cast(transformed(node, total, TRANSFORMS[function]), node.dtype(0))


def _walked(node: Node, forest: Forest, aggregate: str) -> Value:
    """For each row of input 0 the joined values of the leaves that it comes to."""
    targets, tables = forest.values.shape[1], forest.tables()
    if JOINED[aggregate] != "sum" and targets > 1:
        raise node.error(f"its aggregate_function {aggregate} is for one target, not {targets}")
    needed, columns = int(forest.columns.max(initial=-1)) + 1, value_dims(node.value(0))[1]
    if (columns.constant or needed) < needed:
        raise node.error(f"its trees look at {needed} columns, its input has {columns}")
    operands = [node.tensor(0), *(node.emitter.tensor(Known(array, f"{node.title}.{name}")) for name, array in tables)]
    k, names = KernelBuilder("trees"), ("x", *(name for name, _ in tables))
    x, roots, *nodes = (k.argument(value.type, name) for value, name in zip(operands, names, strict=True))
    result = walk_trees(k, x, roots, nodes, forest.depth, JOINED[aggregate], rounded_to=f64)
    made = KernelOp.holding(k.finish([result]), operands)
    node.emitter.insert(made, node.title)
    total = node.cast(made.results[0], f32)
    return node.emit(DivOp, total, node.scalar(len(forest.roots), total)) if aggregate == "AVERAGE" else total


def _with_base(node: Node, total: Value) -> Value:
    tensor = node.attribute("base_values_as_tensor")
    base = numbers(node, "base_values") if tensor is None else tensor.astype(np.float32)
    return node.emit(AddOp, total, Known(base, node.title)) if base.any() else total
