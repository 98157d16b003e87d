"""The option precision="direct": an infinity or a NaN reaches the results that depend on it, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import model, node

import tilework as tw
from tilework.runtime.cache import KernelCache

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return KernelCache(tmp_path_factory.mktemp("cache"))


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def weighted(op, x, w, **attributes):
    """A node that multiplies with a constant weight, and its input."""
    return model([node(op, "x w", "y", **attributes)], {"x": x.shape}, "y", {"w": w}), {"x": x}


LAYERS = {
    "windows of three": (9 * 64, lambda: weighted("Conv", normal(2, 64, 14, 14), normal(64, 64, 3, 3), pads=[1] * 4)),
    "windows of two": (4 * 256, lambda: weighted("Conv", normal(1, 512, 8, 8), normal(256, 512, 2, 2))),
    "windows of one": (256, lambda: weighted("Conv", normal(1, 256, 28, 28), normal(256, 256, 1, 1))),
    "many rows": (512, lambda: weighted("MatMul", normal(512, 512), normal(512, 512))),
    "one row": (1024, lambda: weighted("MatMul", normal(1, 2048), normal(2048, 1024))),
}
"""Layers for which `default` has other algorithms, and how many results depend on one element of the input."""


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("layer", LAYERS)
def test_what_is_not_finite_stays_where_it_is(cache, layer, special):
    reached, make = LAYERS[layer]
    made, feeds = make()
    module = tw.compile(made, cache=cache, precision="direct")
    [finite] = module.run(feeds).values()
    x = feeds["x"].copy()
    x[(0,) * (x.ndim - 2) + (x.shape[-2] // 2, x.shape[-1] // 2)] = special
    [got] = module.run({"x": x}).values()
    changed = got != finite
    assert np.count_nonzero(changed) == reached
    assert np.all(np.isnan(got[changed]) if np.isnan(special) else np.isinf(got[changed]))
