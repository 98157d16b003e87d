"""The nine-graphs oracle: real graphs, weights that keep values near 1, scores that notice a wrong computation."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tilework.dialects.support.diagnostics import UsageError
from tilework.tools.light_models import (
    LIGHT_MODELS,
    assert_meaningful,
    load_light_model,
    random_feeds,
    reference,
    stage_tensors,
    with_outputs,
)

# The other three hold up to half a gigabyte; `python -m tilework.tools.light_models` checks all nine.
SMALL = ["densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet"]


@pytest.mark.parametrize("name", SMALL)
def test_scores_would_betray_a_wrong_compiler(name):
    pytest.importorskip("onnxruntime")
    model = load_light_model(name)
    assert_meaningful(model, random_feeds(model))


@pytest.mark.parametrize("name", SMALL)
def test_values_stay_near_one_at_every_stage(name):
    pytest.importorskip("onnxruntime")
    model = load_light_model(name)
    stages = stage_tensors(model)
    assert 4 <= len(stages) <= 8
    values = reference(with_outputs(model, stages), random_feeds(model))
    for stage in stages:
        assert 0.2 < np.sqrt(np.mean(values[stage] ** 2)) < 4, stage


@pytest.mark.parametrize("name", ["squeezenet", "resnet50"])
def test_weights_are_initializers_and_the_graph_is_else_unchanged(name):
    model = load_light_model(name)
    onnx.checker.check_model(model)
    operators = {node.op_type for node in model.graph.node}
    assert "ConstantOfShape" not in operators and "Conv" in operators
    parameters = {initializer.name for initializer in model.graph.initializer}
    assert [value.name for value in model.graph.input if value.name not in parameters] == list(random_feeds(model))
    for tensor in model.graph.initializer:
        if tensor.data_type == tensor.FLOAT:
            assert numpy_helper.to_array(tensor).std() > 0, tensor.name


def test_the_seed_decides_the_weights():
    first, again, other = (load_light_model("squeezenet", seed).graph.initializer[0] for seed in (0, 0, 1))
    assert first == again
    assert first.name == other.name and first != other


def test_stages_end_with_what_the_softmax_reads():
    model = load_light_model("squeezenet")
    softmax = model.graph.node[-1]
    assert softmax.op_type == "Softmax" and stage_tensors(model)[-1] == softmax.input[0]


def test_a_model_that_ignores_its_input_is_refused():
    pytest.importorskip("onnxruntime")
    model = load_light_model("squeezenet")
    first = next(node for node in model.graph.node if node.op_type == "Conv")
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == first.input[1])
    weight.CopyFrom(numpy_helper.from_array(np.zeros(weight.dims, np.float32), weight.name))
    with pytest.raises(AssertionError, match="another image moves the scores"):
        assert_meaningful(model, random_feeds(model))


def test_a_model_with_nearly_one_hot_output_is_refused():
    pytest.importorskip("onnxruntime")
    model = load_light_model("shufflenet")
    last = next(node for node in model.graph.node if node.op_type == "Gemm")
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == last.input[1])
    weight.CopyFrom(numpy_helper.from_array(8 * numpy_helper.to_array(weight), weight.name))
    with pytest.raises(AssertionError, match="of the softmax"):
        assert_meaningful(model, random_feeds(model))


def test_reference_without_onnxruntime_agrees(monkeypatch):
    pytest.importorskip("onnxruntime")
    relu = helper.make_node("Relu", ["x"], ["y"])
    value = {name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3]) for name in "xy"}
    model = helper.make_model(
        helper.make_graph([relu], "g", [value["x"]], [value["y"]]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    feeds = {"x": np.array([-1, 0, 2], np.float32)}
    with_runtime = reference(model, feeds)["y"]
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert np.array_equal(reference(model, feeds)["y"], with_runtime)


def test_unknown_names_are_usage_errors():
    with pytest.raises(UsageError, match="no light model 'resnet51'; there are bvlc_alexnet, densenet121"):
        load_light_model("resnet51")
    with pytest.raises(UsageError, match="has no tensor 'nowhere'"):
        with_outputs(load_light_model("squeezenet"), ["nowhere"])


def test_every_light_model_of_the_wheel_has_a_name():
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    assert sorted(LIGHT_MODELS) == sorted(path.stem.removeprefix("light_") for path in folder.glob("*.onnx"))
