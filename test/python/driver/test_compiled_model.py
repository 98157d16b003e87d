"""A compiled model in the hands of its user: levels that it shows, compact artefacts, logging, files."""

from __future__ import annotations

import io
import logging
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from places import ROOT

import tilework as tw
from tilework import te
from tilework.tools import opt_tool

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((64, 48)).astype(np.float32)
X = RNG.standard_normal((3, 64)).astype(np.float32)


def dense_model(weight: np.ndarray = WEIGHT) -> onnx.ModelProto:
    """A dense layer and a relu; the weight is packed for it when it is compiled."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 64])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 48])
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def model() -> tw.Module:
    return tw.compile(dense_model())


@pytest.mark.parametrize(
    ("level", "word"),
    [
        ("model", "graph.relu"),
        ("graph", "graph.fused"),
        ("te", "te.compute"),
        ("schedule", "schedule.split"),
        ("loop", "loop.for"),
        ("host", "func.func @main"),
        ("llvmir", "define "),
        ("asm", "ret"),
    ],
)
def test_every_level_is_shown(model: tw.Module, level: str, word: str):
    assert word in model.show(level)


def test_one_kernel_is_shown_alone(model: tw.Module):
    shown = model.show("loop", kernel="dense_relu" if "@dense_relu" in model.show("te") else "matmul_relu")
    assert shown.count("loop.kernel") == 1 and "func.func" not in shown
    [name] = re.findall(r"loop.kernel @(\w+)", shown)
    assert model.show("schedule", kernel=name).count("schedule.sequence") == 1


def test_levels_and_kernels_that_there_are_not(model: tw.Module):
    with pytest.raises(tw.UsageError, match="no level 'lop'; did you mean 'loop'.*; the levels are model, graph, te"):
        model.show("lop")
    no_text: Any = 3
    with pytest.raises(tw.UsageError, match='a level is a text such as "te", not a value of type int'):
        model.show(no_text)
    with pytest.raises(tw.UsageError, match="there is no kernel 'conv'.*; there are "):
        model.show("te", kernel="conv")


def test_a_model_that_is_given_as_kernels_has_the_levels_below(tmp_path: Path):
    source, path = ROOT / "examples" / "dense_relu" / "dense_relu.mlir", tmp_path / "kernels.mlir"
    assert opt_tool.main([str(source), "--target=llvm", "-p", "optimize-graph,lower-to-te", "-o", str(path)]) == 0
    weight = RNG.standard_normal((32, 64)).astype(np.float32)
    model = tw.compile(path, parameters={"w": weight})
    assert "te.kernel" in model.show("te") and "loop.kernel" in model.show("loop")
    with pytest.raises(tw.UsageError, match="no level 'graph' of this model: it was given as kernels, at te or below"):
        model.show("graph")
    model.save(tmp_path / "model.tw", compact=True)
    x = RNG.standard_normal((6, 64)).astype(np.float32)
    assert np.array_equal(tw.load(tmp_path / "model.tw")(x), model(x))


def test_what_is_shown_is_itself_and_has_colours(model: tw.Module):
    shown = model.show("te")
    assert repr(shown) == str(shown) and shown.startswith("builtin.module")
    html = shown._repr_html_()
    assert ">te.compute</span>" in html and html.startswith("<pre") and "<" not in html.replace("<", "", 1)[:3]


def test_te_schedules_and_loops_show_themselves_in_notebooks():
    a = te.placeholder((8,), name="a")
    b = te.compute((8,), lambda i: a[i] + 1, name="b")
    s = te.create_schedule(b.op)
    assert ">te.compute</span>" in s._repr_html_()
    assert ">loop.for</span>" in tw.lower(s, [a, b], simple_mode=True)._repr_html_()


def test_a_function_is_pickled():
    a = te.placeholder((8,), name="a")
    b = te.compute((8,), lambda i: a[i] + 1, name="b")
    function = pickle.loads(pickle.dumps(tw.build(te.create_schedule(b.op), [a, b])))
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    function(x, y)
    assert y.tolist() == [2] * 8


def test_a_pickled_model_still_shows_its_levels(model: tw.Module):
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(X), model(X)) and again.show("te") == model.show("te")


def test_a_compact_artefact_holds_the_weights_as_they_were(model: tw.Module, tmp_path: Path):
    model.save(tmp_path / "full.tw")
    model.save(tmp_path / "compact.tw", compact=True)
    loaded = tw.load(tmp_path / "compact.tw")
    assert np.array_equal(loaded(X), model(X))
    assert [array.nbytes for array in loaded.source.weights().values()] == [WEIGHT.nbytes]
    loaded.save(tmp_path / "again.tw", compact=True)
    assert (tmp_path / "again.tw").stat().st_size == (tmp_path / "compact.tw").stat().st_size


def test_an_artefact_with_prepared_weights_cannot_be_made_compact(model: tw.Module):
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    with pytest.raises(tw.TileworkError, match="loaded from an artefact that is not compact; compile the model again"):
        tw.load(file).save(io.BytesIO(), compact=True)


def test_a_model_that_has_changed_meanwhile_is_noticed(tmp_path: Path):
    path = tmp_path / "model.onnx"
    onnx.save(dense_model(), path)
    compiled = tw.compile(path)
    onnx.save(dense_model(WEIGHT + 1), path)
    with pytest.raises(tw.TileworkError, match="the model has changed since it was compiled: compile it again"):
        compiled.save(tmp_path / "model.tw", compact=True)


def test_a_model_is_compiled_from_an_open_file(model: tw.Module):
    assert np.array_equal(tw.compile(io.BytesIO(dense_model().SerializeToString()))(X), model(X))
    with pytest.raises(tw.UsageError, match="the model's file is open for text: open it with 'rb'"):
        tw.compile(io.StringIO("model"))


def test_the_phases_are_logged(caplog: pytest.LogCaptureFixture):
    told: list[str] = []
    with caplog.at_level(logging.INFO, "tilework"):
        tw.compile(dense_model(), progress=lambda phase, done, total: told.append(phase))
    assert {record.name for record in caplog.records} == {"tilework"}
    assert "phase kernels begins: " in caplog.text and "compiled 1 kernels, " in caplog.text and "kernels" in told


def test_tensors_of_torch_are_taken(model: tw.Module):
    torch = pytest.importorskip("torch")
    assert np.array_equal(model(torch.from_numpy(X)), model(X))
    assert np.array_equal(model(x=torch.from_numpy(X)), model(X))
    with pytest.raises(tw.UsageError, match="input 'x' cannot be read through DLPack: .*grad"):
        model(torch.from_numpy(X).requires_grad_())
