"""Recurrent layers as scans: of many and of unknown many steps, of sequences of different lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tilework as tw
from tilework.dialects.graph import ScanOp
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

Array = np.ndarray[Any, Any]

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def layer(
    op: str,
    steps: int | str,
    batch: int | str,
    direction: str = "forward",
    layout: int = 0,
    lengths: Array | str | None = None,
    first: bool = False,
    **attributes: Any,
) -> onnx.ModelProto:
    """Vectors of 4 numbers, a state of 5. lengths: of the sequences, known or the name of an input; first: states are
    given."""
    rows, count = GATES[op], DIRECTIONS[direction]
    known = {
        "w": numbers(count, rows * 5, 4, seed=1),
        "r": numbers(count, rows * 5, 5, seed=2),
        "b": numbers(count, rows * 10, seed=3),
    }
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, steps, 4] if layout else [steps, batch, 4])]
    names = ["x", "w", "r", "b", "lengths" if lengths is not None else ""]
    if isinstance(lengths, str):
        inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, [batch]))
    elif lengths is not None:
        known["lengths"] = lengths
    for name in ("h", "c")[: len(states_of(op)) if first else 0]:
        names.append(name)
        shape = [batch, count, 5] if layout else [count, batch, 5]
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    if layout:
        attributes["layout"] = layout
    outputs = ["y", *states_of(op)]
    node = helper.make_node(op, names, outputs, hidden_size=5, direction=direction, **attributes)
    graph = helper.make_graph(
        [node],
        op,
        inputs,
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in known.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def states_of(op: str) -> list[str]:
    return ["end_h", "end_c"] if op == "LSTM" else ["end_h"]


def check(
    made: onnx.ModelProto, feeds: dict[str, Array], cache: KernelCache, wanted: Sequence[Array] | None = None
) -> None:
    """Interpreted and compiled, the model, which has scans, computes `wanted`, or what onnx's evaluator does."""
    expected = ReferenceEvaluator(made).run(None, feeds) if wanted is None else wanted
    imported = import_onnx(made)
    assert any(isinstance(op, ScanOp) for op in imported.module.walk())
    interpreted = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
    compiled = tw.compile(made, cache=cache).run(feeds).values()
    for array, *results in zip(expected, interpreted, compiled, strict=True):
        for result in results:
            assert result.dtype == array.dtype and result.shape == array.shape
            np.testing.assert_allclose(result, array, rtol=1e-4, atol=1e-5)


def one_by_one(op: str, x: Array, lengths: Sequence[int], direction: str) -> list[Array]:
    """What a layer makes of each sequence alone, one behind the other; outputs behind the end of one are 0."""
    y = np.zeros((len(x), DIRECTIONS[direction], x.shape[1], 5), np.float32)
    ends = [np.zeros(y.shape[1:], np.float32) for _ in states_of(op)]
    for i, length in enumerate(lengths):
        if length:
            evaluator = ReferenceEvaluator(layer(op, length, 1, direction))
            y[:length, :, i : i + 1], *last = evaluator.run(None, {"x": x[:length, i : i + 1]})
            for end, state in zip(ends, last, strict=True):
                end[:, i : i + 1] = state
    return [y, *ends]


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_layer_of_many_steps(op: str, direction: str, cache: KernelCache):
    check(layer(op, 17, 2, direction), {"x": numbers(17, 2, 4)}, cache)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_layer_of_unknown_many_steps(op: str, direction: str, cache: KernelCache):
    made = layer(op, "T", "N", direction)
    check(made, {"x": numbers(5, 3, 4)}, cache)
    check(made, {"x": numbers(1, 1, 4)}, cache)


def test_no_steps_leave_the_states(cache: KernelCache):
    h, c = numbers(1, 2, 5, seed=4), numbers(1, 2, 5, seed=5)
    feeds = {"x": numbers(0, 2, 4), "h": h, "c": c}
    check(layer("LSTM", "T", 2, first=True), feeds, cache, [np.zeros((0, 1, 2, 5), np.float32), h, c])


@pytest.mark.parametrize("op", ["GRU", "LSTM"])
def test_given_states(op: str, cache: KernelCache):
    states = {name: numbers(2, 3, 5, seed=6) for name in ("h", "c")[: len(states_of(op))]}
    check(layer(op, "T", "N", "bidirectional", first=True), {"x": numbers(4, 3, 4), **states}, cache)


@pytest.mark.parametrize("op", GATES)
def test_the_batch_as_the_first_axis(op: str, cache: KernelCache):
    """The same with the axes exchanged."""
    x, h = numbers(4, 3, 4), numbers(1, 3, 5, seed=4)
    states = {name: h for name in ("h", "c")[: len(states_of(op))]}
    y, *ends = ReferenceEvaluator(layer(op, 4, 3, first=True)).run(None, {"x": x, **states})
    feeds = {"x": x.swapaxes(0, 1), **{name: state.swapaxes(0, 1) for name, state in states.items()}}
    wanted = [y.transpose(2, 0, 1, 3), *(end.swapaxes(0, 1) for end in ends)]
    check(layer(op, "T", "N", layout=1, first=True), feeds, cache, wanted)


def test_a_reset_gate_behind_the_product(cache: KernelCache):
    check(layer("GRU", "T", 2, linear_before_reset=1), {"x": numbers(4, 2, 4)}, cache)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("steps", [4, "T"])
def test_sequences_of_different_lengths(op: str, direction: str, steps: int | str, cache: KernelCache):
    """Known when the model is run; each begins, or ends, where it is as long as it is."""
    x, lengths = numbers(4, 3, 4), [4, 2, 3]
    feeds = {"x": x, "lengths": np.array(lengths, np.int32)}
    check(layer(op, steps, "N", direction, lengths="lengths"), feeds, cache, one_by_one(op, x, lengths, direction))


def test_sequences_of_lengths_that_are_known(cache: KernelCache):
    """One of them has no step at all."""
    x, lengths = numbers(4, 3, 4), [1, 0, 4]
    made = layer("LSTM", 4, 3, lengths=np.array(lengths, np.int32))
    check(made, {"x": x}, cache, one_by_one("LSTM", x, lengths, "forward"))


def test_lengths_that_are_all_the_number_of_steps_change_nothing():
    imported = import_onnx(layer("GRU", 3, 2, lengths=np.array([3, 3], np.int32)))
    assert not any(isinstance(op, ScanOp) for op in imported.module.walk())


def test_each_direction_is_a_scan_of_its_own():
    imported = import_onnx(layer("LSTM", "T", "N", "bidirectional"))
    scans = [op for op in imported.module.walk() if isinstance(op, ScanOp)]
    assert [scan.reverse is not None for scan in scans] == [False, True]
