"""Windows over images of sizes that only the running model knows: padding and last windows that depend on these."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_models import Sizes, check_sizes, model, node, numbers

import tilework as tw
from tilework.runtime.cache import KernelCache

IMAGES: list[Sizes] = [{"n": 2, "h": h, "w": w} for h, w in [(7, 8), (6, 5), (3, 3), (12, 11), (4, 9)]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def windows(op: str, opset: int = 22, weight: Any = None, **attributes: Any) -> onnx.ModelProto:
    constants = {} if weight is None else {"k": weight}
    inputs = " ".join(["x", *constants])
    return model([node(op, inputs, "y", **attributes)], {"x": ["n", 3, "h", "w"]}, "y", constants, opset=opset)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("size", "stride"), [(3, 2), (1, 2), (2, 3), (3, 1)])
def test_convolutions_of_as_many_windows_as_strides_go(auto_pad: str, size: int, stride: int, cache: KernelCache):
    made = windows("Conv", weight=numbers(4, 3, size, size), auto_pad=auto_pad, strides=[stride] * 2)
    check_sizes(made, cache, [*IMAGES, {"n": 1, "h": 1, "w": 1}, {"n": 0, "h": 3, "w": 3}])


@pytest.mark.parametrize("stride", [1, 2])
def test_distances_inside_of_windows_count(stride: int, cache: KernelCache):
    """Which onnxruntime does not take: images are padded before instead."""
    weight = numbers(4, 3, 3, 3)
    attributes = {"strides": [stride] * 2, "dilations": [2, 2]}
    module = tw.compile(windows("Conv", weight=weight, auto_pad="SAME_UPPER", **attributes), cache=cache, processes=1)
    plain = onnxruntime.InferenceSession(windows("Conv", weight=weight, **attributes).SerializeToString())
    for h, w in [(7, 8), (6, 5), (12, 11), (1, 1)]:
        x = numbers(2, 3, h, w)
        lacking = [max((-(-extent // stride) - 1) * stride + 5 - extent, 0) for extent in (h, w)]
        padded = np.pad(x, [(0, 0), (0, 0), *((total // 2, total - total // 2) for total in lacking)])
        (wanted,) = plain.run(None, {"x": padded})
        np.testing.assert_allclose(module(x), wanted, rtol=1e-5, atol=1e-5)


def test_a_padded_convolution_of_no_pixel_is_refused(cache: KernelCache):
    made = windows("Conv", weight=numbers(4, 3, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    check_sizes(made, cache, [], [({"n": 1, "h": 0, "w": 3}, "Conv_0.*h = 0 is dimension 2 of input 'x'")])


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_transposed_convolutions(auto_pad: str, cache: KernelCache):
    check_sizes(windows("ConvTranspose", weight=numbers(3, 4, 3, 3), auto_pad=auto_pad, strides=[2, 2]), cache, IMAGES)


def test_a_transposed_convolution_of_a_size_that_is_said(cache: KernelCache):
    made = windows("ConvTranspose", weight=numbers(3, 4, 3, 3), output_shape=[12, 12], strides=[2, 2])
    check_sizes(made, cache, [{"n": 1, "h": 6, "w": 6}, {"n": 1, "h": 5, "w": 6}])


POOLS = ["MaxPool", "AveragePool", "LpPool"]


@pytest.mark.parametrize("op", POOLS)
@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": "SAME_LOWER"},
        {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1},
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 0, 1, 1]},
    ],
    ids=str,
)
def test_pools(op: str, attributes: dict[str, Any], cache: KernelCache):
    check_sizes(windows(op, **attributes), cache, IMAGES)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("storage_order", [0, 1])
def test_places_of_the_largest_pixels_do_not_count_the_padding(auto_pad: str, storage_order: int, cache: KernelCache):
    windows_ = {"kernel_shape": [4, 3], "strides": [2, 2], "auto_pad": auto_pad, "storage_order": storage_order}
    made = model([node("MaxPool", "x", "y i", **windows_)], {"x": ["n", 3, "h", "w"]}, "y i", opset=22)
    check_sizes(made, cache, IMAGES)


def test_the_first_pixel_is_the_largest_where_all_are_as_small_as_the_padding(cache: KernelCache):
    made = model(
        [node("MaxPool", "x", "y i", kernel_shape=[5, 3], strides=[2, 2], auto_pad="SAME_LOWER")],
        {"x": [1, 1, "h", "w"]},
        "y i",
        opset=22,
    )
    _, places = tw.compile(made, cache=cache, processes=1)(np.full((1, 1, 5, 4), -np.inf, np.float32))
    np.testing.assert_array_equal(places[0, 0], [[0, 1], [0, 1], [8, 9]])


@pytest.mark.parametrize("op", POOLS)
def test_windows_that_leave_pixels_out(op: str, cache: KernelCache):
    made = windows(op, kernel_shape=[2, 2], strides=[3, 3], auto_pad="SAME_UPPER")
    check_sizes(made, cache, [{"n": 1, "h": h, "w": w} for h, w in [(7, 8), (4, 5), (11, 8), (1, 2)]])


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_means_that_count_the_padding(auto_pad: str, cache: KernelCache):
    made = windows("AveragePool", kernel_shape=[3, 3], strides=[2, 2], auto_pad=auto_pad, count_include_pad=1)
    check_sizes(made, cache, IMAGES)


@pytest.mark.parametrize("op", ["MaxPool", "Conv"])
def test_windows_that_do_not_fit(op: str, cache: KernelCache):
    weight = numbers(4, 3, 3, 3) if op == "Conv" else None
    made = windows(op, weight=weight, kernel_shape=[3, 3])
    refused = [
        ({"n": 2, "h": 2, "w": 8}, rf"the windows of \w+ '{op}_0' do not fit .*h = 2 is dimension 2 of input 'x'")
    ]
    check_sizes(made, cache, [{"n": 2, "h": 3, "w": 3}, {"n": 2, "h": 5, "w": 4}], refused)


def test_a_network_whose_resolution_is_halved_twice(cache: KernelCache):
    nodes = [
        node("Conv", "x k", "a", auto_pad="SAME_UPPER", strides=[2, 2], kernel_shape=[3, 3]),
        node("Relu", "a", "b"),
        node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("ConvTranspose", "c u", "d", strides=[4, 4], kernel_shape=[4, 4]),
        node("Shape", "x", "s", start=2),
        node("Slice", "d zeros s axes", "e"),
        node("Add", "e x", "y"),
    ]
    constants = {
        "k": numbers(4, 3, 3, 3),
        "u": numbers(4, 3, 4, 4),
        "zeros": np.array([0, 0]),
        "axes": np.array([2, 3]),
    }
    check_sizes(model(nodes, {"x": ["n", 3, "h", "w"]}, "y", constants, opset=18), cache, IMAGES)
