"""Elements that tensors of indices name, of open sizes; of constant ones they are in the node tests of the standard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
import pytest
from onnx_models import Array, model, node, refusal

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def numbers(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def check(made: onnx.ModelProto, cache: KernelCache, wanted: Callable[..., Array], *feeds: Sequence[Array]) -> None:
    """Interpreted and compiled, for each feed."""
    imported, module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    for arrays in feeds:
        [interpreted] = run_function(imported.module, "main", arrays, imported.parameters)
        expected = wanted(*arrays)
        for result in (interpreted, module(*arrays)):
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_at_their_own_place_along_other_axes(axis: int, cache: KernelCache):
    made = model([node("GatherElements", "x i", "y", axis=axis)], {"x": ["N", "M"], "i": ["N", "M"]}, "y")
    indices = np.array([[0, -1, 1], [1, 0, -2]])
    check(made, cache, lambda x, i: np.take_along_axis(x, i, axis), [numbers(2, 3), indices])


def test_fewer_indices_than_elements(cache: KernelCache):
    made = model([node("GatherElements", "x i", "y", axis=1)], {"x": ["N", 5], "i": ["K", 2]}, "y")
    indices = np.array([[4, 0], [-1, 1]])
    check(made, cache, lambda x, i: np.take_along_axis(x[:2], i, 1), [numbers(3, 5), indices])


@pytest.mark.parametrize(("shape", "picked", "axis"), [((1, 8), (1, 3), 1), ((4, 5), (2, 5), 0), ((4, 5), (2, 3), -1)])
def test_elements_of_constants(shape: tuple[int, int], picked: tuple[int, int], axis: int, cache: KernelCache):
    a, i = np.arange(shape[0] * shape[1]).reshape(shape), np.array([[-1, 0, 2, 1, 3], [1, 1, -2, 0, 0]])
    i = i[: picked[0], : picked[1]]
    nodes = [node("GatherElements", "a at", "e", axis=axis), node("Add", "i e", "y")]
    made = model(nodes, {"i": picked}, "y", {"a": a, "at": i})
    want = np.take_along_axis(a[tuple(slice(n if d != axis % 2 else None) for d, n in enumerate(picked))], i, axis)
    check(made, cache, lambda x: x + want, [np.ones(picked, np.int64)])


def test_more_indices_than_constants_have_rows_are_refused():
    constants = {"a": np.arange(5).reshape(1, 5), "i": np.zeros((3, 5), np.int64)}
    made = model([node("GatherElements", "a i", "y", axis=1)], {}, "y", constants)
    assert "it cannot be computed: there are more indices than elements beside each other" in refusal(made)


def test_rows_that_several_indices_name(cache: KernelCache):
    made = model([node("GatherND", "x i", "y")], {"x": ["N", "M", 4], "i": ["K", 2]}, "y")
    indices = np.array([[0, 2], [1, -1], [-2, 0]])
    check(made, cache, lambda x, i: x[tuple(i.T)], [numbers(2, 3, 4), indices])


def test_rows_of_each_of_a_batch(cache: KernelCache):
    made = model([node("GatherND", "x i", "y", batch_dims=1)], {"x": ["N", "M", 4], "i": ["N", 1]}, "y")
    check(made, cache, lambda x, i: x[np.arange(len(x)), i[:, 0]], [numbers(3, 5, 4), np.array([[4], [0], [-1]])])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_of_many(axis: int, cache: KernelCache):
    constants: Mapping[str, Array] = {"depth": np.array(4), "values": np.array([2.0, 5.0], np.float32)}
    made = model([node("OneHot", "i depth values", "y", axis=axis)], {"i": ["N", 3]}, "y", constants)

    def wanted(i: Array) -> Array:
        places = np.where(i < 0, i + 4, i)
        return np.moveaxis(np.where(places[..., None] == np.arange(4), np.float32(5), np.float32(2)), -1, axis)

    check(made, cache, wanted, [np.array([[0, 3, -1], [4, -4, 2]])], [np.zeros((0, 3), np.int64)])


@pytest.mark.parametrize("k", [0, 1, -2])
def test_ones_on_a_diagonal(k: int, cache: KernelCache):
    made = model([node("EyeLike", "x", "y", k=k)], {"x": ["N", "M"]}, "y")
    check(made, cache, lambda x: np.eye(*x.shape, k=k, dtype=np.float32), [numbers(4, 3)], [numbers(2, 7)])


def test_indices_of_another_rank_are_refused():
    made = model([node("GatherElements", "x i", "y")], {"x": [3, 4], "i": [3]}, "y")
    assert "its indices have as many axes as its input, 2, not 1" in refusal(made)


@pytest.mark.parametrize(
    ("shape", "batch", "message"),
    [
        ((2, 3), 0, "rows of 3 indices behind 0 axes do not fit an input of 2 axes"),
        ((2, "K"), 0, "rows of K indices behind 0 axes do not fit an input of 2 axes"),
        ((2, 4, 1), 2, "rows of 1 indices behind 2 axes do not fit an input of 2 axes"),
        ((2, 1), 2, "axis 1 is one of the batch, but of sizes 4 and 1"),
    ],
)
def test_rows_that_do_not_fit_are_refused(shape: Sequence[int | str], batch: int, message: str):
    made = model([node("GatherND", "x i", "y", batch_dims=batch)], {"x": [2, 4], "i": shape}, "y")
    assert message in refusal(made)
