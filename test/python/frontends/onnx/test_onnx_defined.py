"""Operators of the standard that are defined by others, or are products with constants, compared with onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx_checks import RANDOM, Case, check, floats
from onnx_models import Array, refusal

import tilework as tw
from tilework.runtime.cache import KernelCache

IMAGE = floats(2, 3, 7, 8)

# ---- Norms -----------------------------------------------------------------------------------------------------------

WITH_ZEROS = np.concatenate([floats(2, 5), np.zeros((1, 5), np.float32)])


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def pooled(title: str, p: int = 2, opset: int = 18, **attributes: Any) -> Case:
    return Case("LpPool", (IMAGE,), {"kernel_shape": [3, 2], "p": p, **attributes}, opset, title=title)


NORMS = [
    Case("LpNormalization", (WITH_ZEROS,), title="rows of zeros"),
    Case("LpNormalization", (IMAGE,), {"p": 1, "axis": -3}, 6),
    Case("LpNormalization", (IMAGE,), {"axis": 1}, open={0: ("n", 3, "h", 8)}, title="open"),
    Case("LpNormalization", (floats(3, 9, dtype=np.float16) * np.float16(300),), opset=22, tolerance=2e-3),
    Case("GlobalLpPool", (IMAGE,), {"p": 1}, 6),
    Case("GlobalLpPool", (IMAGE,), {"p": 3}, 6, open={0: ("n", 3, "h", "w")}, title="open"),
    pooled("pads", p=3, pads=[1, 0, 2, 1], strides=[2, 3], opset=11),
    pooled("distances", p=1, dilations=[2, 3]),
    pooled("upper", auto_pad="SAME_UPPER", strides=[2, 2], opset=6),
    pooled("lower", auto_pad="SAME_LOWER", strides=[2, 2]),
    pooled("valid", auto_pad="VALID", strides=[2, 5], ceil_mode=1),
    pooled("a last window over the end", strides=[3, 3], ceil_mode=1),
    pooled("a last window in the padding", strides=[2, 2], pads=[2, 1, 1, 1], ceil_mode=1),
    Case("LpPool", (floats(1, 2, 9),), {"kernel_shape": [4], "p": 4}, open={0: ("n", 2, "w")}, title="open"),
    Case(
        "LpPool",
        (IMAGE,),
        {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1},
        open={0: (2, 3, "h", "w")},
        title="a last window over an open end",
    ),
]


@pytest.mark.parametrize("case", NORMS, ids=str)
def test_norm(case: Case, cache: KernelCache):
    check(case, cache)


# ---- Places ----------------------------------------------------------------------------------------------------------

TIES = np.array([[1, 3, 3, 2], [0, 0, 0, 0], [-1, -2, -1, -5]], np.float32)
SEQUENCES = floats(4, 3, 2)
POOLED = floats(2, 3, 3, 3)
CHOSEN = np.stack([RANDOM.choice(48, 9, replace=False) + 48 * i for i in range(6)]).reshape(2, 3, 3, 3)
HALVED = {"kernel_shape": [2, 3], "strides": [2, 3], "pads": [0, 1, 0, 0]}


def columns(image: list[int], window: list[int], positions: int, **attributes: Any) -> Case:
    made = floats(2, 3 * int(np.prod(window)), positions)
    inputs = (made, np.array(image), np.array(window))
    return Case("Col2Im", inputs, attributes, constants=(1, 2), title=f"{image}-{positions}")


PLACES = [
    Case("Hardmax", (TIES,), title="ties"),
    Case("Hardmax", (IMAGE,), {"axis": -2}, open={0: ("n", 3, 7, "w")}, title="open"),
    Case("Hardmax", (IMAGE,), {"axis": 2}, 11),
    Case("Hardmax", (IMAGE,), opset=12, open={0: ("n", 3, "h", 8)}),
    Case("Hardmax", (floats(3, 9, dtype=np.float16),), opset=13),
    Case("ReverseSequence", (SEQUENCES, np.array([4, 1, 3])), title="steps first"),
    Case(
        "ReverseSequence",
        (SEQUENCES, np.array([3, 0, 1, 2])),
        {"time_axis": 1, "batch_axis": 0},
        open={0: ("n", "t", 2), 1: ("n",)},
        title="open",
    ),
    Case("ReverseSequence", (SEQUENCES[..., 0] > 0, np.array([4, 2, 3])), opset=10, title="truth"),
    columns([7, 9], [2, 3], 42),
    columns([7, 9], [2, 3], 15, strides=[2, 3], pads=[1, 0, 2, 1]),
    columns([7, 9], [2, 3], 27, strides=[3, 1], pads=[2, 1, 2, 1], dilations=[2, 1]),
    columns([12], [4], 9),
    Case("MaxUnpool", (POOLED, CHOSEN), HALVED, 11),
    Case("MaxUnpool", (POOLED, CHOSEN, np.array([2, 3, 6, 8])), HALVED, 11, (2,), title="shape"),
    Case("MaxUnpool", (POOLED, CHOSEN), HALVED, open={0: ("n", 3, 3, "w"), 1: ("n", 3, 3, "w")}, title="open"),
]


@pytest.mark.parametrize("case", PLACES, ids=str)
def test_place(case: Case, cache: KernelCache):
    check(case, cache)


# ---- Samples ---------------------------------------------------------------------------------------------------------

REGIONS = np.array([[0, 0, 6, 5], [1.5, 2, 3.2, 4], [-3, -3, 4, 4], [5, 5, 20, 20], [4, 4, 2, 2]], np.float32)
OF_IMAGES = np.array([0, 1, 1, 0, 1])
BINS = {"output_height": 3, "output_width": 2, "sampling_ratio": 2}


def aligned(title: str, opset: int = 16, dtype: type[np.generic] = np.float32, **attributes: Any) -> Case:
    inputs = (IMAGE.astype(dtype), REGIONS.astype(dtype), OF_IMAGES)
    tolerance = 5e-3 if dtype is np.float16 else 1e-5
    return Case("RoiAlign", inputs, {**BINS, **attributes}, opset, tolerance=tolerance, title=title)


def deformed(
    title: str,
    groups: int = 1,
    parts: int = 1,
    size: tuple[int, int] = (6, 7),
    offset: float = 1,
    mask: bool = True,
    bias: bool = True,
    dtype: type[np.generic] = np.float32,
    **attributes: Any,
) -> Case:
    inputs = [
        floats(2, 4, 6, 7, dtype=dtype),
        floats(6, 4 // groups, 3, 2, dtype=dtype),
        floats(2, parts * 12, *size, dtype=dtype) * dtype(offset),
        floats(6, dtype=dtype) if bias else None,
        floats(2, parts * 6, *size, dtype=dtype) if mask else None,
    ]
    numbers = {"group": groups, "offset_group": parts, **attributes}
    tolerance = 3e-2 if dtype is np.float16 else 1e-4
    return Case("DeformConv", tuple(inputs), numbers, 22, tolerance=tolerance, title=title)


SAMPLES = [
    aligned("half pixel"),
    aligned("no half pixel", coordinate_transformation_mode="output_half_pixel", spatial_scale=0.75),
    aligned("opset 10", 10),
    aligned("largest", mode="max"),
    aligned("one sample", sampling_ratio=1, mode="max", opset=10),
    aligned("halves", dtype=np.float16),
    Case(
        "RoiAlign",
        (IMAGE, REGIONS, OF_IMAGES),
        BINS,
        16,
        open={0: ("n", 3, "h", "w"), 1: ("regions", 4), 2: ("regions",)},
        title="open",
    ),
    Case("RoiAlign", (IMAGE, REGIONS[:0], OF_IMAGES[:0]), BINS, 16, title="no region"),
    deformed("plain", size=(4, 6)),
    deformed("strides", pads=[1, 0, 2, 1], strides=[2, 1], size=(4, 7), mask=False),
    deformed("dilations", groups=2, pads=[1, 0, 2, 1], dilations=[2, 1], size=(5, 7), bias=False),
    deformed("parts", groups=2, parts=4, size=(4, 6), offset=5, mask=False, bias=False),
    deformed("far away", parts=2, size=(4, 6), offset=1e10),
    deformed("halves", size=(4, 6), dtype=np.float16),
]


@pytest.mark.parametrize("case", SAMPLES, ids=str)
def test_sample(case: Case, cache: KernelCache):
    check(case, cache)


def test_open_deformed(cache: KernelCache):
    case = deformed("open", size=(4, 6), groups=2, parts=2)
    sizes = {0: ("n", 4, 6, 7), 2: ("n", 24, 4, 6), 4: ("n", 12, 4, 6)}
    [got] = tw.compile(case.model(sizes), cache=cache, processes=1).run(case.feeds()).values()
    np.testing.assert_allclose(got, case.wanted(), rtol=1e-4, atol=1e-4)


# ---- Signals ---------------------------------------------------------------------------------------------------------

REAL, COMPLEX = floats(2, 5, 6, 1), floats(2, 5, 6, 2)
SOUND, WINDOW = floats(2, 40, 1), np.hanning(9).astype(np.float32)


def number(value: int) -> Array:
    return np.array(value, np.int64)


def mel(bands: int, length: int, rate: int, low: float, high: float, **attributes: Any) -> Case:
    edges = (np.array(low, np.float32), np.array(high, np.float32))
    inputs = (number(bands), number(length), number(rate), *edges)
    return Case("MelWeightMatrix", inputs, attributes, constants=(0, 1, 2, 3, 4), title=f"{bands}-{length}")


SIGNALS = [
    Case("DFT", (COMPLEX,), {"axis": 1}, 17),
    Case("DFT", (COMPLEX,), {"axis": -2, "inverse": 1}, 19),
    Case("DFT", (REAL, number(9)), {"onesided": 1}, 17, (1,), title="padded"),
    Case("DFT", (REAL, number(4)), {"axis": 2}, 17, (1,), title="cut"),
    Case("DFT", (COMPLEX, None, number(-4)), {}, 20, (2,), title="first axis"),
    Case("DFT", (COMPLEX,), {}, 20, open={0: ("n", "m", 6, 2)}, title="open"),
    Case("DFT", (COMPLEX, number(8), number(1)), {"inverse": 1, "onesided": 1}, 20, (1, 2), title="back to real"),
    Case("DFT", (COMPLEX, number(9), number(1)), {"inverse": 1, "onesided": 1}, 20, (1, 2), title="to an odd length"),
    Case("DFT", (COMPLEX, number(4)), {"inverse": 1, "onesided": 1}, 20, (1,), by_onnx=True, title="back to fewer"),
    Case("DFT", (REAL.astype(np.float64),), {"onesided": 1}, 20, tolerance=1e-12, title="doubles"),
    Case("DFT", (COMPLEX.astype(np.float16),), {}, 20, tolerance=1e-2, title="halves"),
    Case("DFT", (COMPLEX[0, 0],), {"axis": 0}, 17, title="a vector"),
    Case("STFT", (SOUND, number(3), WINDOW), {}, 17, (1, 2), title="window"),
    Case("STFT", (SOUND, number(8), WINDOW, number(9)), {"onesided": 0}, 17, (1, 3), title="window of data"),
    Case("STFT", (floats(2, 40, 2), number(8), None, number(16)), {"onesided": 0}, 17, (1, 3), title="complex"),
    Case("STFT", (SOUND, number(8), None, number(16)), {}, 17, (1, 3), open={0: ("n", "t", 1)}, title="open"),
    mel(8, 16, 8192, 0, 4096),
    mel(40, 400, 16000, 20, 8000),
    mel(5, 64, 8000, 100, 3000, output_datatype=onnx.TensorProto.DOUBLE),
]


@pytest.mark.parametrize("case", SIGNALS, ids=str)
def test_signal(case: Case, cache: KernelCache):
    check(case, cache)


# ---- Products --------------------------------------------------------------------------------------------------------

PRODUCTS = [
    *(
        Case("CumProd", (floats(3, 20), number(axis)), attributes, 26, (1,), title=title)
        for axis, attributes, title in (
            (-1, {}, "rows"),
            (0, {"reverse": 1}, "reverse"),
            (1, {"exclusive": 1, "reverse": 1}, "exclusive"),
        )
    ),
    *(Case("Det", (floats(2, 3, n, n),), {}, 11, tolerance=1e-4, title=f"{n}") for n in (1, 2, 3, 5, 8)),
    Case("Det", (RANDOM.integers(-1, 2, (20, 4, 4)).astype(np.float32),), open={0: ("n", 4, 4)}, title="zeros"),
    Case("Det", (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.float32),), title="rows in another order"),
    Case("Det", (np.array([[0, 1, 1], [0, 2, 1], [0, 0, 3]], np.float32),), title="singular"),
]


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_product(case: Case, cache: KernelCache):
    check(case, cache)


# ---- Refusals --------------------------------------------------------------------------------------------------------

LENGTHS = np.array([1, 2, 3])

REFUSED = [
    (Case("LpNormalization", (IMAGE,), {"p": 3}), "by the first norm or the second (p), not by norm 3"),
    (Case("LpNormalization", (IMAGE,), {"axis": 4}), "a tensor of rank 4 has no axis 4"),
    (Case("GlobalLpPool", (floats(2, 3),)), "it takes images with channels"),
    (Case("GlobalLpPool", (IMAGE,), {"p": 0}), "the p of its norm is positive, it is not 0"),
    (pooled("", auto_pad='SAME">'), "auto_pad 'SAME\">' is not known"),
    (Case("LpPool", (IMAGE,), {"kernel_shape": [9, 2]}), "a window of 9 does not fit"),
    (
        Case("LpPool", (IMAGE,), {"kernel_shape": [2], "ceil_mode": 1}),
        "windows of 1 axes do not slide over images of 2",
    ),
    (Case("LpPool", (IMAGE,), {"kernel_shape": [2, 2], "ceil_mode": 1}, 12), "Unrecognized attribute: ceil_mode"),
    (Case("Hardmax", (IMAGE,), {"axis": 4}), "a tensor of rank 4 has no axis 4"),
    (Case("ReverseSequence", (SEQUENCES, LENGTHS[:2])), "a length for each of a batch of 3"),
    (Case("ReverseSequence", (SEQUENCES, LENGTHS), {"time_axis": 2}), "time and batch are 0 and 1, not 2 and 1"),
    (Case("ReverseSequence", (SEQUENCES, LENGTHS), opset=9), "No Op registered for ReverseSequence"),
    (columns([7, 9], [2, 3], 40), "windows [2, 3] of [7, 9] are 42 columns of 6 elements a channel"),
    (columns([7, 9], [2, 3], 42, pads=[1, 1]), "the pads are 4 numbers that are not negative, not [1, 1]"),
    (
        Case("Col2Im", (floats(1, 6, 42), np.array([7, 9]), np.array([2, 3]))),
        "its image shape is computed from data",
    ),
    (
        Case("MaxUnpool", (POOLED, CHOSEN, np.array([2, 3, 5, 8])), HALVED, constants=(2,)),
        "its output shape [2, 3, 5, 8] is not [2, 3, 6, 8], or larger by a constant",
    ),
    (
        Case("MaxUnpool", (POOLED, CHOSEN, np.array([2, 3, 6, 8])), HALVED),
        "is not [2, 3, 6, 8], or larger by a constant",
    ),
    (Case("MaxUnpool", (POOLED, CHOSEN[:1]), HALVED), "each element has one index"),
    (aligned("", sampling_ratio=-1), "the number of samples is not negative, -1 is"),
    (aligned("", output_width=0), "a region has a positive number of bins, not 3 by 0"),
    (aligned("", mode="least"), "its modes 'least' and 'half_pixel' are not known"),
    (Case("RoiAlign", (IMAGE, REGIONS[:, :3], OF_IMAGES), BINS), "regions of four numbers"),
    (Case("RoiAlign", (IMAGE, REGIONS, OF_IMAGES[:1]), BINS), "each of 5 regions has the number of an image, an i64"),
    (deformed("", size=(4, 5)), "its offset is of [2, 12, 4, 6]"),
    (deformed("", size=(4, 6), pads=[1]), "the pads are 4 numbers that are not negative, not [1]"),
    (deformed("", groups=4, parts=2, size=(4, 6)), "4 groups and 2 of offsets do not part"),
    (deformed("", size=(4, 6), kernel_shape=[2, 2]), "kernel_shape [2, 2] is not that of the weight, [3, 2]"),
    (Case("DFT", (COMPLEX,), {"onesided": 1}), "one-sided (onesided), signals are real"),
    (Case("DFT", (REAL,), {"onesided": 1, "inverse": 1}), "one-sided (onesided), frequencies are complex"),
    (Case("DFT", (COMPLEX,), {"axis": 3}, 17), "the last axis is that of real and imaginary parts"),
    (Case("DFT", (floats(2, 5, 3),)), "perhaps with an imaginary one, not of 3"),
    (Case("DFT", (COMPLEX, number(8))), "the length of its transform is a positive constant"),
    (Case("DFT", (COMPLEX, number(0)), constants=(1,)), "the length of its transform is a positive constant"),
    (Case("DFT", (COMPLEX,), open={0: (2, 5, "t", 2)}), "the signal is of constant length, not of t"),
    (Case("DFT", (floats(1, 5000, 2),)), "its matrix of 100000000 numbers is more than is computed beforehand"),
    (Case("STFT", (SOUND, number(8), None, number(41)), constants=(1, 3)), "no frame of 41 fits in a signal of 40"),
    (Case("STFT", (SOUND, number(0), WINDOW), constants=(1,)), "a constant length and step, not of 9 every 0"),
    (Case("STFT", (SOUND, number(8), WINDOW, number(8)), constants=(1, 3)), "its window is as long as a frame, 8"),
    (Case("STFT", (SOUND, number(8), WINDOW)), "frames are of a constant length and step"),
    (mel(10**6, 10**6, 8192, 0, 4096), "more than is computed beforehand"),
    (mel(8, 16, 8192, 4096, 0), "frequencies that rise, from 0 to half of the sample rate"),
    (Case("CumProd", (IMAGE, number(4)), opset=26, constants=(1,)), "a tensor of rank 4 has no axis 4"),
    (Case("Det", (floats(2, 3),)), "it takes square matrices of 1 to 8 rows"),
    (Case("Det", (floats(9, 9),)), "it takes square matrices of 1 to 8 rows"),
]


@pytest.mark.parametrize(("case", "message"), REFUSED, ids=str)
def test_refusal(case: Case, message: str):
    """One line, which begins with the operator."""
    said = refusal(case.model(case.open))
    assert message in said and said.startswith(f"{case.op} '{case.op}_0': ") and "\n" not in said
