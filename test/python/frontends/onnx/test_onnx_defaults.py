"""Initializers that a model lists among its inputs, too: defaults, which callers may replace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnx_defaults import DEFAULTS, NETWORK, with_defaults
from onnx_models import Array, graph, node, numbers

import tilework as tw
from tilework.algebra.errors import UsageError
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def network() -> onnx.ModelProto:
    return with_defaults(NETWORK, ["n", 3, 8, 8], DEFAULTS)


@pytest.fixture(scope="module")
def compiled(network: onnx.ModelProto, cache: KernelCache) -> tw.Module:
    return tw.compile(network, cache=cache, processes=1)


GIVEN: list[dict[str, Array]] = [
    {},
    {"w": DEFAULTS["w"] * 2},
    {"d": DEFAULTS["d"] + 1, "s": np.array(3, np.float32)},
    {"b": DEFAULTS["b"] * 0, "w": DEFAULTS["w"] * 3, "d": DEFAULTS["d"] * 2, "s": np.array(-1, np.float32)},
    {},
]


@pytest.mark.parametrize("saved", [False, True])
def test_each_call_may_replace_some(network: onnx.ModelProto, compiled: tw.Module, saved: bool, tmp_path: Path):
    module = compiled
    if saved:
        compiled.save(tmp_path / "m.tw")
        module = tw.load(tmp_path / "m.tw")
    session = onnxruntime.InferenceSession(network.SerializeToString())
    x = numbers(2, 3, 8, 8, seed=3)
    for given in GIVEN:
        (wanted,) = session.run(None, {"x": x, **given})
        np.testing.assert_allclose(module.run({"x": x, **given})["y"], wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(module(x), module.run({"x": x})["y"])


def test_an_array_that_changes_between_two_calls(compiled: tw.Module):
    x, scale = numbers(1, 3, 8, 8), np.array(1, np.float32)
    first = compiled.run({"x": x, "s": scale})["y"]
    scale[...] = 5
    np.testing.assert_allclose(compiled.run({"x": x, "s": scale})["y"], 5 * first, rtol=1e-5)


def test_the_module_tells_them(compiled: tw.Module):
    assert [(spec.name, spec.shape) for spec in compiled.inputs] == [
        ("x", ("n", 3, 8, 8)),
        ("w", (8, 3, 3, 3)),
        ("b", (8,)),
        ("d", (8, 10)),
        ("s", ()),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"w": DEFAULTS["w"][:4]}, r"input 'w' has shape \(4, 3, 3, 3\): it must be \(8, 3, 3, 3\), as its default is"),
        ({"w": DEFAULTS["w"].astype(np.float64)}, "input 'w' is float64, the module takes float32"),
        ({"q": DEFAULTS["w"]}, r"'q' is unknown: .* w: float32 \(8, 3, 3, 3\) with a default"),
    ],
)
def test_what_does_not_fit(compiled: tw.Module, given: dict[str, Array], message: str):
    with pytest.raises(UsageError, match=message):
        compiled.run({"x": numbers(1, 3, 8, 8), **given})


def test_numbers_that_decide_shapes_stay_what_they_are(cache: KernelCache):
    """onnxruntime takes others; here shapes are decided when the model is compiled."""
    made = with_defaults([node("Reshape", "x s", "y")], ["n", 4], {"s": np.array([-1, 2])})
    module = tw.compile(made, cache=cache, processes=1)
    x = numbers(3, 4)
    assert module.run({"x": x})["y"].shape == module.run({"x": x, "s": np.array([-1, 2])})["y"].shape == (6, 2)
    with pytest.raises(UsageError, match="input 's' must be as its default, for which the module is compiled"):
        module.run({"x": x, "s": np.array([-1, 4])})


def test_one_that_decides_about_a_shape_and_is_data(cache: KernelCache):
    """What is computed from it stays as it is with it."""
    nodes = [node("Expand", "x s", "e"), node("Cast", "s", "f", to=1), node("Add", "e f", "y")]
    module = tw.compile(with_defaults(nodes, [1, 2], {"s": np.array([3, 2])}), cache=cache, processes=1)
    np.testing.assert_array_equal(module(np.zeros((1, 2), np.float32)), [[3, 2]] * 3)
    with pytest.raises(UsageError, match="input 's' must be as its default"):
        module.run({"x": np.zeros((1, 2), np.float32), "s": np.array([2, 2])})


def test_ir_3_lists_all_initializers_as_inputs(cache: KernelCache):
    module = tw.compile(with_defaults([node("Mul", "x w", "y")], ["n", 3], {"w": numbers(3)}, 3), cache=cache)
    assert [spec.name for spec in module.inputs] == ["x"]


def test_a_module_of_defaults_only(cache: KernelCache):
    made = with_defaults([node("Mul", "a b", "y")], [1], {"a": numbers(3), "b": numbers(3, seed=1)})
    del made.graph.input[0]
    module = tw.compile(made, cache=cache, processes=1)
    np.testing.assert_allclose(module.run({})["y"], numbers(3) * numbers(3, seed=1))
    np.testing.assert_allclose(module.run({"b": np.arange(3, dtype=np.float32)})["y"], numbers(3) * np.arange(3))


def test_what_only_has_defaults_given_needs_no_compiler_until_then(compiled: tw.Module, tmp_path: Path):
    compiled.save(tmp_path / "m.tw")
    program = f"""
import sys, numpy, tilework
tilework.load({str(tmp_path / "m.tw")!r})(numpy.ones((1, 3, 8, 8), numpy.float32))
assert "xdsl" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


STEP = graph(
    [node("Add", "s w", "n"), node("Identity", "n", "o"), node("Identity", "c", "still")],
    {"i": [], "c": [], "s": [4]},
    "still n o",
)

WEIGHTS = {"w": numbers(1, 16, 3), "r": numbers(1, 16, 4), "b": numbers(1, 32)}
NORM = {name: np.abs(numbers(3, seed=i)) for i, name in enumerate("sbmv")}

KINDS: dict[str, tuple[onnx.ModelProto, Array, dict[str, Array]]] = {
    "a norm that is folded into weights": (
        with_defaults(
            [node("Conv", "x w", "c"), node("BatchNormalization", "c s b m v", "y")],
            ["n", 2, 5, 5],
            {"w": numbers(3, 2, 3, 3), **NORM},
        ),
        numbers(2, 2, 5, 5),
        {"v": NORM["v"] * 3, "m": NORM["m"] + 1},
    ),
    "weights of steps": (
        with_defaults([node("LSTM", "x w r b", "y", hidden_size=4)], [5, "n", 3], WEIGHTS),
        numbers(5, 2, 3),
        {"r": WEIGHTS["r"] * 2},
    ),
    "read by the body of a loop": (
        with_defaults(
            [
                node("Constant", "", "k", value_int=20),
                helper.make_node("Loop", ["k", "", "x"], ["end", "steps"], body=STEP),
                node("Add", "steps end", "y"),
            ],
            [4],
            {"w": numbers(4)},
        ),
        numbers(4, seed=1),
        {"w": numbers(4, seed=2)},
    ),
    "positions": (
        with_defaults([node("Gather", "x i", "y")], ["n", 4], {"i": np.array([0, 1])}),
        numbers(3, 4),
        {"i": np.array([-1, 2])},
    ),
    "a number that bytes stand for": (
        with_defaults(
            [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "y")],
            ["n", 4],
            {"s": np.array(0.1, np.float32), "z": np.array(3, np.int8)},
        ),
        numbers(3, 4),
        {"s": np.array(0.25, np.float32)},
    ),
    "bounds of which one is left": (
        with_defaults(
            [node("Clip", "x low high", "y")],
            ["n", 4],
            {"low": np.array(-0.5, np.float32), "high": np.array(0.5, np.float32)},
        ),
        numbers(3, 4),
        {"low": np.array(0, np.float32)},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_computed_from_them_is_computed_anew(kind: str, cache: KernelCache):
    made, x, given = KINDS[kind]
    module = tw.compile(made, cache=cache, processes=1)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    for feeds in ({"x": x}, {"x": x, **given}):
        (wanted,) = session.run(["y"], feeds)
        np.testing.assert_allclose(module.run(feeds)["y"], wanted, rtol=1e-5, atol=1e-5)
