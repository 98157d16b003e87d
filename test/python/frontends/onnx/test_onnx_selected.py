"""The largest elements of an axis, compiled and of open sizes; more kinds are in the node tests of the standard."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import check, model, node, refusal

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

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


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_along_any_axis(axis: int, k: int, cache: KernelCache):
    """NaN is larger than every number, and each index is one of the axis; of the results, one may not be asked for."""
    x = RANDOM.permutation(150).reshape(5, 6, 5).astype(np.float32)
    x[RANDOM.integers(0, 2, x.shape) > 0] = np.nan
    order = np.argsort(-np.nan_to_num(x, nan=np.inf), axis, kind="stable").take(range(k), axis)
    values = np.take_along_axis(x, order, axis)
    for outputs, wanted in (("v i", [values, order]), ("i", [order]), ("v", [values])):
        made = model([node("TopK", "x k", "v i", axis=axis)], {"x": [5, 6, 5]}, outputs, {"k": [k]})
        check(made, {"x": x}, cache, wanted)


def test_rows_that_several_threads_share(cache: KernelCache):
    x = RANDOM.standard_normal((300, 200)).astype(np.float32)
    made = model([node("TopK", "x k", "v i")], {"x": [300, 200]}, "v i", {"k": [20]})
    order = np.argsort(-x, 1)[:, :20]
    check(made, {"x": x}, cache, [np.take_along_axis(x, order, 1), order])


def test_along_an_axis_of_open_size(cache: KernelCache):
    """Where it has too few elements, the call is refused."""
    made = model([node("TopK", "x k", "v i", axis=0)], {"x": ["N", "M"]}, "v i", {"k": [3]})
    module = tw.compile(made, cache=cache)
    for shape in ((3, 1), (4, 20), (100, 3)):
        x = RANDOM.integers(-9, 9, shape).astype(np.float32)
        order = np.argsort(-x, 0, kind="stable")[:3]
        check(made, {"x": x}, cache, [np.take_along_axis(x, order, 0), order])
    with pytest.raises(tw.TileworkError, match="of top_k 'TopK_0' is too short: 3 are taken .N = 2 is dim"):
        module.run({"x": np.ones((2, 5), np.float32)})


def test_no_element_and_no_row(cache: KernelCache):
    for rows, k in ((3, 0), (0, 2), (0, 0)):
        made = model([node("TopK", "x k", "v i", axis=1)], {"x": ["N", 4, 2]}, "v i", {"k": [k]})
        wanted = [np.ones((rows, k, 2), dtype) for dtype in (np.float32, np.int64)]
        check(made, {"x": np.ones((rows, 4, 2), np.float32)}, cache, wanted)


@pytest.mark.parametrize("opset", [7, 10, 11])
def test_older_opsets(opset: int, cache: KernelCache):
    """At first the number was an attribute; since opset 11 the smallest ones may be asked for."""
    x, number = np.array([[3, np.nan, 5, -1]], np.float32), {"k": 2} if opset < 10 else {}
    inputs, known = ("x", {}) if number else ("x k", {"k": [2]})
    made = model([node("TopK", inputs, "v i", **number)], {"x": [1, 4]}, "v i", known, opset)
    check(made, {"x": x}, cache, [np.array([[np.nan, 5]], np.float32), np.array([[1, 2]])])


def test_refusals():
    wide = model([node("TopK", "x k", "v i")], {"x": [2, 3]}, "v i", {"k": [4]})
    assert "from 1 to 3 elements along axis 1 can be chosen, not 4" in refusal(wide)
    negative = model([node("TopK", "x k", "v i")], {"x": [2, "N"]}, "v i", {"k": [-1]})
    assert "from 1 to N elements along axis 1 can be chosen, not -1" in refusal(negative)
