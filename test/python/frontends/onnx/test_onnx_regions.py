"""Regions of images: samples of which a bin has as many as it is large, and the largest elements of bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_models import Array, check, refusal

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(3)

IMAGES = RANDOM.standard_normal((2, 3, 7, 8)).astype(np.float32)

BOXES = np.array(
    [
        *([0, 0, 6, 5], [1.5, 2.5, 3.5, 4.5], [0, 0, 8, 7], [2, 3, 2.1, 9], [1, 1, 1, 1]),
        *([4, 4, 2, 2], [-3, -3, 4, 4], [5, 5, 20, 20], [-50, -60, 70, 80], [0, 0, 300, 3]),
        *([-9, -9, -5, -5], [100, 100, 200, 300]),
    ],
    np.float32,
)
"""Inside of an image, as small as nothing, turned round, partly outside, many times as large, and outside."""

NUMBERS = np.arange(len(BOXES)) % 2


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def model(
    op: str,
    opset: int = 16,
    dims: Sequence[int | str] = IMAGES.shape,
    boxes: int | str = len(BOXES),
    dtype: type[np.generic] = np.float32,
    **attributes: Any,
) -> onnx.ModelProto:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = [
        helper.make_tensor_value_info("x", element, dims),
        helper.make_tensor_value_info("boxes", element, [boxes, 4 if op == "RoiAlign" else 5]),
    ]
    if op == "RoiAlign":
        inputs.append(helper.make_tensor_value_info("images", TensorProto.INT64, [boxes]))
    node = helper.make_node(op, [value.name for value in inputs], ["y"], **attributes)
    graph = helper.make_graph([node], op, inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def by_onnxruntime(made: onnx.ModelProto, feeds: dict[str, Array]) -> list[Array]:
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


# ---- Samples ---------------------------------------------------------------------------------------------------------

FEEDS = {"x": IMAGES, "boxes": BOXES, "images": NUMBERS}


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("pixel", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("bins", [(3, 2), (1, 1), (7, 7)])
def test_as_many_samples_as_a_bin_is_large(mode: str, pixel: str, bins: tuple[int, int], cache: KernelCache):
    """Which is what is meant where `sampling_ratio` is left out."""
    given = {"mode": mode, "coordinate_transformation_mode": pixel, "spatial_scale": 0.7}
    made = model("RoiAlign", output_height=bins[0], output_width=bins[1], **given)
    check(made, FEEDS, cache, by_onnxruntime(made, FEEDS))


def test_the_evaluator_of_the_standard_says_the_same():
    made = model("RoiAlign", output_height=2, output_width=3)
    imported = import_onnx(made)
    [y] = run_function(imported.module, "main", list(FEEDS.values()), imported.parameters)
    np.testing.assert_allclose(y, ReferenceEvaluator(made).run(None, FEEDS)[0], rtol=1e-4, atol=1e-5)


def test_other_opsets(cache: KernelCache):
    """Before opset 16 no half pixel is taken off. Opset 22, which onnxruntime lacks, is as opset 16."""
    bins = {"output_height": 2, "output_width": 3}
    for opset, same in ((10, 10), (22, 16)):
        wanted = by_onnxruntime(model("RoiAlign", same, **bins), FEEDS)
        check(model("RoiAlign", opset, **bins), FEEDS, cache, wanted)


def test_open_sizes(cache: KernelCache):
    made = model("RoiAlign", dims=["n", "c", "h", "w"], boxes="k", output_height=2, output_width=3, mode="max")
    for count, shape in ((len(BOXES), IMAGES.shape), (3, (1, 40, 1, 9)), (0, (1, 1, 2, 2))):
        x = RANDOM.standard_normal(shape).astype(np.float32)
        feeds = {"x": x, "boxes": BOXES[:count], "images": NUMBERS[:count] % shape[0]}
        check(made, feeds, cache, by_onnxruntime(made, feeds))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float16, 2e-3)])
def test_other_types(dtype: type[np.generic], tolerance: float, cache: KernelCache):
    """Halves are computed with in f32."""
    feeds = {**FEEDS, "x": IMAGES.astype(dtype), "boxes": BOXES.astype(dtype)}
    made = model("RoiAlign", dtype=dtype, output_height=2, output_width=3)
    wider = {**feeds, "x": feeds["x"].astype(np.float64), "boxes": feeds["boxes"].astype(np.float64)}
    [expected] = by_onnxruntime(model("RoiAlign", dtype=np.float64, output_height=2, output_width=3), wider)
    imported = import_onnx(made)
    [meant] = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
    for y in (meant, tw.compile(made, cache=cache).run(feeds)["y"]):
        assert y.dtype == dtype
        np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


def test_boxes_that_are_no_regions(cache: KernelCache):
    """What is infinite, or no number, has no sample near an image; one that is very large has few, which is quick.

    The number of an image that is not there stands for the first one or the last one.
    """
    boxes = np.array(
        [[np.nan, 0, 1, 1], [0, 0, np.inf, 1], [-np.inf, 0, np.inf, 2], [-1e9, -1e9, 1e9, 1e9]], np.float32
    )
    made = model("RoiAlign", boxes=4, output_height=2, output_width=2)
    zeros = np.zeros((4, 3, 2, 2), np.float32)
    check(made, {"x": IMAGES, "boxes": boxes, "images": np.zeros(4, np.int64)}, cache, [zeros])
    far = {"x": IMAGES, "boxes": BOXES[:3], "images": np.array([-7, 9, 2**62])}
    near = {**far, "images": np.array([0, 1, 1])}
    made = model("RoiAlign", boxes=3, output_height=2, output_width=2)
    check(made, far, cache, by_onnxruntime(made, near))


# ---- The largest elements --------------------------------------------------------------------------------------------

MIDDLES = np.array([[1, 1.5, 2.5, 3.5, 4.5], [0, 0.49999997, -0.5, -1.5, 2.5]], np.float32)
"""With corners in the middle between elements, and so near to it that to add a half would round."""

REGIONS = np.concatenate([np.concatenate([NUMBERS[:, None], BOXES], 1).astype(np.float32), MIDDLES])


@pytest.mark.parametrize("bins", [(3, 2), (1, 1), (7, 7)])
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_largest_elements(bins: tuple[int, int], scale: float, cache: KernelCache):
    feeds = {"x": IMAGES, "boxes": REGIONS}
    made = model("MaxRoiPool", 11, boxes=len(REGIONS), pooled_shape=bins, spatial_scale=scale)
    check(made, feeds, cache, by_onnxruntime(made, feeds))
    made = model("MaxRoiPool", 11, ["n", 3, "h", "w"], "k", pooled_shape=bins, spatial_scale=scale)
    check(made, feeds, cache, by_onnxruntime(made, feeds))


def test_largest_elements_among_what_is_no_number(cache: KernelCache):
    """NaN is larger than every number; a box that is no number is somewhere, and an empty bin is 0."""
    x = np.full((1, 1, 2, 2), -np.inf, np.float32)
    x[0, 0, 1, 1] = np.nan
    boxes = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1], [0, 5, 5, 9, 9]], np.float32)
    made = model("MaxRoiPool", 11, x.shape, 3, pooled_shape=[1, 1])
    check(made, {"x": x, "boxes": boxes}, cache, [np.array([np.nan, -np.inf, 0], np.float32).reshape(3, 1, 1, 1)])
    boxes[:, 1:] = np.array([[np.nan], [np.inf], [-np.inf]])
    module = tw.compile(made, cache=cache)
    assert module.run({"x": x, "boxes": boxes})["y"].shape == (3, 1, 1, 1)


def test_refusals():
    assert "it takes images with channels, of 4 axes, not of 3" in refusal(model("RoiAlign", dims=[3, 7, 8]))
    assert "its modes 'least' and 'half_pixel' are not known" in refusal(model("RoiAlign", mode="least"))
    assert "there is no image, or no element of one" in refusal(model("RoiAlign", dims=[1, 3, 0, 8]))
    said = refusal(model("MaxRoiPool", 11, pooled_shape=[2, 2, 2]))
    assert "it takes regions of five numbers, the first that of an image, and pools them to two axes" in said
