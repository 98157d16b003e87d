"""TopK of so many elements that they are sorted: stable, of every type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from onnx_models import check_onnxruntime, model, node
from sorted_rows import assert_same_bits, expected, special

import tilework as tw
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(7)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def top_k(dtype: Any, count: int, axis: int = 0, largest: int = 1) -> Any:
    """A model whose axes are open, so that one is compiled for rows of all lengths."""
    nodes = [node("TopK", "x k", "v i", axis=axis, largest=largest)]
    made = model(nodes, {"x": ["N", "M"]}, "v i", {"k": [count]})
    for value in (made.graph.input[0], made.graph.output[0]):
        value.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [(np.float32, 1), (np.float32, 0), (np.float64, 1), (np.float16, 0), (ml_dtypes.bfloat16, 1)],
)
def test_ties_zeros_and_nan_keep_their_bits_and_their_order(dtype: Any, largest: int, cache: KernelCache):
    module = tw.compile(top_k(dtype, 17, 1, largest), cache=cache, processes=1)
    for shape in ((1, 17), (3, 18), (2, 307), (0, 20)):
        x = special(shape, dtype)
        assert_same_bits(module(x), expected(x, 17, 1, largest))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_width_to_their_bounds(dtype: str, cache: KernelCache):
    """The largest come first where there is a sign, elsewhere the smallest."""
    largest = int(dtype.startswith("i"))
    info = np.iinfo(dtype)
    module = tw.compile(top_k(dtype, 33, 0, largest), cache=cache, processes=1)
    for shape in ((33, 1), (199, 3)):
        x = RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)
        x[::5], x[1::7], x[2::7] = 3, info.min, info.max
        assert_same_bits(module(x), expected(x, 33, 0, largest))


def test_beside_onnxruntime(cache: KernelCache):
    made = top_k(np.float32, 1000, 0)
    x = np.round(RANDOM.standard_normal((20_011, 2)), 2).astype(np.float32)
    check_onnxruntime(made, cache, {"x": x})
