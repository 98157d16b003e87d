"""Operators that take integers too: powers of every pair of types, means, roots and logarithms of sums, Relu."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_cases import Case, build, int64, reference
from onnx_models import Array

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

SIGNED = [np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)]
UNSIGNED = [np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype(name) for name in ("float32", "float64", "float16")] + [np.dtype(ml_dtypes.bfloat16)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def run(model: onnx.ModelProto, feeds: dict[str, Array], cache: KernelCache) -> list[list[Array]]:
    """The results, interpreted and compiled."""
    imported = import_onnx(model)
    interpreted = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
    return [interpreted, list(tw.compile(model, cache=cache).run(feeds).values())]


def check(case: Case, cache: KernelCache, wanted: Array | None = None) -> None:
    """It makes what is wanted, or what onnxruntime makes."""
    model, feeds = build(case)
    expected = reference(case, model, feeds) if wanted is None else [wanted]
    for results in run(model, feeds, cache):
        for result, array in zip(results, expected, strict=True):
            assert result.dtype == array.dtype and result.shape == array.shape
            np.testing.assert_array_equal(result, array)


# ---- Powers ----------------------------------------------------------------------------------------------------------


def exact_powers(a: Array, b: Array) -> Array:
    """The powers of Python's integers, which have any size; what a type has no room for wraps around."""
    bits, results = 8 * a.dtype.itemsize, []
    for base, exponent in zip(a.tolist(), b.tolist(), strict=True):
        inverse = {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
        power = pow(base, exponent, 1 << bits) if exponent >= 0 else inverse % (1 << bits)
        results.append(power - (1 << bits) if power >> (bits - 1) else power)
    return np.array(results, a.dtype)


@pytest.mark.parametrize("exponents", [*SIGNED, *UNSIGNED], ids=str)
@pytest.mark.parametrize("bases", ["int32", "int64"])
def test_powers_of_integers(bases: str, exponents: np.dtype[Any], cache: KernelCache):
    """Large ones wrap around, as numpy's do; onnxruntime, which computes them as float64, gives the least integer.

    To a negative power they are cut off towards zero, as onnxruntime's are; 0 is 0 there, as quotients by 0 are.
    """
    limits = np.iinfo(exponents)
    taken = [
        e for e in (0, 1, 2, 3, 5, 31, 32, 63, 64, 65, -1, -2, limits.max, limits.min) if e in range(limits.min, 128)
    ]
    pairs = list(product([0, 1, -1, 2, -2, 3, -7, 10, np.iinfo(bases).max, np.iinfo(bases).min], [*taken, limits.max]))
    a, b = np.array([p[0] for p in pairs], bases), np.array([p[1] for p in pairs], exponents)
    check(Case("Pow", [a, b], opset=15), cache, exact_powers(a, b))


def test_powers_as_onnxruntime_has_them(cache: KernelCache):
    a = np.array([[-3], [1], [-1], [7], [2]], np.int64)
    check(Case("Pow", [a, int64(-3, -2, 0, 1, 5, 9)], opset=15), cache)
    check(Case("Pow", [np.abs(a).astype(np.int32), np.array([0.5, 1.5, 2], np.float32)], opset=15), cache)


@pytest.mark.parametrize("exponents", [*FLOATS, *SIGNED, *UNSIGNED], ids=str)
@pytest.mark.parametrize("bases", FLOATS, ids=str)
def test_powers_to_exponents_of_another_type(bases: np.dtype[Any], exponents: np.dtype[Any], cache: KernelCache):
    """They have the type of the base, and are those of the numbers, whichever type holds these."""
    numbers = np.array([0, 1, 2, 3, 7, 100] + ([] if exponents in UNSIGNED else [-1, -2])).astype(exponents)
    a, b = np.meshgrid(np.array([1.5, -1, -2, 0.5, 3]).astype(bases), numbers)
    with np.errstate(over="ignore"):
        expected = np.power(a.astype(np.float64), b.astype(np.float64)).astype(bases)
    model, feeds = build(Case("Pow", [a, b], opset=15))
    for [result] in run(model, feeds, cache):
        assert result.dtype == bases
        tolerance = 2 * float(ml_dtypes.finfo(bases).eps) if bases != np.float32 else 1e-5
        np.testing.assert_allclose(result.astype(np.float64), expected.astype(np.float64), tolerance)


@pytest.mark.parametrize("bases", ["float32", "float16"])
def test_whether_a_large_exponent_is_odd(bases: str, cache: KernelCache):
    """None of these would be, as a number of the base's type."""
    a, b = np.array([-1, -1, -1], bases), int64(2**24 + 1, 2**52 + 1, 2**30)
    check(Case("Pow", [a, b], opset=15), cache, np.array([-1, -1, 1], bases))


def test_powers_of_known_integers_are_computed_while_importing():
    a, b = int64(3, -1, 2, 5), int64(3, -3, 64, -1)
    model, _ = build(Case("Pow", [a, b], {}, (0, 1), opset=15))
    imported = import_onnx(model)
    [result] = run_function(imported.module, "main", [], imported.parameters)
    np.testing.assert_array_equal(result, [27, -1, 0, 0])


# ---- Reductions ------------------------------------------------------------------------------------------------------

REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
REDUCTIONS += ("ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")
EVERY = [(op, dtype) for op in REDUCTIONS for dtype in ("int32", "int64", "uint32", "uint64")]


def reduced(op: str, x: Array) -> Array:
    """Reduce along axis 1, as numbers without limits, and cut off then."""
    wide = x.astype(np.float64)
    functions: dict[str, Any] = {
        "ReduceL1": lambda: np.abs(wide).sum(1),
        "ReduceL2": lambda: np.sqrt((wide * wide).sum(1)),
        "ReduceMean": lambda: wide.mean(1),
        "ReduceSumSquare": lambda: (wide * wide).sum(1),
        "ReduceLogSum": lambda: np.log(wide.sum(1)),
        "ReduceLogSumExp": lambda: np.log(np.exp(wide).sum(1)),
    }
    return functions[op]().astype(x.dtype) if op in functions else getattr(x, op[6:].lower())(1).astype(x.dtype)


@pytest.mark.parametrize(("op", "dtype"), EVERY)
@pytest.mark.parametrize("opset", [13, 18])
def test_reductions_of_integers(op: str, dtype: str, opset: int, cache: KernelCache):
    """Those that onnxruntime has, it makes as well; onnx's evaluator has no logarithms of them."""
    rows = [[7, -2, 4, 5], [-9, 2, 8, 3]] if dtype[0] == "i" else [[7, 2, 0], [1, 9, 4]]
    x, keep = np.array(rows, dtype), {"keepdims": 0}
    by_input = opset == 18 or op == "ReduceSum"
    case = Case(op, [x, int64(1)], keep, (1,), opset) if by_input else Case(op, [x], {**keep, "axes": [1]}, (), opset)
    check(case, cache, reduced(op, x))


def test_a_mean_does_not_overflow(cache: KernelCache):
    """It is what onnxruntime computes; onnx's evaluator adds up 32 bits."""
    most = np.iinfo(np.int32).max
    x = np.array([[most, most, 1], [-most, -most, -most], [-3, -4, 0]], np.int32)
    check(Case("ReduceMean", [x, int64(1)], {"keepdims": 0}, (1,), 18), cache)
    check(Case("ReduceMean", [np.zeros((2, 0), np.int32), int64(1)], {}, (1,), 18), cache, np.zeros((2, 1), np.int32))


def test_a_mean_over_an_axis_of_open_size(cache: KernelCache):
    infos = [helper.make_tensor_value_info("x", onnx.TensorProto.INT32, ["N", "M"])]
    node = helper.make_node("ReduceMean", ["x", "axes"], ["y"], keepdims=0)
    axes = [numpy_helper.from_array(int64(1), "axes")]
    graph = helper.make_graph([node], "mean", infos, [helper.make_empty_tensor_value_info("y")], axes)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    for shape in ((3, 5), (1, 1), (2, 40)):
        x = np.arange(-7, np.prod(shape) - 7, dtype=np.int32).reshape(shape)
        for [result] in run(model, {"x": x}, cache):
            np.testing.assert_array_equal(result, np.trunc(x.mean(1)))


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_relu_of_integers(dtype: np.dtype[Any], cache: KernelCache):
    x = np.array([-3, 0, 5, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    check(Case("Relu", [x], opset=14), cache, np.maximum(x, 0))
