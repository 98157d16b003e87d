"""Images read between their elements, compiled and of open sizes; more kinds are in the node tests of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator
from onnx_checks import Case, check, floats
from onnx_models import Array, model, node, refusal
from onnx_models import check as check_model

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(11)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def reflected(place: float, low: float, high: float) -> float:
    while not low <= place <= high:
        place = 2 * low - place if place < low else 2 * high - place
    return place


def sampled(x: Array, grid: Array, padding: str, aligned: bool) -> Array:
    """The mean of four elements, place by place."""
    y = np.zeros((*x.shape[:2], *grid.shape[1:3]))
    for n, i, j in product(*map(range, grid.shape[:3])):
        taps = []
        for length, number in zip(x.shape[2:], grid[n, i, j, ::-1].astype(float), strict=True):
            place = (number + 1) / 2 * (length - 1) if aligned else ((number + 1) * length - 1) / 2
            if padding == "reflection":
                place = reflected(place, *((0, length - 1) if aligned else (-0.5, length - 0.5)))
            place = place if padding == "zeros" else min(max(place, 0), length - 1)
            below = int(np.floor(place))
            taps.append([(below, below + 1 - place), (below + 1, place - below)])
        for (a, share), (b, other) in product(*taps):
            if 0 <= a < x.shape[2] and 0 <= b < x.shape[3]:
                y[n, :, i, j] += share * other * x[n, :, a, b]
    return y


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_places_inside_and_outside(padding: str, aligned: bool, cache: KernelCache):
    nodes = [node("GridSample", "x g", "y", padding_mode=padding, align_corners=int(aligned))]
    made = model(nodes, {"x": ["N", 3, "H", "W"], "g": ["N", "I", "J", 2]}, "y", opset=20)
    imported, module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    for batch, image, wanted in ((1, (5, 7), (4, 6)), (2, (2, 9), (1, 1)), (1, (12, 3), (9, 2))):
        x = RANDOM.standard_normal((batch, 3, *image)).astype(np.float32)
        grid = RANDOM.uniform(-3, 3, (batch, *wanted, 2)).astype(np.float32)
        expected = sampled(x, grid, padding, aligned)
        for y in (*run_function(imported.module, "main", [x, grid], imported.parameters), module(x, grid)):
            np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_images_of_one_row_between_the_middles_of_which_nothing_is(mode: str, cache: KernelCache):
    made = model(
        [node("GridSample", "x g", "y", mode=mode, padding_mode="reflection", align_corners=1)],
        {"x": [2, 3, 1, 5], "g": [2, 4, 6, 2]},
        "y",
        opset=20,
    )
    x = RANDOM.standard_normal((2, 3, 1, 5)).astype(np.float32)
    grid = RANDOM.uniform(-3, 3, (2, 4, 6, 2)).astype(np.float32)
    grid[..., 0] = RANDOM.integers(0, 5, (2, 4, 6)) / 2 - 1  # the middles of columns
    place = np.round((grid[..., 0] + 1) * 2).astype(int)
    expected = np.stack([x[i, :, 0][:, place[i]] for i in range(2)])
    np.testing.assert_allclose(tw.compile(made, cache=cache, processes=1)(x, grid), expected, rtol=1e-4, atol=1e-5)


CUBIC = [
    *(
        Case(
            "GridSample",
            (floats(*image), RANDOM.uniform(-2.5, 2.5, (image[0], 5, 6, 2)).astype(np.float32)),
            {"mode": "bicubic" if aligned else "cubic", "padding_mode": padding, "align_corners": aligned},
            16 if aligned else 20,
            tolerance=1e-4,
            open={0: ("N", 3, "H", "W"), 1: ("N", "I", "J", 2)},
            title=f"{image}-{padding}-{aligned}",
        )
        for image in ((1, 3, 5, 7), (2, 3, 2, 3), (1, 3, 1, 4))
        for padding in ("zeros", "border", "reflection")
        for aligned in (0, 1)
    ),
    Case(
        "GridSample", (floats(1, 2, 4, 5), np.full((1, 1, 1, 2), 0.3, np.float32)), {"mode": "cubic"}, 22, title="one"
    ),
]


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=[pytest.mark.slow] * ("5, 7)-zeros-0" not in str(c) and "5, 7)" in str(c))) for c in CUBIC],
    ids=str,
)
def test_cubic(case: Case, cache: KernelCache):
    """Sixteen elements around each place; those outside are nothing, or others."""
    check(case, cache)


def test_refusals():
    images = {"x": [1, 3, 5, 5], "g": [1, 4, 4, 3]}
    assert "the grid has a place for each" in refusal(model([node("GridSample", "x g", "y")], images, "y", opset=20))
    images["g"] = [1, 4, 4, 2]
    for attributes, message in (
        ({"mode": "area"}, "mode 'area' is not supported"),
        ({"mode": "cubic", "padding_mode": "wrap"}, "padding mode 'wrap' is not supported"),
    ):
        assert message in refusal(model([node("GridSample", "x g", "y", **attributes)], images, "y", opset=20))
    images = {"x": [1, 3, 5], "g": [1, 4, 1]}
    cubic = model([node("GridSample", "x g", "y", mode="cubic")], images, "y", opset=20)
    assert "mode 'cubic' takes images of two axes, not of 1" in refusal(cubic)


# ---- Grids -----------------------------------------------------------------------------------------------------------


def grid_of(maps: Array, sizes: Sequence[int], aligned: int) -> Array:
    """Every map, of the place of every element; an only element of an axis is at -1 where corners are aligned."""
    axes = [
        np.arange(n) * 2 / max(n - 1, 1) - 1 if aligned else (np.arange(n) * 2 + 1) / n - 1 for n in reversed(sizes[2:])
    ]
    places = np.stack([*(axis.T for axis in np.meshgrid(*axes, indexing="ij")), np.ones(sizes[2:])], -1)
    return np.einsum("...k,nrk->n...r", places, maps.astype(np.float64))


def affine_grid(maps: Sequence[int | str], sizes: Sequence[int], **attributes: Any) -> onnx.ModelProto:
    return model([node("AffineGrid", "t s", "y", **attributes)], {"t": maps}, "y", {"s": sizes}, opset=20)


@pytest.mark.parametrize("sizes", [(1, 3, 4, 5), (2, 3, 4, 5), (1, 1, 3, 4, 5), (3, 1, 2, 3, 4)], ids=str)
@pytest.mark.parametrize("given", [{}, {"align_corners": 0}, {"align_corners": 1}], ids=str)
def test_grids(sizes: Sequence[int], given: dict[str, int], cache: KernelCache):
    """Grids of one image, of several, and of volumes are those that onnxruntime makes."""
    rank = len(sizes) - 2
    maps = RANDOM.standard_normal((sizes[0], rank, rank + 1)).astype(np.float32)
    made = affine_grid(maps.shape, sizes, **given)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    [expected] = session.run(None, {"t": maps})
    np.testing.assert_allclose(expected, grid_of(maps, sizes, given.get("align_corners", 0)), rtol=1e-5, atol=1e-5)
    check_model(made, {"t": maps}, cache, [expected])


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (1, 1, 1, 3), (2, 1, 3, 1), (1, 1, 1, 2, 3), (1, 1, 2, 1, 1)], ids=str)
@pytest.mark.parametrize("aligned", [0, 1])
def test_grids_of_one_element_along_an_axis(sizes: Sequence[int], aligned: int, cache: KernelCache):
    """It is in the middle or, with aligned corners, at -1, as in onnx's evaluator; onnxruntime has it at 1."""
    rank = len(sizes) - 2
    maps = RANDOM.standard_normal((sizes[0], rank, rank + 1)).astype(np.float32)
    made = affine_grid(maps.shape, sizes, align_corners=aligned)
    with np.errstate(divide="ignore"):
        [expected] = ReferenceEvaluator(made).run(None, {"t": maps})
    np.testing.assert_allclose(expected, grid_of(maps, sizes, aligned), rtol=1e-5, atol=1e-5)
    check_model(made, {"t": maps}, cache, [expected])


def test_grids_for_images_of_open_sizes(cache: KernelCache):
    nodes = [node("Shape", "x", "s"), node("AffineGrid", "t s", "y")]
    made = model(nodes, {"t": ["n", 2, 3], "x": ["n", 1, "h", "w"]}, "y", opset=20)
    for sizes in ((1, 1, 2, 5), (3, 1, 17, 1)):
        maps = RANDOM.standard_normal((sizes[0], 2, 3)).astype(np.float32)
        feeds = {"t": maps, "x": np.zeros(sizes, np.float32)}
        check_model(made, feeds, cache, [grid_of(maps, sizes, 0).astype(np.float32)])


def test_grids_in_half_precision():
    """Places are computed in f32, and rounded once."""
    maps = RANDOM.standard_normal((1, 2, 3)).astype(np.float16)
    made = affine_grid(maps.shape, (1, 1, 9, 30))
    made.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    imported = import_onnx(made)
    [y] = run_function(imported.module, "main", [maps], imported.parameters)
    assert y.dtype == np.float16
    np.testing.assert_allclose(y, grid_of(maps, (1, 1, 9, 30), 0), rtol=1e-3, atol=1e-3)


def test_grids_that_are_refused():
    assert "it takes maps of 2 by 3 for sizes [N, C, H, W]" in refusal(affine_grid((1, 2, 4), (1, 1, 3, 3)))
    assert "it takes maps of 2 by 3 for sizes [N, C, H, W]" in refusal(affine_grid((1, 2, 3), (1, 1, 3, 3, 3)))
    assert "its size is of a batch of 2, and there are 3 maps" in refusal(affine_grid((3, 2, 3), (2, 1, 3, 3)))
