"""Whole models, from ONNX to numbers: what onnxruntime computes, Tilework computes, in generated code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

import tilework as tw
from tilework.runtime.cache import KernelCache
from tilework.tools.light_models import (
    LIGHT_MODELS,
    assert_meaningful,
    load_light_model,
    random_feeds,
    reference,
    stage_tensors,
    with_outputs,
)

onnxruntime = pytest.importorskip("onnxruntime")

EXAMPLE = ROOT / "examples" / "digits"
TOLERANCE = 1e-4
"""The error that is allowed, as a part of the largest magnitude in a tensor."""

LARGE = ("bvlc_alexnet", "vgg19", "zfnet512")
"""Their weights take up to half a gigabyte; `test_light_models` finds the other six meaningful."""

SLOW = (*LARGE, "densenet121", "inception_v1", "inception_v2")
"""The networks that are left to `make slow`."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    """Empty at first, so that every kernel is made by the compiler as it is now."""
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def digits(cache: KernelCache) -> tw.Module:
    return tw.compile(EXAMPLE / "digits.onnx", cache=cache)


@pytest.fixture
def held_out(monkeypatch: pytest.MonkeyPatch):
    """The 360 digits that the checked-in model never saw."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import digits_data

    return digits_data.load_split()[1]


def relative_error(got: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, in units of the largest magnitude that is wanted."""
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("images", [1, 7, 360])
def test_digits_at_any_batch_size(digits, held_out, images):
    """Compiled once, with the number of images a symbol."""
    x = held_out.images[:images]
    (wanted,) = onnxruntime.InferenceSession(EXAMPLE / "digits.onnx").run(None, {"images": x})
    got = digits(x)
    assert relative_error(got, wanted) < TOLERANCE
    assert np.array_equal(got.argmax(axis=1), wanted.argmax(axis=1))


def test_digits_of_no_image(digits):
    assert digits(np.zeros((0, 1, 8, 8), np.float32)).shape == (0, 10)


def test_digits_are_recognized(digits, held_out):
    assert (digits(held_out.images).argmax(axis=1) == held_out.labels).mean() >= 0.975


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in LIGHT_MODELS])
def test_light_model(name: str, cache: KernelCache):
    """The scores, and before them a tensor a stage."""
    plain = load_light_model(name)
    model = with_outputs(plain, stage_tensors(plain))
    feeds = random_feeds(model)
    if name in LARGE:
        assert_meaningful(plain, feeds)
    compiled = tw.compile(model, cache=cache)
    got, wanted = compiled.run(feeds), reference(model, feeds)
    assert got.keys() == wanted.keys() and len(wanted) >= 4
    assert {key: error for key in wanted if (error := relative_error(got[key], wanted[key])) >= TOLERANCE} == {}
    print(f"{name}: {compiled.manifest.kernels} calls of {len(compiled.report.kernels)} generated kernels")


ISOLATED = """
import sys
import numpy as np
import tilework as tw
result = tw.load(sys.argv[1])(np.load(sys.argv[2]))
compiler = ("tilework.interpreters", "tilework.dialects", "tilework.lowering", "xdsl", "onnx")
assert not [name for name in sys.modules if name.startswith(compiler)]
np.save(sys.argv[3], result)
"""


def test_a_compiled_model_needs_no_interpreter(digits, held_out, tmp_path: Path):
    """In a process that has loaded neither the operators nor their numpy meaning, the code computes the same."""
    artefact, images, result = tmp_path / "digits.tw", tmp_path / "images.npy", tmp_path / "result.npy"
    digits.save(artefact)
    np.save(images, held_out.images)
    subprocess.run([sys.executable, "-c", ISOLATED, artefact, images, result], check=True, timeout=60)
    assert np.array_equal(np.load(result), digits(held_out.images))
