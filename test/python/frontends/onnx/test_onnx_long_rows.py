"""Long rows, of which threads share the blocks: sorted, added up, compacted, the same by any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_models import model, node
from sorted_rows import assert_same_bits, expected, special

import tilework as tw
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(11)


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


def running(operator: str, dtype: Any, opset: int = 14, **attributes: int) -> Any:
    nodes = [node(operator, "x axis", "y", **attributes)]
    made = model(nodes, {"x": ["N", "M"]}, "y", {"axis": np.array(-1)}, opset=opset)
    made.graph.input[0].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_sums_in_blocks_are_those_of_one_after_the_other(dtype: Any, reverse: int, threads: int, cache: KernelCache):
    """The rows are one block, two, and as many as there may be; integers wrap around."""
    module = tw.compile(running("CumSum", dtype, reverse=reverse), cache=cache, processes=1)
    for shape in ((1, 1), (3, 0), (2, 32_771), (1, 300_007)):
        high = 2**30 if dtype is np.int32 else 1000
        x = (RANDOM.integers(-high // 2, high, shape) * 1.1).astype(dtype)
        turned = x[:, :: -1 if reverse else 1]
        wanted = np.cumsum(turned, 1, dtype=dtype)[:, :: -1 if reverse else 1]
        np.testing.assert_array_equal(module(x), wanted)


def test_products_in_blocks_without_the_element(threads: int, cache: KernelCache):
    """Products of odd numbers wrap around too, and are never zero."""
    module = tw.compile(running("CumProd", np.int64, 26, exclusive=1), cache=cache, processes=1)
    x = RANDOM.integers(0, 50, (1, 50_021)) * 2 + 1
    wanted = np.concatenate([np.ones((1, 1), np.int64), np.cumprod(x, 1)[:, :-1]], 1)
    np.testing.assert_array_equal(module(x), wanted)


def test_sums_of_half_precision_are_rounded_at_the_end(cache: KernelCache):
    """There are 3000 ones, of which a total in f16 would stay at 2048."""
    x = np.ones((2, 3000), np.float16)
    wanted = np.cumsum(x, 1, dtype=np.float32).astype(np.float16)
    np.testing.assert_array_equal(tw.compile(running("CumSum", np.float16), cache=cache, processes=1)(x), wanted)


@pytest.mark.parametrize("count", [100, SEVERAL_BLOCKS])
def test_blocks_of_a_long_row(count: int, threads: int, cache: KernelCache):
    """Their numbers differ, or are all equal, and then every block has one digit."""
    made = model([node("TopK", "x k", "v i")], {"x": [1, SEVERAL_BLOCKS]}, "v i", {"k": [count]})
    module = tw.compile(made, cache=cache, processes=1)
    normal = RANDOM.standard_normal((1, SEVERAL_BLOCKS)).astype(np.float32)
    for x in (normal, np.round(normal, 1), np.full_like(normal, -0.0), np.sort(normal), special(normal.shape, "f")):
        assert_same_bits(module(x), expected(x, count, 1))


def test_as_many_as_data_say(threads: int, cache: KernelCache):
    """The number of elements is an input: none, so few that a heap chooses, some, all of an open axis."""
    made = model([node("TopK", "x k", "v i", axis=1)], {"x": ["N", "M"], "k": [1]}, "v i")
    made.graph.input[1].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
    module = tw.compile(made, cache=cache, processes=1)
    x = RANDOM.integers(-50, 50, (3, 40_009)).astype(np.float32)
    for count in (0, 1, 19, 20, 1009, 40_009):
        assert_same_bits(module(x, np.array([count])), expected(x, count, 1))


@pytest.mark.parametrize("held", ["some", "none", "all", "first", "last"])
def test_compaction_of_several_blocks(held: str, threads: int, cache: KernelCache):
    """No block writes where the next one begins."""
    made = model([node("NonZero", "x", "y")], {"x": ["N"]}, "y")
    x = np.zeros(SEVERAL_BLOCKS, np.float32)
    chosen = {"some": RANDOM.random(len(x)) < 0.3, "none": slice(0), "all": slice(None), "first": 0, "last": -1}
    x[chosen[held]] = 1
    np.testing.assert_array_equal(tw.compile(made, cache=cache, processes=1)(x), np.stack(np.nonzero(x)))
