"""Unique: what there is, where, which of it each element is, and how often, equal to onnxruntime's."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from onnx_models import Array, check_onnxruntime, model, node

from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


OUTPUTS = "values first number times"


def few(*shape: int, seed: int = 0, dtype: type[np.generic] = np.float32) -> Array:
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(dtype)


@pytest.mark.parametrize("in_order", [0, 1])
def test_elements(in_order: int, cache: KernelCache):
    made = model([node("Unique", "x", OUTPUTS, sorted=in_order)], {"x": ["N", 3]}, OUTPUTS)
    check_onnxruntime(made, cache, *({"x": few(n, 3, seed=n)} for n in (1, 2, 40)))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices(axis: int, cache: KernelCache):
    made = model([node("Unique", "x", OUTPUTS, axis=axis)], {"x": ["N", 3, 2]}, OUTPUTS)
    check_onnxruntime(made, cache, *({"x": few(n, 3, 2, seed=n) // 2} for n in (1, 20)))


def test_slices_as_they_are_found(cache: KernelCache):
    made = model([node("Unique", "x", OUTPUTS, axis=0, sorted=0)], {"x": [30, 2]}, OUTPUTS)
    check_onnxruntime(made, cache, {"x": few(30, 2)})


def test_some_outputs(cache: KernelCache):
    made = model([node("Unique", "x", "values  number")], {"x": [9]}, "values number")
    check_onnxruntime(made, cache, {"x": few(9)}, {"x": np.zeros(9, np.float32)})


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
def test_other_elements(dtype: type[np.generic], cache: KernelCache):
    made = model([node("Unique", "x", OUTPUTS)], {"x": [50]}, OUTPUTS)
    made.graph.input[0].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    check_onnxruntime(made, cache, {"x": few(50, dtype=dtype)})


def test_nan_is_one_value():
    imported = import_onnx(model([node("Unique", "x", OUTPUTS)], {"x": [5]}, OUTPUTS))
    x = np.array([np.nan, 1, np.nan, -np.inf, 1], np.float32)
    found = run_function(imported.module, "main", [x], imported.parameters)
    for result, wanted in zip(found, ([-np.inf, 1, np.nan], [3, 1, 0], [2, 1, 2, 0, 1], [1, 2, 2]), strict=True):
        np.testing.assert_array_equal(result, wanted)
