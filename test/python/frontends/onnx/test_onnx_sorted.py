"""TopK of so many elements that they are sorted: stable, of every type, whatever the number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import helper
from onnx_models import Array, check, model, node

import tilework as tw
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(7)

SEVERAL_BLOCKS = 50_021
"""A prime number of elements, which are several blocks, the last of them shorter."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = tw.get_num_threads()
    tw.set_num_threads(request.param)
    yield request.param
    tw.set_num_threads(before)


def top_k(dtype: Any, count: int, axis: int = 0, largest: int = 1) -> Any:
    """A model whose axes are open, so that one is compiled for rows of all lengths."""
    nodes = [node("TopK", "x k", "v i", axis=axis, largest=largest)]
    made = model(nodes, {"x": ["N", "M"]}, "v i", {"k": [count]})
    for value in (made.graph.input[0], made.graph.output[0]):
        value.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made


def expected(x: Array, count: int, axis: int = 0, largest: int = 1) -> list[Array]:
    """What numpy's stable sort makes, for which NaN is the largest too; both zeros are equal."""
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    if largest:
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(wide, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(wide, axis, kind="stable")
    order = order.take(range(count), axis)
    return [np.take_along_axis(x, order, axis), order]


def special(shape: tuple[int, ...], dtype: Any) -> Array:
    """Few different numbers, among them both zeros, both infinities, NaN of both signs, and the least there are."""
    info = ml_dtypes.finfo(dtype)
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, info.smallest_subnormal, -info.max, info.max, 1.0, -1.0]
    return np.array(numbers, dtype)[RANDOM.integers(0, len(numbers), shape)]


def assert_same_bits(results: list[Array], wanted: list[Array]) -> None:
    for result, right in zip(results, wanted, strict=True):
        assert result.dtype == right.dtype
        np.testing.assert_array_equal(result.view(np.uint8), right.view(np.uint8))


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_ties_zeros_and_nan_keep_their_bits_and_their_order(dtype: Any, largest: int, cache: KernelCache):
    module = tw.compile(top_k(dtype, 17, 1, largest), cache=cache, processes=1)
    for shape in ((1, 17), (3, 18), (2, 307), (0, 20)):
        x = special(shape, dtype)
        assert_same_bits(module(x), expected(x, 17, 1, largest))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_width_to_their_bounds(dtype: str, cache: KernelCache):
    """Of those with a sign the largest come first, of the others the smallest."""
    largest = int(dtype.startswith("i"))
    info = np.iinfo(dtype)
    module = tw.compile(top_k(dtype, 33, 0, largest), cache=cache, processes=1)
    for shape in ((33, 1), (199, 3)):
        x = RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)
        x[::5], x[1::7], x[2::7] = 3, info.min, info.max
        assert_same_bits(module(x), expected(x, 33, 0, largest))


@pytest.mark.parametrize("count", [100, SEVERAL_BLOCKS])
def test_blocks_of_a_long_row(count: int, threads: int, cache: KernelCache):
    """Of numbers that differ, and of those that are all equal, of which every digit is in one place."""
    made = model([node("TopK", "x k", "v i")], {"x": [1, SEVERAL_BLOCKS]}, "v i", {"k": [count]})
    module = tw.compile(made, cache=cache, processes=1)
    normal = RANDOM.standard_normal((1, SEVERAL_BLOCKS)).astype(np.float32)
    for x in (normal, np.round(normal, 1), np.full_like(normal, -0.0), np.sort(normal), special(normal.shape, "f")):
        assert_same_bits(module(x), expected(x, count, 1))


def test_as_many_as_data_say(threads: int, cache: KernelCache):
    """The number of elements is an input: none, one, some, all of an open axis."""
    made = model([node("TopK", "x k", "v i", axis=1)], {"x": ["N", "M"], "k": [1]}, "v i")
    made.graph.input[1].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
    module = tw.compile(made, cache=cache, processes=1)
    x = RANDOM.integers(-50, 50, (3, 40_009)).astype(np.float32)
    for count in (0, 1, 2, 1009, 40_009):
        assert_same_bits(module(x, np.array([count])), expected(x, count, 1))


def test_beside_onnxruntime(cache: KernelCache):
    made = top_k(np.float32, 1000, 0)
    x = np.round(RANDOM.standard_normal((20_011, 2)), 2).astype(np.float32)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    check(made, {"x": x}, cache, session.run(None, {"x": x}))
