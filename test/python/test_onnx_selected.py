"""The largest elements of an axis, compiled and of open sizes; more kinds are in the node tests of the standard."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import model, node, refusal

import tilework as tw
from tilework.backends.cache import KernelCache
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function

RANDOM = np.random.default_rng(5)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("largest", [1, 0])
def test_in_order_and_of_equal_ones_the_first(largest: int, cache: KernelCache):
    """Infinite ones are taken as others are; every element, too, if so many are asked for."""
    attributes = {"axis": 1, "largest": largest}
    made = model([node("TopK", "x k", "values indices", **attributes)], {"x": ["N", 17]}, "values indices", {"k": [17]})
    imported, module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    for rows in (1, 5, 70):
        x = RANDOM.integers(-3, 4, (rows, 17)).astype(np.float32)
        x[:, 3], x[0, 4], x[-1, 5] = -np.inf, -np.inf, np.inf
        order = np.argsort(-x if largest else x, axis=1, kind="stable")
        for values, indices in (run_function(imported.module, "main", [x], imported.parameters), module(x)):
            np.testing.assert_array_equal(indices, order)
            np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


def test_refusals():
    wide = model([node("TopK", "x k", "v i")], {"x": [2, 3]}, "v i", {"k": [4]})
    assert "4 of 3 elements along axis 1 are not chosen" in refusal(wide)
    open_axis = model([node("TopK", "x k", "v i")], {"x": [2, "N"]}, "v i", {"k": [1]})
    assert "axis 1 has size N" in refusal(open_axis)
    computed = model([node("TopK", "x i", "v j")], {"x": [2, 3], "i": [1]}, "v j")
    assert "its k is computed from data" in refusal(computed)
