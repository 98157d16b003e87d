"""Data that choose elements which are not there: such a call is refused, as onnxruntime refuses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnx_models import Array, graph, model, node, numbers, refusal

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


class Checker:
    """A model, interpreted and compiled, beside onnxruntime."""

    def __init__(self, made: onnx.ModelProto, cache: KernelCache):
        self.imported, self.module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"])

    def runs(self, feeds: Mapping[str, Array]) -> None:
        """All three give the same."""
        expected = self.session.run(None, dict(feeds))
        interpreted = run_function(self.imported.module, "main", [*feeds.values()], self.imported.parameters)
        for found in (interpreted, self.module.run(feeds).values()):
            for array, wanted in zip(found, expected, strict=True):
                np.testing.assert_array_equal(array, wanted)

    def refuses(self, feeds: Mapping[str, Array], message: str) -> None:
        """All three refuse; we with this message."""
        with pytest.raises(Exception):  # noqa: B017  onnxruntime has several
            self.session.run(None, dict(feeds))
        with pytest.raises(TileworkError) as caught:
            run_function(self.imported.module, "main", [*feeds.values()], self.imported.parameters)
        assert str(caught.value) == message
        for _ in range(3):  # calls like the last ones take another way
            with pytest.raises(TileworkError) as caught:
                self.module.run(feeds)
            assert str(caught.value) == message


X = numbers(5, 4)


def indices(*values: Any, dtype: Any = np.int64) -> Array:
    return np.array(values, dtype)


CASES: list[tuple[onnx.NodeProto, Mapping[str, Sequence[int | str]], Sequence[Array], Sequence[Array], str]] = [
    (
        node("Gather", "x i", "y", name="n"),
        {"x": [5, 4], "i": [3]},
        [indices(0, 4, -5)],
        [indices(0, 5, 1), indices(-6, 0, 0)],
        "an index into axis 0 of size 5 is not within [-5, 4]",
    ),
    (
        node("Gather", "x i", "y", name="n", axis=1),
        {"x": ["N", "M"], "i": ["K", "L"]},
        [indices([0, 3], [-4, 1])],
        [indices([0, 4]), indices([-5], [0], [0])],
        "an index into axis 1 of size M is not within [-M, M - 1]",
    ),
    (
        node("GatherElements", "x i", "y", name="n", axis=1),
        {"x": [5, 4], "i": [5, 1]},
        [indices([3], [-4], [0], [1], [2])],
        [indices([3], [4], [0], [1], [2]), indices([3], [-5], [0], [1], [2])],
        "an index into axis 1 of size 4 is not within [-4, 3]",
    ),
    (
        node("GatherND", "x i", "y", name="n"),
        {"x": [5, 4], "i": [2, 2]},
        [indices([4, 3], [-5, -4])],
        [indices([4, 3], [0, 4]), indices([0, -5], [0, 0]), indices([5, 0], [0, 0]), indices([0, 0], [-6, 0])],
        "an index into axis 0 of size 5 is not within [-5, 4], or one into axis 1 of size 4 is not within [-4, 3]",
    ),
    (
        node("GatherND", "x i", "y", name="n", batch_dims=1),
        {"x": ["N", 4], "i": ["N", 1]},
        [indices([3], [0], [-4], [1], [2])],
        [indices([3], [0], [-5], [1], [2])],
        "an index into axis 1 of size 4 is not within [-4, 3]",
    ),
    (
        node("ScatterElements", "x i u", "y", name="n"),
        {"x": [5, 4], "i": [1, 4], "u": [1, 4]},
        [indices([0, 4, -5, 1])],
        [indices([0, 5, 0, 0]), indices([0, 0, -6, 0])],
        "an index into axis 0 of size 5 is not within [-5, 4]",
    ),
    (
        node("ScatterND", "x i u", "y", name="n"),
        {"x": [5, 4], "i": [1, 1], "u": [1, 4]},
        [indices([-5])],
        [indices([5]), indices([-6])],
        "an index into axis 0 of size 5 is not within [-5, 4]",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].op_type}{case[1]}")
def test_each_operator(case: Any, cache: KernelCache):
    operator, inputs, right, wrong, message = case
    checker = Checker(model([operator], inputs, "y", opset=18), cache)
    others = {"u": numbers(1, 4, seed=1)} if "u" in inputs else {}
    for i in right:
        checker.runs({"x": X, "i": i, **others})
    for i in wrong:
        checker.refuses({"x": X, "i": i, **others}, f"{operator.op_type} 'n': {message}")
    checker.runs({"x": X, "i": right[0], **others})  # as if nothing had been


def test_indices_of_32_bits(cache: KernelCache):
    made = model([node("Gather", "x i", "y", name="n")], {"x": [5, 4], "i": [2]}, "y")
    made.graph.input[1].type.tensor_type.elem_type = onnx.TensorProto.INT32
    checker = Checker(made, cache)
    checker.runs({"x": X, "i": indices(4, -5, dtype=np.int32)})
    checker.refuses(
        {"x": X, "i": indices(0, -(2**31), dtype=np.int32)},
        "Gather 'n': an index into axis 0 of size 5 is not within [-5, 4]",
    )


def test_indices_that_the_model_computes(cache: KernelCache):
    nodes = [
        node("ArgMax", "x", "best", axis=1, keepdims=0),
        node("Mul", "best two", "twice"),
        node("Gather", "x twice", "y", name="n"),
    ]
    checker = Checker(model(nodes, {"x": ["N", 4]}, "y", {"two": np.array(2)}), cache)
    low, high = np.zeros((5, 4), np.float32), np.zeros((5, 4), np.float32)
    low[:, 2], high[:, 3] = 1, 1
    checker.runs({"x": low})
    checker.refuses({"x": high}, "Gather 'n': an index into axis 0 of size N is not within [-N, N - 1]")


def test_no_indices_at_all(cache: KernelCache):
    checker = Checker(model([node("Gather", "x i", "y", name="n")], {"x": ["N", 4], "i": ["K"]}, "y"), cache)
    checker.runs({"x": X, "i": indices()})
    checker.refuses({"x": X, "i": indices(7)}, "Gather 'n': an index into axis 0 of size N is not within [-N, N - 1]")


def test_several_of_which_one_is_wrong(cache: KernelCache):
    nodes = [node("Gather", "x i1", "y", name="first"), node("Gather", "y i2", "z", name="second", axis=1)]
    checker = Checker(model(nodes, {"x": [5, 4], "i1": [2], "i2": [3]}, "y z"), cache)
    good, bad = {"i1": indices(0, 4), "i2": indices(0, 3, -4)}, {"i1": indices(0, 5), "i2": indices(0, 4, 0)}
    checker.runs({"x": X, **good})
    first = "Gather 'first': an index into axis 0 of size 5 is not within [-5, 4]"
    checker.refuses({"x": X, **good, "i1": bad["i1"]}, first)
    checker.refuses(
        {"x": X, **good, "i2": bad["i2"]}, "Gather 'second': an index into axis 1 of size 4 is not within [-4, 3]"
    )
    checker.refuses({"x": X, **bad}, first)


def test_in_the_branch_that_is_taken_only(cache: KernelCache):
    branches = [graph([node("Gather", f"x i{n}", n, name=f"in {n}")], {}, n) for n in "ab"]
    made = model(
        [node("If", "c", "y", then_branch=branches[0], else_branch=branches[1])],
        {"c": [], "x": [5, 4], "ia": [2], "ib": [2]},
        "y",
    )
    checker = Checker(made, cache)
    for taken, right, wrong in ((True, "a", "b"), (False, "b", "a")):
        feeds = {"c": np.array(taken), "x": X, "ia": indices(0, 1), "ib": indices(0, 1)}
        checker.runs({**feeds, f"i{wrong}": indices(0, 9)})
        checker.refuses(
            {**feeds, f"i{right}": indices(0, 9)},
            f"Gather 'in {right}': an index into axis 0 of size 5 is not within [-5, 4]",
        )


def in_body(steps: int) -> onnx.ModelProto:
    """A loop that takes one row after the other, from one that is given on."""
    infos = [
        helper.make_tensor_value_info(*given)
        for given in (
            ("n", onnx.TensorProto.INT64, []),
            ("go", onnx.TensorProto.BOOL, []),
            ("i", onnx.TensorProto.INT64, []),
        )
    ]
    nodes = [node("Identity", "go", "on"), node("Gather", "x i", "row", name="n"), node("Add", "i one", "next")]
    body = helper.make_graph(
        nodes, "body", infos, [helper.make_empty_tensor_value_info(n) for n in ("on", "next", "row")]
    )
    loop = node("Loop", "count  i0", "end rows", body=body)
    return model([loop], {"x": ["N", 4], "i0": []}, "end rows", {"count": np.array(steps), "one": np.array(1)})


@pytest.mark.parametrize("steps", [3, 20])
def test_in_steps(steps: int, cache: KernelCache):
    """Few of which are unrolled, and many a loop."""
    checker = Checker(in_body(steps), cache)
    x = numbers(24, 4)
    checker.runs({"x": x, "i0": np.array(24 - steps)})
    checker.refuses(
        {"x": x, "i0": np.array(24 - steps + 1)}, "Gather 'n': an index into axis 0 of size N is not within [-N, N - 1]"
    )


def test_a_saved_model(cache: KernelCache, tmp_path: Path):
    made = model([node("Gather", "x i", "y", name="n")], {"x": [5, 4], "i": [2]}, "y")
    tw.compile(made, cache=cache, processes=1).save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    np.testing.assert_array_equal(loaded(X, indices(3, -1)), X[[3, -1]])
    with pytest.raises(TileworkError, match="an index into axis 0 of size 5 is not within"):
        loaded(X, indices(3, -6))


def test_embedded_words(cache: KernelCache):
    """An operator that is defined by others."""
    made = model(
        [node("EmbedLayerNormalization", "i  words places  scale bias", "y mask", domain="com.microsoft")],
        {"i": [1, 3]},
        "y",
        {
            "words": numbers(7, 4),
            "places": numbers(3, 4),
            "scale": np.ones(4, np.float32),
            "bias": np.zeros(4, np.float32),
        },
    )
    made.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    module = tw.compile(made, cache=cache, processes=1)
    assert module(np.array([[0, 6, 3]], np.int32)).shape == (1, 3, 4)
    with pytest.raises(TileworkError, match=r"an index into axis 0 of size 7 is not within \[-7, 6\]"):
        module(np.array([[0, 7, 3]], np.int32))


@pytest.mark.parametrize(
    ("operator", "constants"),
    [
        (node("Gather", "x at", "y"), {"at": indices(0, 5)}),
        (node("GatherElements", "x at", "y"), {"at": indices([0, -6, 0, 0])}),
        (node("GatherND", "x at", "y"), {"at": indices([5])}),
        (node("ScatterElements", "x at u", "y"), {"at": indices([0, 5, 0, 0]), "u": numbers(1, 4)}),
        (node("ScatterND", "x at u", "y"), {"at": indices([-6]), "u": numbers(1, 4)}),
    ],
)
def test_known_indices(operator: onnx.NodeProto, constants: Mapping[str, Array]):
    """They are looked at when the model is imported, and ask for nothing when it runs."""
    assert "axis 0 of size 5 has no element" in refusal(model([operator], {"x": [5, 4]}, "y", constants, opset=18))
    right = {**constants, "at": np.zeros_like(constants["at"])}
    text = str(import_onnx(model([operator], {"x": [5, 4]}, "y", right, opset=18)).module)
    assert "must_hold" not in text


def test_known_indices_of_a_size_that_is_open(cache: KernelCache):
    made = model([node("Gather", "x at", "y", name="n")], {"x": ["N", 4]}, "y", {"at": indices(0, 3)})
    checker = Checker(made, cache)
    checker.runs({"x": X})
    checker.refuses({"x": X[:3]}, "Gather 'n': an index into axis 0 of size N is not within [-N, N - 1]")
    for ends in (indices(0), indices(-1), indices(0, -1)):  # which there are for every size
        text = str(import_onnx(model([node("Gather", "x at", "y")], {"x": ["N", 4]}, "y", {"at": ends})).module)
        assert "must_hold" not in text


def test_one_hot_has_no_wrong_numbers(cache: KernelCache):
    """Where it is out of range, a row is off."""
    nodes = [node("OneHot", "i depth values", "y")]
    made = model(nodes, {"i": [6]}, "y", {"depth": np.array(4), "values": np.array([0, 1], np.float32)})
    Checker(made, cache).runs({"i": indices(0, 3, -1, -4, 4, -5)})
