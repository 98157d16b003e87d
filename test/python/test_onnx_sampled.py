"""Images read between their elements, compiled and of open sizes; more kinds are in the node tests of the standard."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from onnx_models import Array, model, node, refusal
from test_onnx_defined import Case, check, floats

import tilework as tw
from tilework.backends.cache import KernelCache
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function

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


@pytest.mark.parametrize("case", CUBIC, ids=str)
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
