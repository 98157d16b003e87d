"""Resize by cubics and by tables (smoothed, of elements inside, of regions), compiled and compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx_checks import Case, check, floats
from onnx_models import Array, refusal

from tilework.runtime.cache import KernelCache

NONE = np.zeros(0, np.float32)
BATCH: dict[int, tuple[int | str, ...]] = {0: ("n", 2, 7, 11)}
OPEN: dict[int, tuple[int | str, ...]] = {0: ("n", 2, "h", "w")}

IMAGE = floats(3, 2, 7, 11)
ROW = floats(1, 2, 1, 1)

SIZES = ((13, 5), (1, 1), (7, 23), (3, 11), (14, 22), (2, 4))
"""Larger and smaller, to primes and to one element."""

COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")

MODES = ("linear", "cubic")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def to_sizes(x: Array, *sizes: int, opset: int = 19, **attributes: Any) -> Case:
    """The last two axes resized; in a halves' step where they are halves."""
    tolerance = 2e-3 if x.dtype == np.float16 else 1e-5
    given = np.array([*x.shape[:-2], *sizes])
    title = "-".join(map(str, (x.dtype, *x.shape, *sizes, opset, *attributes.values())))
    inputs, constants = ((x, None, None, given), (3,)) if opset > 11 else ((x, NONE, NONE, given), (1, 2, 3))
    return Case("Resize", inputs, attributes, opset, constants, tolerance, title=title)


def by_scales(
    x: Array, *scales: float, region: Array = NONE, opset: int = 19, open_: Any = None, **attributes: Any
) -> Case:
    given = np.array([*[1] * (x.ndim - 2), *scales], np.float32)
    title = "-".join(map(str, (*scales, *region, opset, *attributes.values(), "open" if open_ else "")))
    return Case("Resize", (x, region, given), attributes, opset, (1, 2), 1e-5, open=open_ or {}, title=title)


CUBIC = [
    *(
        to_sizes(IMAGE, *sizes, mode="cubic", coordinate_transformation_mode=how)
        for sizes in SIZES
        for how in COORDINATES
    ),
    *(to_sizes(ROW, *sizes, mode="cubic") for sizes in ((1, 1), (4, 3))),
    to_sizes(IMAGE, 9, 6, mode="cubic", coordinate_transformation_mode="half_pixel_symmetric"),
    to_sizes(IMAGE, 9, 6, opset=11, mode="cubic", cubic_coeff_a=-0.5),
    by_scales(IMAGE, 1.3, 0.6, opset=13, mode="cubic", open_=BATCH),
    to_sizes(IMAGE, 9, 16, opset=18, mode="cubic", cubic_coeff_a=0.3),
    to_sizes(IMAGE[0, 0], 9, 6, mode="cubic"),
    to_sizes(IMAGE.astype(np.float16), 5, 16, mode="cubic"),
    Case("Resize", (IMAGE, None, None, np.array([5, 9])), {"mode": "cubic", "axes": [3, 2]}, 18, (3,), title="axes"),
    *(
        Case(
            "Resize",
            (IMAGE, None, None, np.array([9, 15])),
            {"mode": "cubic", "axes": [2, 3], "keep_aspect_ratio_policy": policy},
            19,
            (3,),
            title=policy,
        )
        for policy in ("not_larger", "not_smaller")
    ),
    *(by_scales(IMAGE, 2, 3, mode="cubic", coordinate_transformation_mode=how) for how in COORDINATES),
    by_scales(IMAGE, 0.8, 0.6, mode="cubic", coordinate_transformation_mode="align_corners"),
    *(
        by_scales(IMAGE, *scales, mode="cubic", coordinate_transformation_mode=how, open_=OPEN)
        for scales in ((2, 3), (0.6, 1.5), (1, 0.5))
        for how in ("half_pixel", "asymmetric")
    ),
]

INSIDE = [
    *(to_sizes(IMAGE, *sizes, mode="cubic", exclude_outside=1) for sizes in SIZES),
    by_scales(IMAGE, 0.8, 1.5, opset=11, mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5, open_=BATCH),
    to_sizes(ROW, 3, 4, mode="cubic", exclude_outside=1),
    to_sizes(IMAGE.astype(np.float16), 5, 16, mode="cubic", exclude_outside=1),
]

SMOOTHED = [
    *(to_sizes(IMAGE, *sizes, mode=mode, antialias=1) for sizes in SIZES for mode in MODES),
    *(
        to_sizes(IMAGE, 3, 5, mode=mode, antialias=1, coordinate_transformation_mode=how)
        for mode in MODES
        for how in COORDINATES
    ),
    *(by_scales(IMAGE, 0.5, 1.5, opset=18, mode=mode, antialias=1, exclude_outside=1, open_=BATCH) for mode in MODES),
    *(to_sizes(IMAGE, 3, 17, mode=mode, antialias=1, exclude_outside=1) for mode in MODES),
    *(to_sizes(floats(1, 1, 90, 67), 2, 3, mode=mode, antialias=1) for mode in MODES),  # too many terms to write down
    *(to_sizes(IMAGE.astype(np.float16), 3, 5, mode=mode, antialias=1) for mode in MODES),
    *(by_scales(IMAGE, 0.6, 0.8, mode=mode, antialias=1) for mode in MODES),
    *(by_scales(IMAGE, 2, 1.5, mode=mode, antialias=1, open_=OPEN) for mode in MODES),  # nothing to smooth
]


def region(*ends: float) -> Array:
    """A region of the last two axes of four."""
    return np.array([0, 0, *ends[:2], 1, 1, *ends[2:]], np.float32)


CROP = "tf_crop_and_resize"
REGIONS = (region(0.2, 0.3, 0.7, 0.9), region(-0.3, 0.4, 0.6, 1.2), region(0.9, 0.2, 0.1, 0.8))


def part(mode: str, ends: Array, sizes: Sequence[int], **attributes: Any) -> Case:
    inputs, title = (IMAGE, ends, None, np.array([3, 2, *sizes])), f"{mode}-{ends}-{sizes}"
    ways = {"mode": mode, "coordinate_transformation_mode": CROP, "extrapolation_value": 7.5, **attributes}
    return Case("Resize", inputs, ways, 19, (1, 3), title=title)


CROPPED = [
    *(part(mode, ends, sizes) for mode in ("nearest", *MODES) for ends in REGIONS for sizes in ((5, 9), (1, 13))),
    replace(part("linear", region(0, 0, 1, 0.5), (7, 11)), by_onnx=True),  # onnxruntime copies what keeps its size
    part("nearest", region(0.2, 0.3, 0.7, 0.9), (5, 9), nearest_mode="floor"),
    by_scales(
        IMAGE, 1.5, 2, region=region(0.2, 0, 0.7, 1), mode="linear", coordinate_transformation_mode=CROP, open_=BATCH
    ),
]


@pytest.mark.parametrize("case", [*CUBIC, *INSIDE, *SMOOTHED, *CROPPED], ids=str)
def test_resize(case: Case, cache: KernelCache):
    check(case, cache)


REFUSED = [
    (by_scales(IMAGE, 0.5, 2, mode="linear", antialias=1, open_=OPEN), "smoothing (antialias) is not supported where"),
    (
        by_scales(IMAGE, 2, 2, mode="cubic", exclude_outside=1, open_=OPEN),
        "a mean of what is inside (exclude_outside) is not supported where sizes are not constant",
    ),
    (
        by_scales(IMAGE, 2, 2, region=REGIONS[0], coordinate_transformation_mode=CROP, open_=OPEN),
        "a region (tf_crop_and_resize) is not supported where sizes are not constant",
    ),
    (part("linear", REGIONS[0][:7], (5, 9)), "a region of 4 axes is 8 finite numbers, not ["),
    (part("linear", np.full(8, np.nan, np.float32), (5, 9)), "a region of 4 axes is 8 finite numbers, not ["),
    (
        to_sizes(IMAGE.astype(np.int32), 3, 5, mode="linear", antialias=1),
        "mode 'linear' is for floating-point numbers, not for i32",
    ),
    (to_sizes(IMAGE.astype(np.int32), 3, 5, mode="cubic"), "computes on floating-point numbers, not on i32"),
    (part("cubic", REGIONS[0], (5, 1 << 40)), "its table of 4398046511104 weights is more than is computed beforehand"),
    *((to_sizes(IMAGE, 0, 5, mode=mode), "it cannot make sizes [0, 5] of [7, 11]") for mode in MODES),
    (to_sizes(IMAGE, 3, 5, antialias=1), "what is nearest is not smoothed (antialias)"),
    (to_sizes(IMAGE, 3, 5, mode="area"), "mode 'area' is not supported, only nearest, linear, cubic"),
    (Case("Resize", (IMAGE, np.ones(4, np.float32)), {"mode": "cubic"}, 10, (1,)), "only nearest, linear"),
]


@pytest.mark.parametrize(("case", "message"), REFUSED, ids=str)
def test_refusal(case: Case, message: str):
    said = refusal(case.model(case.open))
    assert message in said and said.startswith("Resize 'Resize_0': ") and "\n" not in said
