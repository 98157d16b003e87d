"""Trilu and CumSum: what numpy does, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import Array, model, node, refusal, scans_of

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def of_type(made: onnx.ModelProto, dtype: type) -> onnx.ModelProto:
    """The model with its first input of another type."""
    made.graph.input[0].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made


def check(
    made: onnx.ModelProto,
    cache: KernelCache,
    wanted: Callable[[Array], Array],
    *shapes: Sequence[int],
    dtype: Any = "f",
) -> None:
    """`wanted(x)`, interpreted and compiled, for an input of each shape."""
    imported, module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    for shape in shapes:
        x = np.random.default_rng(0).integers(-5, 6, shape).astype(dtype)
        [interpreted] = run_function(imported.module, "main", [x], imported.parameters)
        for result in (interpreted, module(x)):
            assert result.shape == wanted(x).shape and result.dtype == x.dtype
            np.testing.assert_array_equal(result, wanted(x), err_msg=str(shape))


# ---- Trilu -----------------------------------------------------------------------------------------------------------


def triangle(shape: Sequence[int | str], diagonal: int | None = None, **attributes: int) -> onnx.ModelProto:
    constants = {} if diagonal is None else {"k": np.array(diagonal)}
    inputs = "x" if diagonal is None else "x k"
    return model([node("Trilu", inputs, "y", **attributes)], {"x": shape}, "y", constants, opset=14)


@pytest.mark.parametrize("diagonal", [None, 0, 1, 4, 9, -1, -3, -9])
@pytest.mark.parametrize(("upper", "wanted"), [(1, np.triu), (0, np.tril)])
def test_triangles(upper: int, wanted: Any, diagonal: int | None, cache: KernelCache):
    """Wider and higher matrices, several of them; a diagonal may lie outside."""
    for shape in ((4, 6), (2, 6, 4)):
        check(triangle(shape, diagonal, upper=upper), cache, lambda x: wanted(x, diagonal or 0), shape)


def test_the_upper_triangle_is_what_is_kept_where_nothing_is_said(cache: KernelCache):
    check(triangle((3, 3)), cache, np.triu, (3, 3))


@pytest.mark.parametrize("upper", [1, 0])
@pytest.mark.parametrize("diagonal", [1, -2])
def test_triangles_of_unknown_size(upper: int, diagonal: int, cache: KernelCache):
    wanted = np.triu if upper else np.tril
    made = triangle(["B", "N", "M"], diagonal, upper=upper)
    check(made, cache, lambda x: wanted(x, diagonal), (2, 5, 5), (1, 3, 17), (3, 17, 3), (1, 1, 1), (2, 0, 3))


@pytest.mark.parametrize("upper", [1, 0])
def test_a_diagonal_that_depends_on_a_size(upper: int, cache: KernelCache):
    """That of the past, which rows of a mask do not count."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Gather", "sizes last", "columns"),
        node("Gather", "sizes first", "rows"),
        node("Sub", "columns rows", "past"),
        node("Trilu", "x past", "y", upper=upper),
    ]
    made = model(nodes, {"x": ["N", "M"]}, "y", {"first": np.array(0), "last": np.array(1)}, opset=14)
    wanted = np.triu if upper else np.tril
    check(made, cache, lambda x: wanted(x, x.shape[1] - x.shape[0]), (3, 8), (8, 3), (4, 4), (1, 9))


@pytest.mark.parametrize("dtype", [bool, np.int64, np.int32, np.float64])
def test_triangles_of_other_types(dtype: type, cache: KernelCache):
    made = of_type(triangle(["N", 5], -1, upper=0), dtype)
    check(made, cache, lambda x: np.tril(x, -1), (4, 5), (7, 5), dtype=dtype)


def test_a_mask_of_what_comes_later(cache: KernelCache):
    """Ones above the diagonal, of as many words as there are, times a large number."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Expand", "large sizes", "full"),
        node("Trilu", "full one", "mask", upper=1),
        node("Add", "x mask", "y"),
    ]
    made = model(nodes, {"x": ["N", "N"]}, "y", {"large": np.float32(-1e4), "one": np.array(1)}, opset=14)
    check(made, cache, lambda x: x + np.triu(np.full(x.shape, -1e4, np.float32), 1), (1, 1), (6, 6), (19, 19))


def test_a_triangle_that_is_refused():
    made = model([node("Trilu", "x", "y")], {"x": [5]}, "y", opset=14)
    assert "a triangle needs rows and columns" in refusal(made)


# ---- CumSum ----------------------------------------------------------------------------------------------------------


def running_sum(shape: Sequence[int | str], axis: int, **attributes: int) -> onnx.ModelProto:
    return model([node("CumSum", "x axis", "y", **attributes)], {"x": shape}, "y", {"axis": np.array(axis)}, opset=14)


def sums(x: Array, axis: int, reverse: int = 0, exclusive: int = 0) -> Array:
    x = np.flip(x, axis) if reverse else x
    made = np.cumsum(x, axis, dtype=x.dtype) - (x if exclusive else 0)
    return np.flip(made, axis) if reverse else made


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_sums_along_an_axis(axis: int, cache: KernelCache):
    check(running_sum([3, 4, 5], axis), cache, lambda x: sums(x, axis), (3, 4, 5))


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_from_either_end_with_and_without_the_element(axis: int, reverse: int, exclusive: int, cache: KernelCache):
    """They are sums of as many elements as there are, also of none."""
    ways = {"reverse": reverse, "exclusive": exclusive}
    shapes = [(n, 4) if axis == 0 else (4, n) for n in (0, 1, 2, 17)]
    made = running_sum(["N", 4] if axis == 0 else [4, "N"], axis, **ways)
    check(made, cache, lambda x: sums(x, axis, **ways), *shapes)


def test_sums_of_a_vector(cache: KernelCache):
    check(running_sum([6], 0), cache, lambda x: sums(x, 0), (6,))
    check(running_sum(["N"], -1, reverse=1), cache, lambda x: sums(x, 0, reverse=1), (1,), (33,))


def test_sums_of_one_element_and_of_no_row(cache: KernelCache):
    check(running_sum([1, 4], 0, exclusive=1), cache, np.zeros_like, (1, 4))
    check(running_sum(["N", 4], 1), cache, lambda x: sums(x, 1), (0, 4), (2, 4))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_sums_of_other_types(dtype: type, cache: KernelCache):
    made = of_type(running_sum(["N", 3], 0, exclusive=1), dtype)
    check(made, cache, lambda x: sums(x, 0, exclusive=1), (1, 3), (8, 3), dtype=dtype)


def test_positions_of_words_that_a_mask_leaves(cache: KernelCache):
    """Language models count so: the sum of a mask less 1, and 0 in front of the first word."""
    nodes = [
        node("CumSum", "x axis", "sums"),
        node("Sub", "sums one", "before"),
        node("Max", "before zero", "y"),
    ]
    constants = {"axis": np.array(1), "one": np.array(1), "zero": np.array(0)}
    made = of_type(model(nodes, {"x": ["B", "S"]}, "y", constants, opset=14), np.int64)
    module = tw.compile(made, cache=cache, processes=1)
    mask = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    np.testing.assert_array_equal(module(mask), [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])


def test_sums_are_one_scan_but_for_those_of_rows():
    assert [scans_of(import_onnx(running_sum([3, 4], axis))) for axis in (0, 1)] == [1, 0]


@pytest.mark.parametrize(
    ("shape", "axis", "message"),
    [
        ([3, 4], 2, "a tensor of rank 2 has no axis 2"),
        ([3, 4], -3, "a tensor of rank 2 has no axis -3"),
        ([], 0, "a tensor of rank 0 has no axis 0"),
    ],
)
def test_axes_that_there_are_not(shape: list[int], axis: int, message: str):
    assert message in refusal(running_sum(shape, axis))


def test_an_axis_that_data_decide_is_refused():
    made = model([node("CumSum", "x i", "y")], {"x": [3, 4], "i": []}, "y", opset=14)
    assert "its axis is computed from data, but has to be known beforehand" in refusal(made)


def test_an_axis_that_a_size_decides_is_refused():
    nodes = [node("Shape", "x", "sizes"), node("CumSum", "x sizes", "y")]
    assert "its axis depends on symbolic dimensions" in refusal(model(nodes, {"x": ["N"]}, "y", opset=14))


@pytest.mark.parametrize(("operator", "what"), [("CumSum", "axis"), ("Trilu", "diagonal")])
def test_one_number_is_taken(operator: str, what: str):
    made = model([node(operator, "x i", "y")], {"x": [3, 4]}, "y", {"i": np.array([0, 1])}, opset=14)
    assert f"its {what} is one number, not 2" in refusal(made)


@pytest.mark.parametrize("upper", [0, 1])
def test_a_diagonal_far_away(upper: int, cache: KernelCache):
    made = model([node("Trilu", "x k", "y", upper=upper)], {"x": ["N", 3]}, "y", {"k": np.array(2**63 - 1)}, opset=14)
    x = np.ones((3, 3), np.float32)
    np.testing.assert_array_equal(tw.compile(made, cache=cache, processes=1)(x), x * (1 - upper))
