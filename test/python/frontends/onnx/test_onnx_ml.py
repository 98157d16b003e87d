"""Models of ai.onnx.ml, built by hand: equal to onnxruntime's."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function

ML = "ai.onnx.ml"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 4)).astype(np.float32)
MISSING = np.where(RNG.random(X.shape) < 0.3, np.float32(np.nan), X)
INTEGERS = RNG.integers(0, 5, (12, 2))


def model(op: str, inputs: dict[str, Any], outputs: int = 1, version: int = 3, **attributes: Any) -> onnx.ModelProto:
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, [*inputs], names, domain=ML, **attributes)
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), ["N", *x.shape[1:]])
        for name, x in inputs.items()
    ]
    made = [helper.make_empty_tensor_value_info(name) for name in names]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(ML, version)]
    return helper.make_model(helper.make_graph([node], op, given, made), opset_imports=opsets, ir_version=10)


def check(model: onnx.ModelProto, inputs: dict[str, Any], tolerance: float = 1e-5) -> None:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    made = tw.compile(model).run(inputs)
    for result, expected in zip(made.values(), session.run(None, inputs), strict=True):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def check_meaning(model: onnx.ModelProto, inputs: dict[str, Any]) -> None:
    """Check the model as the interpreter runs it."""
    imported = import_onnx(model)
    found = run_function(imported.module, "main", list(inputs.values()), imported.parameters)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


FEATURES = {
    "scaler": ("Scaler", X, {"offset": [1.0, 2.0, 0.0, -1.0], "scale": [0.5, 1.0, 2.0, 3.0]}),
    "max": ("Normalizer", np.abs(X), {"norm": "MAX"}),
    "l1": ("Normalizer", np.vstack([X, np.zeros((1, 4), np.float32)]), {"norm": "L1"}),
    "l2": ("Normalizer", X, {"norm": "L2"}),
    "binarizer": ("Binarizer", X, {"threshold": 0.25}),
    "missing": ("Imputer", MISSING, {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": np.nan}),
    "replaced": ("Imputer", INTEGERS, {"imputed_value_int64s": [7], "replaced_value_int64": 2}),
    "one-hot": ("OneHotEncoder", INTEGERS[:, :1].reshape(-1), {"cats_int64s": [3, 0, 1], "zeros": 1}),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str):
    op, x, attributes = FEATURES[name]
    check(model(op, {"x": x}, **attributes), {"x": x})


def test_features_of_no_rows():
    made = model("Scaler", {"x": X}, offset=[1.0], scale=[2.0])
    assert tw.compile(made)(X[:0]).shape == (0, 4)


@pytest.mark.parametrize(
    "attributes",
    [
        {"keys_int64s": [1, 3], "values_floats": [0.5, 1.5], "default_float": -2.0},
        {"keys_int64s": [0, 1, 2, 3, 4], "values_int64s": [9, 8, 7, 6, 5]},
    ],
    ids=["some", "all"],
)
def test_labels(attributes: dict[str, Any]):
    check(model("LabelEncoder", {"x": INTEGERS}, **attributes), {"x": INTEGERS})


def test_nan_is_a_label():
    made = model("LabelEncoder", {"x": X}, keys_floats=[np.nan, 1.0], values_int64s=[5, 6], default_int64=-3)
    x = np.array([[np.nan, 1.0, 2.0, -np.nan]], np.float32)
    np.testing.assert_array_equal(tw.compile(made)(x), [[5, 6, -3, 5]])


def test_texts_are_refused():
    texts = model("LabelEncoder", {"x": INTEGERS}, keys_int64s=[1], values_strings=["a"])
    with pytest.raises(tw.TileworkError, match="its values_strings are texts, which Tilework does not compute with"):
        tw.compile(texts)


def test_an_unknown_category_is_refused_by_the_call():
    made = tw.compile(model("OneHotEncoder", {"x": INTEGERS[:, 0]}, cats_int64s=[0, 1], zeros=0))
    np.testing.assert_array_equal(made(np.array([1, 0])), [[0, 1], [1, 0]])
    with pytest.raises(tw.TileworkError, match="a number is none of its categories"):
        made(np.array([1, 2]))


def test_linear_models():
    weights = [float(w) for w in RNG.standard_normal(12)]
    check(model("LinearRegressor", {"x": X}, targets=3, coefficients=weights, intercepts=[1.0, 2.0, 3.0]), {"x": X})
    several = {"coefficients": weights, "intercepts": [0.0, 0.5, -0.5], "classlabels_ints": [4, 2, 9]}
    check(model("LinearClassifier", {"x": X}, 2, post_transform="SOFTMAX", **several), {"x": X})
    two = {"coefficients": weights[:4], "intercepts": [0.25], "classlabels_ints": [4, 2]}
    check(model("LinearClassifier", {"x": X}, 2, post_transform="LOGISTIC", **two), {"x": X})


@pytest.mark.parametrize("kind", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vectors(kind: str):
    attributes: dict[str, Any] = {"kernel_type": kind, "kernel_params": [0.25, 0.5, 2.0], "n_supports": 3, "rho": [0.5]}
    attributes |= {"support_vectors": [float(w) for w in X[:3].flat], "coefficients": [1.0, -0.5, 0.25]}
    check(model("SVMRegressor", {"x": X}, **attributes), {"x": X})


VECTORS = [float(w) for w in X[:7].flat]


def classifier(classes: int, probabilities: bool, **attributes: Any) -> onnx.ModelProto:
    """Seven support vectors, and a coefficient of each one for every class but its own."""
    pairs = classes * (classes - 1) // 2
    rng = np.random.default_rng(classes)
    attributes = {"kernel_type": "RBF", "kernel_params": [0.25, 0.0, 3.0], **attributes}
    attributes |= {"support_vectors": VECTORS, "vectors_per_class": [4, 3] if classes == 2 else [2, 1, 3, 1]}
    attributes["coefficients"] = [float(c) for c in rng.standard_normal(7 * (classes - 1))]
    attributes["rho"] = [float(r) for r in rng.standard_normal(pairs) / 4]
    if probabilities:
        attributes |= {"prob_a": [-1.5 - i for i in range(pairs)], "prob_b": [i / 8 for i in range(pairs)]}
    return model("SVMClassifier", {"x": X}, 2, classlabels_ints=[5, 3, 8, 1][:classes], **attributes)


@pytest.mark.parametrize("probabilities", [False, True], ids=["scores", "probabilities"])
@pytest.mark.parametrize("classes", [2, 4])
def test_classes_by_support_vectors(classes: int, probabilities: bool):
    check_meaning(classifier(classes, probabilities), {"x": X})


def test_compiled_probabilities_by_support_vectors():
    """Compiled, rows are coupled by several threads."""
    check(classifier(4, True), {"x": RNG.standard_normal((3000, 4)).astype(np.float32)}, 1e-4)


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_of_support_vectors_after_a_function(classes: int):
    check_meaning(classifier(classes, False, post_transform="SOFTMAX"), {"x": X})


@pytest.mark.parametrize("signs", ["any", "positive"])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_by_rows_of_coefficients(classes: int, signs: str):
    rng = np.random.default_rng(2)
    weights = rng.standard_normal(4 * classes) if signs == "any" else rng.random(4 * classes)
    given: dict[str, Any] = {"coefficients": [float(w) for w in weights], "rho": [0.125]}
    given |= {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
    check_meaning(model("SVMClassifier", {"x": X}, 2, classlabels_ints=[5, 3, 8][:classes], **given), {"x": X})


def test_support_vectors_that_fit_no_classes_are_refused():
    rest: dict[str, Any] = {"coefficients": [1.0] * 7, "rho": [0.0], "support_vectors": VECTORS}
    for labels, counts, message in (
        ([1], [7], "it has one class only"),
        ([1, 2], [7], "it has support vectors for 1 classes, not 2"),
    ):
        made = model("SVMClassifier", {"x": X}, 2, classlabels_ints=labels, vectors_per_class=counts, **rest)
        with pytest.raises(tw.TileworkError, match=message):
            tw.compile(made)


def stump(mode: str, missing: int) -> dict[str, Any]:
    """Two trees of one decision each."""
    return {
        "n_targets": 1,
        "nodes_treeids": [0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 0, 1, 2],
        "nodes_featureids": [1, 0, 0, 3, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
        "nodes_modes": [mode, "LEAF", "LEAF", mode, "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0, 2, 0, 0],
        "nodes_missing_value_tracks_true": [missing, 0, 0, missing, 0, 0],
        "target_treeids": [0, 0, 1, 1],
        "target_nodeids": [1, 2, 1, 2],
        "target_ids": [0, 0, 0, 0],
        "target_weights": [1.0, 2.0, 4.0, 8.0],
    }


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_trees_are_joined(aggregate: str):
    trees = stump("BRANCH_LEQ", 0)
    check(model("TreeEnsembleRegressor", {"x": X}, aggregate_function=aggregate, base_values=[0.5], **trees), {"x": X})


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("mode", ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"])
def test_decisions_at_ties_and_of_nan(mode: str, missing: int):
    """The number that a threshold is, those beside it, infinities and NaN go where onnx's definition says."""
    beside = [np.nextafter(np.float32(0.5), np.float32(towards)) for towards in (0, 1)]
    numbers = np.array([0.5, *beside, np.inf, -np.inf, np.nan], np.float32)
    x = np.zeros((len(numbers), 4), np.float32)
    x[:, 1] = numbers
    holds = {
        "LEQ": numbers <= 0.5,
        "LT": numbers < 0.5,
        "GTE": numbers >= 0.5,
        "GT": numbers > 0.5,
        "EQ": numbers == 0.5,
        "NEQ": numbers != 0.5,
    }[mode]
    holds = np.where(np.isnan(numbers), bool(missing), holds)
    second = {"LEQ": 4.0, "LT": 8.0, "GTE": 4.0, "GT": 8.0, "EQ": 4.0, "NEQ": 8.0}[mode]
    made = tw.compile(model("TreeEnsembleRegressor", {"x": x}, **stump(f"BRANCH_{mode}", missing)))
    np.testing.assert_array_equal(made(x)[:, 0], np.where(holds, 1.0, 2.0) + second)


def test_doubles_are_not_rounded():
    """The second number would be the threshold if it were rounded to an f32."""
    x = np.zeros((2, 4))
    x[:, 1] = [0.5, 0.5 + 1e-12]
    made = tw.compile(model("TreeEnsembleRegressor", {"x": x}, **stump("BRANCH_LEQ", 0)))
    np.testing.assert_array_equal(made(x)[:, 0], [5.0, 6.0])


def test_trees_of_no_rows_and_too_few_columns():
    made = tw.compile(model("TreeEnsembleRegressor", {"x": X}, **stump("BRANCH_LEQ", 0)))
    assert made(X[:0]).shape == (0, 1)
    with pytest.raises(tw.TileworkError, match="its trees look at 4 columns, its input has 2"):
        tw.compile(model("TreeEnsembleRegressor", {"x": X[:, :2]}, **stump("BRANCH_LEQ", 0)))
