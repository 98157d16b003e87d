"""Recurrent layers with every activation of the standard, its parameters, a clip, and coupled gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import Array, check, refusal

from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
TAKEN = {"RNN": 1, "GRU": 2, "LSTM": 3}
"""How many activations a direction has."""

BATCH, WIDTH, HIDDEN = 3, 4, 5


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def numbers(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * np.float32(0.4)


def layer(
    op: str,
    steps: int | str = 3,
    direction: str = "forward",
    peepholes: bool = False,
    lengths: Sequence[int] = (),
    **attributes: Any,
) -> onnx.ModelProto:
    """With states that are given."""
    count, rows = 2 if direction == "bidirectional" else 1, GATES[op]
    known = {
        "w": numbers(count, rows * HIDDEN, WIDTH, seed=1),
        "r": numbers(count, rows * HIDDEN, HIDDEN, seed=2),
        "b": numbers(count, 2 * rows * HIDDEN, seed=3),
        "h": numbers(count, BATCH, HIDDEN, seed=4),
    }
    names = ["x", "w", "r", "b", "lengths" if lengths else "", "h"]
    if lengths:
        known["lengths"] = np.array(lengths, np.int32)
    if op == "LSTM":
        known["c"] = numbers(count, BATCH, HIDDEN, seed=5) * 3
        names.append("c")
    if peepholes:
        known["p"] = numbers(count, 3 * HIDDEN, seed=6)
        names.append("p")
    outputs = ["y", "end_h", "end_c"][: 3 if op == "LSTM" else 2]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, hidden_size=HIDDEN, direction=direction, **attributes)],
        op,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, BATCH, WIDTH])],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in known.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


X = numbers(3, BATCH, WIDTH, seed=7) * 3


def by_onnxruntime(model: onnx.ModelProto) -> list[Array]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": X})


def interpreted(model: onnx.ModelProto) -> list[Array]:
    imported = import_onnx(model)
    return run_function(imported.module, "main", [X], imported.parameters)


def compare(results: Sequence[Array], wanted: Sequence[Array]) -> None:
    for result, array in zip(results, wanted, strict=True):
        assert result.dtype == array.dtype and result.shape == array.shape
        np.testing.assert_allclose(result, array, rtol=2e-5, atol=2e-6)


PARAMETERS: dict[str, dict[str, list[float]]] = {
    "Affine": {"activation_alpha": [0.7, 0.5, 0.9], "activation_beta": [0.1, 0.2, -0.1]},
    "Elu": {"activation_alpha": [0.6, 0.5, 1.2]},
    "HardSigmoid": {"activation_alpha": [0.3, 0.2, 0.4], "activation_beta": [0.4, 0.5, 0.6]},
    "LeakyRelu": {"activation_alpha": [0.3, 0.2, 0.1]},
    "Relu": {},
    "ScaledTanh": {"activation_alpha": [1.3, 1.1, 0.9], "activation_beta": [0.8, 1.2, 0.7]},
    "Sigmoid": {},
    "Softplus": {},
    "Softsign": {},
    "Tanh": {},
    "ThresholdedRelu": {"activation_alpha": [0.2, 0.1, 0.3]},
}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("op", GATES)
def test_every_activation(op: str, name: str):
    """Names in small letters, which onnxruntime takes for some layers only, are the same."""
    given = {key: values[: TAKEN[op]] for key, values in PARAMETERS[name].items()}
    wanted = by_onnxruntime(layer(op, activations=[name] * TAKEN[op], **given))
    for spelled in (name, name.lower(), name.upper()):
        compare(interpreted(layer(op, activations=[spelled] * TAKEN[op], **given)), wanted)


@pytest.mark.parametrize("name", ["Elu", "HardSigmoid", "LeakyRelu"])
def test_parameters_that_are_not_given(name: str):
    """They are those of the operator of that name; so are those behind the last one that is given."""
    for given in ({}, {"activation_alpha": [0.3]}):
        model = layer("LSTM", activations=[name] * 3, **given)
        compare(interpreted(model), by_onnxruntime(model))


def test_parameters_that_onnxruntime_takes_to_be_zero():
    """The standard has the operators' own, of ThresholdedRelu 1; of Affine they had been 1 and 0."""
    for name, given in (("ThresholdedRelu", {"activation_alpha": [1.0]}), ("Affine", {"activation_alpha": [1.0]})):
        wanted = by_onnxruntime(layer("RNN", activations=[name], **given))
        compare(interpreted(layer("RNN", activations=[name])), wanted)


MIXED: dict[str, tuple[list[str], list[str]]] = {
    "RNN": (["HardSigmoid"], ["Affine"]),
    "GRU": (["HardSigmoid", "Elu"], ["Affine", "Tanh"]),
    "LSTM": (["Sigmoid", "Elu", "HardSigmoid"], ["Affine", "Tanh", "ThresholdedRelu"]),
}


@pytest.mark.parametrize("op", GATES)
def test_directions_take_parameters_one_after_the_other(op: str, cache: KernelCache):
    """Each function takes the next of both lists that it has a use for; compiled as well."""
    forward, backward = MIXED[op]
    alphas, betas = [0.3, 0.4, 0.5, 0.2], [0.6, 0.1, 0.7]
    for more in ({}, {"lengths": [3, 1, 2]}):
        model = layer(
            op,
            "T",
            "bidirectional",
            activations=forward + backward,
            activation_alpha=alphas,
            activation_beta=betas,
            **more,
        )
        check(model, {"x": X}, cache, by_onnxruntime(model))


CLIPPED: list[tuple[str, dict[str, Any]]] = [
    ("RNN", {}),
    ("RNN", {"activations": ["Relu"], "direction": "reverse"}),
    ("GRU", {}),
    ("GRU", {"linear_before_reset": 1, "activations": ["HardSigmoid", "Softsign"]}),
    ("LSTM", {}),
    ("LSTM", {"peepholes": True}),
    ("LSTM", {"activations": ["Sigmoid", "Tanh", "Relu"], "direction": "bidirectional", "lengths": [3, 1, 2]}),
]


@pytest.mark.parametrize(("op", "given"), CLIPPED, ids=str)
@pytest.mark.parametrize("clip", [0.2, 2.0])
def test_clip(op: str, given: dict[str, Any], clip: float):
    """What goes into the gates is clipped.

    The state of a cell, which goes into an activation too, onnxruntime leaves alone.
    """
    given = {**given, "activations": given["activations"] * 2} if given.get("direction") == "bidirectional" else given
    model = layer(op, clip=clip, **given)
    compare(interpreted(model), by_onnxruntime(model))


@pytest.mark.parametrize("given", [{}, {"peepholes": True}, {"clip": 0.3, "direction": "bidirectional"}], ids=str)
def test_coupled_gates(given: dict[str, Any], cache: KernelCache):
    """What does not enter a cell is what stays in it."""
    model = layer("LSTM", input_forget=1, **given)
    check(model, {"x": X}, cache, by_onnxruntime(model))


def test_half_precision():
    """Each activation is computed with in f32 and rounded once."""
    model = layer(
        "LSTM",
        activations=["HardSigmoid", "Softplus", "ScaledTanh"],
        activation_alpha=[0.3, 1.2],
        activation_beta=[0.4, 0.9],
    )
    wanted = by_onnxruntime(model)
    for value in (*model.graph.input, *model.graph.initializer):
        if isinstance(value, onnx.TensorProto):
            value.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(value).astype(np.float16), value.name))
        else:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    imported = import_onnx(model)
    results = run_function(imported.module, "main", [X.astype(np.float16)], imported.parameters)
    for result, array in zip(results, wanted, strict=True):
        assert result.dtype == np.float16
        np.testing.assert_allclose(result, array, rtol=5e-3, atol=5e-3)


def test_refusals():
    said = refusal(layer("RNN", activations=["Gelu"]))
    assert "activation 'Gelu' is not known; there are affine, elu, hardsigmoid, leakyrelu, relu, scaledtanh," in said
    said = refusal(layer("GRU", activations=["Sigmoid", "ScaledTanh"], activation_alpha=[1.0]))
    assert "activation 'ScaledTanh' takes an activation_beta that is not given" in said
    said = refusal(layer("LSTM", activations=["Tanh"]))
    assert "3 activations a direction are needed, not 1 in all" in said
    assert "clip is a positive number, not 0" in refusal(layer("LSTM", clip=0.0))
