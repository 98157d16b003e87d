"""Resize to sizes whose ratio is known at run time only: the same as to constant sizes, which are tested elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_models import Array, model, node, refusal

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

NEAREST = ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
COORDINATES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]

PLACES = [(5, 7), (7, 5), (4, 8), (8, 4), (3, 12), (12, 3), (1, 4), (9, 16), (16, 9)]
"""Sizes before and after along a row: larger and smaller, in whole ratios and not."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def resize_to(target: Sequence[int | str], source: Sequence[int | str], opset: int = 18, **attributes: Any):
    """A model that resizes `x` to the shape of `like`, or to constant sizes where all are."""
    if any(isinstance(size, str) for size in target):
        nodes = [node("Shape", "like", "sizes"), node("Resize", "x   sizes", "y", **attributes)]
        return model(nodes, {"x": source, "like": target}, "y", opset=opset)
    nodes = [node("Resize", "x   sizes", "y", **attributes)]
    return model(nodes, {"x": source}, "y", {"sizes": np.array(target)}, opset)


def of_constant_sizes(x: Array, target: Sequence[int], **attributes: Any) -> Array:
    imported = import_onnx(resize_to(target, x.shape, **attributes))
    [result] = run_function(imported.module, "main", [x], imported.parameters)
    return np.asarray(result)


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def check(made: onnx.ModelProto, x: Array, target: Sequence[int], module: tw.Module, **attributes: Any) -> None:
    """Interpreted and compiled; what is nearest is the very same."""
    feeds, wanted = [x, np.zeros(target, np.float32)], of_constant_sizes(x, target, **attributes)
    imported = import_onnx(made)
    [interpreted] = run_function(imported.module, "main", feeds, imported.parameters)
    tolerance = 0 if attributes["mode"] == "nearest" else 1e-5
    for result in (interpreted, module(*feeds)):
        assert result.shape == wanted.shape and result.dtype == np.float32
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance, err_msg=f"{x.shape} to {target}")


@pytest.mark.parametrize("how", COORDINATES)
@pytest.mark.parametrize("nearest_mode", NEAREST)
def test_the_nearest_element(how: str, nearest_mode: str, cache: KernelCache):
    attributes = {"mode": "nearest", "nearest_mode": nearest_mode, "coordinate_transformation_mode": how}
    made = resize_to([2, "Q"], [2, "W"], **attributes)
    module = tw.compile(made, cache=cache, processes=1)
    for before, after in PLACES:
        check(made, numbers(2, before), (2, after), module, **attributes)


@pytest.mark.parametrize("how", COORDINATES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_blended_elements(mode: str, how: str, cache: KernelCache):
    attributes = {"mode": mode, "coordinate_transformation_mode": how}
    made = resize_to([2, "Q"], [2, "W"], **attributes)
    module = tw.compile(made, cache=cache, processes=1)
    for before, after in PLACES:
        check(made, numbers(2, before), (2, after), module, **attributes)


@pytest.mark.parametrize("how", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_to_one_element(mode: str, how: str, cache: KernelCache):
    attributes = {"mode": mode, "coordinate_transformation_mode": how}
    made = resize_to([2, "Q"], [2, "W"], **attributes)
    module = tw.compile(made, cache=cache, processes=1)
    for before in (1, 2, 3, 4, 9):
        check(made, numbers(2, before), (2, 1), module, **attributes)


@pytest.mark.parametrize("how", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sizes_that_turn_out_to_be_equal(mode: str, how: str, cache: KernelCache):
    made = resize_to([2, "Q"], [2, "W"], mode=mode, coordinate_transformation_mode=how)
    module = tw.compile(made, cache=cache, processes=1)
    for size in (1, 2, 6, 33):
        x = numbers(2, size)
        np.testing.assert_array_equal(module(x, np.zeros((2, size), np.float32)), x)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_images_whose_both_axes_change(mode: str, cache: KernelCache):
    made = resize_to(["N", 3, "P", "Q"], ["N", 3, "H", "W"], mode=mode)
    module = tw.compile(made, cache=cache, processes=1)
    for height, width, new_height, new_width in [(4, 6, 7, 9), (8, 5, 3, 5), (1, 1, 4, 3), (17, 9, 5, 33)]:
        check(made, numbers(2, 3, height, width), (2, 3, new_height, new_width), module, mode=mode)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(("source", "target"), [("H", 6), (6, "P")])
def test_one_of_both_sizes_is_constant(mode: str, source: int | str, target: int | str, cache: KernelCache):
    made = resize_to(["N", target, 4], ["N", source, 4], mode=mode)
    module = tw.compile(made, cache=cache, processes=1)
    for size in (1, 3, 6, 13):
        before, after = (size if isinstance(end, str) else end for end in (source, target))
        check(made, numbers(2, before, 4), (2, after, 4), module, mode=mode)


def test_some_axes(cache: KernelCache):
    """In the order in which they are named."""
    nodes = [
        node("Shape", "like", "sizes"),
        node("Resize", "x   sizes", "y", mode="nearest", axes=[3, 2]),
    ]
    made = model(nodes, {"x": [1, 2, "H", "W"], "like": ["Q", "P"]}, "y", opset=18)
    x, module = numbers(1, 2, 4, 5), tw.compile(made, cache=cache, processes=1)
    wanted = of_constant_sizes(x, (1, 2, 3, 8), mode="nearest")
    np.testing.assert_array_equal(module(x, np.zeros((8, 3), np.float32)), wanted)


def test_half_of_an_image_and_back(cache: KernelCache):
    """The ratio depends on whether a size is even."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Div", "sizes halves", "smaller"),
        node("Resize", "x   smaller", "half", mode="nearest", coordinate_transformation_mode="asymmetric"),
        node("Resize", "half   sizes", "y", mode="nearest", coordinate_transformation_mode="asymmetric"),
    ]
    made = model(nodes, {"x": [1, 2, "H", 8]}, "y", {"halves": np.array([1, 1, 2, 2])}, opset=13)
    module, ways = tw.compile(made, cache=cache, processes=1), {"coordinate_transformation_mode": "asymmetric"}
    for height in (2, 4, 7, 11):
        x = numbers(1, 2, height, 8)
        half = of_constant_sizes(x, (1, 2, height // 2, 4), mode="nearest", **ways)
        np.testing.assert_array_equal(module(x), of_constant_sizes(half, x.shape, mode="nearest", **ways))


@pytest.mark.parametrize("opset", [13, 19])
def test_versions_of_the_standard(opset: int, cache: KernelCache):
    made = resize_to([2, "Q"], [2, "W"], opset=opset, mode="linear")
    module = tw.compile(made, cache=cache, processes=1)
    check(made, numbers(2, 5), (2, 8), module, mode="linear")


@pytest.mark.parametrize(
    ("target", "attributes", "message"),
    [
        (
            [2, "Q"],
            {"coordinate_transformation_mode": "half_pixel_symmetric"},
            "coordinates 'half_pixel_symmetric' are not supported where sizes are not constant",
        ),
        (
            [2, "Q"],
            {"coordinate_transformation_mode": "tf_half_pixel_for_nn"},
            "coordinates 'tf_half_pixel_for_nn' are not supported where sizes are not constant",
        ),
        (
            [2, "Q"],
            {"nearest_mode": "x"},
            "its nearest_mode is one of floor, ceil, round_prefer_ceil, round_prefer_floor, it is not x",
        ),
        ([2, "Q"], {"mode": "area"}, "mode 'area' is not supported, only nearest, linear, cubic"),
        (
            [2, "Q"],
            {"mode": "linear", "antialias": 1},
            "smoothing (antialias) is not supported where sizes are not constant",
        ),
        (
            [2, "Q"],
            {"mode": "cubic", "exclude_outside": 1},
            "a mean of what is inside (exclude_outside) is not supported where sizes are not constant",
        ),
        (
            [2, "Q"],
            {"coordinate_transformation_mode": "x"},
            "coordinates 'x' are not supported where sizes are not constant",
        ),
        (
            [2, "Q"],
            {"keep_aspect_ratio_policy": "not_smaller"},
            "sizes before and after differ and have to be constant; axis 1 has size W",
        ),
        ([2, 3, "Q"], {}, "2 different axes have as many sizes, not 3"),
    ],
)
def test_what_is_refused(target: list[int | str], attributes: dict[str, Any], message: str):
    assert message in refusal(resize_to(target, [2, "W"], opset=19, **attributes))


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_integers_are_not_blended(mode: str):
    made = resize_to([2, "Q"], [2, "W"], mode=mode)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32
    assert f"mode '{mode}' is for floating-point numbers where sizes are not constant" in refusal(made)


def test_halves_are_blended_in_single_precision(cache: KernelCache):
    """Twice a size of 40000 is no half."""
    made = resize_to([1, "Q"], [1, "W"], mode="linear")
    for tensor in (*made.graph.input, *made.graph.output):
        tensor.type.tensor_type.elem_type = TensorProto.FLOAT16
    x = np.ones((1, 40000), np.float16)
    result = tw.compile(made, cache=cache, processes=1)(x, np.zeros((1, 50000), np.float16))
    np.testing.assert_array_equal(result, np.ones((1, 50000), np.float16))
