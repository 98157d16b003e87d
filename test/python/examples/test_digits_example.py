"""The digits example: the layers' derivatives are right, and the checked-in model recognizes digits it never saw."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import onnx
import onnx.reference
import pytest
from places import ROOT

EXAMPLE = ROOT / "examples" / "digits"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch):
    """Import one of the example's files, as `python examples/digits/train.py` would."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module


def small_layers(layers: ModuleType):
    rng = np.random.default_rng(1)
    return {
        "convolution": (layers.Convolution(rng, 2, 3), (2, 2, 4, 4)),
        "batch normalization": (layers.BatchNormalization(2), (3, 2, 4, 4)),
        "relu": (layers.Relu(), (2, 2, 4, 4)),
        "max pool": (layers.MaxPool(), (2, 2, 4, 4)),
        "flatten": (layers.Flatten(), (2, 2, 4, 4)),
        "dense": (layers.Dense(rng, 5, 3), (2, 5)),
    }


@pytest.mark.parametrize("name", ["convolution", "batch normalization", "relu", "max pool", "flatten", "dense"])
def test_derivatives_agree_with_finite_differences(example, name):
    layer, shape = small_layers(example("layers"))[name]
    rng = np.random.default_rng(2)
    x = rng.standard_normal(shape)
    layer.parameters = {key: rng.standard_normal(value.shape) for key, value in layer.parameters.items()}
    weight = rng.standard_normal(layer.forward(x, training=True).shape)

    def loss() -> float:
        return float((layer.forward(x, training=True) * weight).sum())

    loss()
    at_input = layer.backward(weight)
    for variable, gradient in [
        (x, at_input),
        *((layer.parameters[key], layer.gradients[key]) for key in layer.gradients),
    ]:
        assert gradient.shape == variable.shape
        for index in list(np.ndindex(variable.shape))[::3]:
            middle = variable[index]
            variable[index] = middle + 1e-6
            above = loss()
            variable[index] = middle - 1e-6
            below = loss()
            variable[index] = middle
            assert gradient[index] == pytest.approx((above - below) / 2e-6, abs=1e-5)


def test_dropout_keeps_the_mean_and_passes_gradients_where_values_passed(example):
    dropout = example("layers").Dropout(np.random.default_rng(0))
    ones = np.ones((100, 100), np.float32)
    dropped = dropout.forward(ones, training=True)
    assert dropped.mean() == pytest.approx(1, abs=0.05)
    assert np.array_equal(dropout.backward(ones), dropped)
    assert np.array_equal(dropout.forward(ones, training=False), ones)


def test_split_is_fixed_and_has_no_overlap(example):
    training, held_out = example("digits_data").load_split()
    again, _ = example("digits_data").load_split()
    assert training.images.shape == (1437, 1, 8, 8) and held_out.images.shape == (360, 1, 8, 8)
    assert training.images.min() == 0 and training.images.max() == 1
    assert np.array_equal(training.images, again.images)
    seen = {image.tobytes() for image in training.images}
    assert not any(image.tobytes() in seen for image in held_out.images)


def test_checked_in_model_recognizes_the_held_out_digits(example):
    _, held_out = example("digits_data").load_split()
    model = onnx.load(EXAMPLE / "digits.onnx")
    onnx.checker.check_model(model, full_check=True)
    (probabilities,) = onnx.reference.ReferenceEvaluator(model).run(None, {"images": held_out.images})
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert (probabilities.argmax(axis=1) == held_out.labels).mean() >= 0.975


def test_exported_graph_computes_what_the_trained_network_computes(example):
    layers, train = example("layers"), example("train")
    rng = np.random.default_rng(3)
    network = train.build_network(rng)
    norm = next(layer for layer in network if isinstance(layer, layers.BatchNormalization))
    norm.statistics = {"mean": rng.random(16, np.float32), "variance": rng.random(16, np.float32) + 0.5}
    images = rng.random((5, 1, 8, 8), np.float32)
    (probabilities,) = onnx.reference.ReferenceEvaluator(train.to_onnx(network)).run(None, {"images": images})
    assert np.allclose(probabilities, train.softmax(train.forward(network, images)), atol=1e-6)
