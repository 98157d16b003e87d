"""Fitted pipelines as ONNX models, written as converters write them: what onnxruntime is timed with."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from onnx import TensorProto

helper: Any = import_module("onnx.helper")  # whose functions take attributes of any type
ML = "ai.onnx.ml"


def session_of(model: Any) -> Any:
    """A session of onnxruntime, on one thread."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def logistic_model(fitted: Any, numbers: Sequence[str], words: Sequence[str]) -> Any:
    """A pipeline that fills in, scales and encodes columns, each of which is an input, and a logistic regression."""
    columns, model = fitted[0], fitted[-1]
    (_, (_, imputer), (_, scaler)) = (None, *columns.transformers_[0][1].steps)
    encoder = columns.transformers_[1][1]
    nodes = [
        helper.make_node("Concat", [*numbers], ["x"], axis=1),
        helper.make_node("Imputer", ["x"], ["filled"], domain=ML, imputed_value_floats=imputer.statistics_.tolist(),
                         replaced_value_float=float("nan")),
        helper.make_node("Scaler", ["filled"], ["scaled"], domain=ML, offset=scaler.mean_.tolist(),
                         scale=(1 / scaler.scale_).tolist()),
    ]  # fmt: skip
    for name, values in zip(words, encoder.categories_, strict=True):
        known = {"cats_strings": values.tolist(), "zeros": 1}
        nodes.append(helper.make_node("OneHotEncoder", [name], [f"{name}.wide"], domain=ML, **known))
        shape = helper.make_tensor(f"{name}.shape", TensorProto.INT64, [2], [-1, len(values)])
        nodes.append(helper.make_node("Constant", [], [f"{name}.shape"], value=shape))
        nodes.append(helper.make_node("Reshape", [f"{name}.wide", f"{name}.shape"], [f"{name}.codes"]))
    nodes.append(helper.make_node("Concat", ["scaled", *(f"{name}.codes" for name in words)], ["features"], axis=1))
    weights = {
        "coefficients": np.concatenate([-model.coef_[0], model.coef_[0]]).tolist(),
        "intercepts": [-model.intercept_[0], model.intercept_[0]],
        "classlabels_ints": [0, 1],
        "post_transform": "LOGISTIC",
    }
    nodes.append(helper.make_node("LinearClassifier", ["features"], ["label", "probabilities"], domain=ML, **weights))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in numbers]
    inputs += [helper.make_tensor_value_info(name, TensorProto.STRING, [None, 1]) for name in words]
    return _model(nodes, inputs)


def forest_model(forest: Any) -> Any:
    """A forest of classification trees, whose input is an array."""
    count, trees = len(forest.estimators_), [member.tree_ for member in forest.estimators_]
    of: dict[str, list[Any]] = {name: [] for name in ("tree", "node", "feature", "value", "mode", "true", "false")}
    leaves: dict[str, list[Any]] = {name: [] for name in ("tree", "node", "class", "weight")}
    for number, tree in enumerate(trees):
        for node in range(tree.node_count):
            is_leaf = tree.children_left[node] < 0
            row = (number, node, max(0, int(tree.feature[node])), float(tree.threshold[node]),
                   "LEAF" if is_leaf else "BRANCH_LEQ", max(0, int(tree.children_left[node])),
                   max(0, int(tree.children_right[node])))  # fmt: skip
            for values, value in zip(of.values(), row, strict=True):
                values.append(value)
            if is_leaf:
                for label, share in enumerate(tree.value[node, 0].tolist()):
                    for values, value in zip(leaves.values(), (number, node, label, share / count), strict=True):
                        values.append(value)
    attributes = {
        "nodes_treeids": of["tree"],
        "nodes_nodeids": of["node"],
        "nodes_featureids": of["feature"],
        "nodes_values": of["value"],
        "nodes_modes": of["mode"],
        "nodes_truenodeids": of["true"],
        "nodes_falsenodeids": of["false"],
        "class_treeids": leaves["tree"],
        "class_nodeids": leaves["node"],
        "class_ids": leaves["class"],
        "class_weights": leaves["weight"],
        "classlabels_int64s": list(range(len(forest.classes_))),
    }
    node = helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "probabilities"], domain=ML, **attributes)
    return _model([node], [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, forest.n_features_in_])])


def _model(nodes: Sequence[Any], inputs: Sequence[Any]) -> Any:
    outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2])]
    graph = helper.make_graph(nodes, "pipeline", inputs, outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    import_module("onnx.checker").check_model(model)
    return model
