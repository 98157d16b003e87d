"""Tensors some of whose elements are replaced, compiled and of open sizes; all kinds are in the node tests."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import Array, model, node, refusal

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(3)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def numbers(*shape: int) -> Array:
    return RANDOM.integers(-9, 10, shape).astype(np.float32)


def check(made, cache, *cases):
    imported, module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    for arrays, expected in cases:
        [interpreted] = run_function(imported.module, "main", arrays, imported.parameters)
        for result in (interpreted, module(*arrays)):
            np.testing.assert_array_equal(result, expected)


def at_rows(x: Array, i: Array, u: Array) -> Array:
    y = x.copy()
    for row, place in enumerate(i[:, 0]):
        y[place] = u[row]
    return y


def test_rows_of_open_numbers(cache: KernelCache):
    """The last update counts of a row that is named twice, and from the end, too."""
    made = model([node("ScatterND", "x i u", "y")], {"x": ["N", 5], "i": ["M", 1], "u": ["M", 5]}, "y", opset=18)
    cases = []
    for rows, places in ((4, [2]), (7, [3, 0, 3]), (1, [0, -1]), (6, [-1, -6, 5])):
        x, i, u = numbers(rows, 5), np.array(places, np.int64).reshape(-1, 1), numbers(len(places), 5)
        cases.append(([x, i, u], at_rows(x, i, u)))
    check(made, cache, *cases)


def test_new_keys_of_a_cache(cache: KernelCache):
    """The cache has a length that is open, and the place is given when it runs."""
    made = model(
        [node("TensorScatter", "x u i", "y", axis=2)],
        {"x": ["B", 2, "S", 4], "u": ["B", 2, "L", 4], "i": ["B"]},
        "y",
        opset=24,
    )
    cases = []
    for batch, length, new, places in ((1, 8, 1, [5]), (2, 8, 3, [0, 5]), (3, 1, 1, [0, 0, 0])):
        x, u = numbers(batch, 2, length, 4), numbers(batch, 2, new, 4)
        y = x.copy()
        for b, place in enumerate(places):
            y[b, :, place : place + new] = u[b]
        cases.append(([x, u, np.array(places)], y))
    check(made, cache, *cases)


@pytest.mark.parametrize(("reduction", "combine"), [("add", np.add), ("mul", np.multiply), ("max", np.maximum)])
def test_combined_along_an_axis_that_is_reached_in_part(reduction: str, combine: np.ufunc, cache: KernelCache):
    """Updates stand at their own places along the other axes, which they need not fill."""
    made = model(
        [node("ScatterElements", "x i u", "y", axis=1, reduction=reduction)],
        {"x": [3, "N", 4], "i": [2, "M", 3], "u": [2, "M", 3]},
        "y",
        opset=18,
    )
    cases = []
    for extent, count in ((5, 2), (2, 7), (1, 1)):
        x, u, i = numbers(3, extent, 4), numbers(2, count, 3), RANDOM.integers(-extent, extent, (2, count, 3))
        y = x.copy()
        for a, b, c in np.ndindex(*i.shape):
            y[a, i[a, b, c], c] = combine(y[a, i[a, b, c], c], u[a, b, c])
        cases.append(([x, i, u], y))
    check(made, cache, *cases)


def test_no_updates(cache: KernelCache):
    x = numbers(3, 5)
    nothing = [np.zeros((0, 1), np.int64), np.zeros((0, 5), np.float32)]
    check(
        model([node("ScatterND", "x i u", "y")], {"x": [3, 5], "i": [0, 1], "u": [0, 5]}, "y", opset=18),
        cache,
        ([x, *nothing], x),
    )
    along = [np.zeros((3, 0), np.int64), np.zeros((3, 0), np.float32)]
    made = model(
        [node("ScatterElements", "x i u", "y", axis=1)], {"x": [3, 5], "i": [3, 0], "u": [3, 0]}, "y", opset=18
    )
    check(made, cache, ([x, *along], x))
    made = model([node("ScatterND", "x i u", "y")], {"x": [3, 5], "i": ["M", 1], "u": ["M", 5]}, "y", opset=18)
    check(made, cache, ([x, *nothing], x))


def test_refusals():
    open_rows = {"x": ["N", 5], "i": ["M", 1], "u": [2, 4]}
    assert "the updates are of" in refusal(model([node("ScatterND", "x i u", "y")], open_rows, "y", opset=18))
    longer = {"x": [3, 4], "i": [3, 5], "u": [3, 5]}
    message = refusal(model([node("ScatterElements", "x i u", "y")], longer, "y", opset=18))
    assert "5 updates do not fit 4 along axis 1" in message
