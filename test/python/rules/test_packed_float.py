"""Weights of 24 and 28 bits: what they mean, and kernels under the rule for them."""

import numpy as np
import pytest
from near_products import ORDER, doubles, is_near, normal
from onnx_models import model, node
from operator_definitions import by_definition, make, tensor
from programs import apply_phase
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

import tilework as tw
from tilework.algebra.index_expr import var
from tilework.analysis.precision import PRECISIONS
from tilework.dialects import graph
from tilework.dialects.graph.algorithms.packed_float import can_use_packed_float
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.loop import KernelOp as LoopKernelOp
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.rules.cpu.packed_float import PackedFloat
from tilework.rules.registry import choose_rule, plan_for
from tilework.targets import Target, parse_target
from tilework.targets.cpu.host import host_target

ERRORS, FLOOR = {24: 2.0**-18, 28: 2.0**-22}, 2.0**-62
"""The largest error of a weight of so many bits, as a part of itself, or of the largest of its output."""

BITS = pytest.mark.parametrize("bits", [24, 28])

ZEN = parse_target("llvm -mcpu=znver4 -num-cores=2")
HASWELL = parse_target("llvm -mcpu=haswell -num-cores=2")


def layer(*shape: int, outputs: int, bits: int = 24):
    """The operations of a layer for data of a shape: of the weight, and of the product."""
    transform = make(graph.PackedFloatWeightOp, [tensor(outputs, shape[-1])], bits=IntegerAttr(bits, i64))
    return transform, make(
        graph.PackedFloatDenseOp, [tensor(*shape), transform.result.type], outputs=IntegerAttr(outputs, i64)
    )


@BITS
@pytest.mark.parametrize("outputs", [128, 100, 1])
@pytest.mark.parametrize("shape", [(1, 32), (3, 7), (2, 1, 40), (5, 1)], ids=str)
def test_dense(shape: tuple[int, ...], outputs: int, bits: int):
    data, weight = tensor(*shape), tensor(outputs, shape[-1])
    x, w = normal(data, weight)
    transform, dense = layer(*shape, outputs=outputs, bits=bits)
    direct = make(graph.DenseOp, [data, weight])
    assert dense.result.type == direct.result.type
    u = transform.evaluate(w)
    np.testing.assert_array_equal(by_definition(transform, w), u)
    is_near(dense.evaluate(x, u), direct.evaluate(*doubles(x, w)), ERRORS[bits])
    is_near(by_definition(dense, x, u), dense.evaluate(x, u), ORDER)


def weights_of(w: np.ndarray, bits: int) -> np.ndarray:
    """What becomes of the weights of some outputs."""
    transform, dense = layer(1, w.shape[1], outputs=len(w), bits=bits)
    u = transform.evaluate(w)
    np.testing.assert_array_equal(by_definition(transform, w), u)
    with np.errstate(invalid="ignore"):
        return dense.evaluate(np.eye(w.shape[1], dtype=np.float32), u).T


@BITS
def test_weights_are_rounded(bits: int):
    rng = np.random.default_rng(0)
    scales = np.exp(rng.uniform(-60, 80, (140, 1)) + rng.uniform(-15, 0, (140, 20)))
    w = (rng.standard_normal((140, 20)) * scales).astype(np.float32)
    bound = np.abs(w) * ERRORS[bits] + np.abs(w).max(axis=1, keepdims=True) * FLOOR
    errors = np.abs(weights_of(w, bits) - w)
    assert (errors <= bound).all()
    assert errors.any()
    w = rng.integers(1, 100, (140, 20)).astype(np.float32)
    np.testing.assert_array_equal(weights_of(w, bits), w)


@BITS
def test_weights_at_the_ends(bits: int):
    most, least = np.finfo(np.float32).max / 2, np.finfo(np.float32).smallest_normal
    w = np.array(
        [[0, 0], [0, most], [0, -most], [least, 1e-45], [1, 1 - 2**-24], [np.inf, 1], [-np.nan, 1]], np.float32
    )
    found = weights_of(w, bits)
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[1:3], w[1:3], rtol=ERRORS[bits], atol=most * FLOOR)
    np.testing.assert_allclose(found[3:5], w[3:5], rtol=ERRORS[bits], atol=2.0**-126)  # those of denormals
    assert not np.isfinite(found[5:]).any()


@BITS
@pytest.mark.parametrize("decades", [0, 3, 6])
def test_small_weights_beside_large_ones(decades: int, bits: int):
    """A layer has them that undoes the scales of what it takes, of which some are zero."""
    rng = np.random.default_rng(0)
    scales = 10 ** rng.uniform(0, decades, 512)
    x, w = rng.standard_normal((1, 512)) * scales, rng.standard_normal((64, 512)) / scales
    x[0, :8], w[:, :8] = 0.0, 10.0
    transform, dense = layer(1, 512, outputs=64, bits=bits)
    found = dense.evaluate(x.astype(np.float32), transform.evaluate(w.astype(np.float32)))
    is_near(found, x @ w.T, ERRORS[bits] + 5e-7)


def test_sums_of_weights_of_28_bits_are_as_accurate_as_those_of_floats():
    """In order, as kernels add up; of as few terms as `precision="strict"` takes them for."""
    rng = np.random.default_rng(0)
    terms = PRECISIONS["strict"].least_sum
    x, w = rng.standard_normal((16, terms)), rng.standard_normal((256, terms))
    x, w = x.astype(np.float32), w.astype(np.float32)
    exact = x.astype(np.float64) @ w.T.astype(np.float64)

    def error(weights: np.ndarray) -> float:
        sums = np.zeros(exact.shape, np.float32)
        for a, b in zip(x.T, weights.T, strict=True):
            sums += np.outer(a, b)
        return float(np.sqrt(np.mean((sums - exact) ** 2)))

    assert error(weights_of(w, 28)) < 1.1 * error(w)
    assert error(weights_of(w, 24)) > 2 * error(w)


# -- kernels under the rule


def dense_relu(*shape: int, outputs: int, bits: int = 24, scaled: bool = False) -> KernelOp:
    """A kernel of one layer, and of what is usually behind it."""
    transform, dense = layer(*shape, outputs=outputs, bits=bits)
    k = KernelBuilder("dense_relu")
    x, u = k.argument(tensor(*shape), "x"), k.argument(transform.result.type, "u")
    bias = k.argument(tensor(outputs), "bias")
    names = [f"i{axis}" for axis in range(len(shape) - 1)]
    if scaled:
        x = k.compute("scaled", x.dims, with_axes([*names, "c"], lambda *i: x[i] * 2.0))
    y = dense.define(k, x, u)
    return k.finish([k.compute("relu", y.dims, with_axes([*names, "o"], lambda *i: k.max(y[i] + bias[i[-1]], 0.0)))])


def arrays_for(*shape: int, outputs: int, bits: int):
    """Small integers, whose products are exact in any order."""
    rng = np.random.default_rng(0)
    x, bias = (rng.integers(-3, 4, s).astype(np.float32) for s in (shape, (outputs,)))
    w = rng.choice(np.array([-3, -2, -1, 1, 2, 3], np.float32), (outputs, shape[-1]))
    transform, _ = layer(*shape, outputs=outputs, bits=bits)
    return [x, transform.evaluate(w), bias], np.maximum(x @ w.T + bias, 0.0)


LAYERS = [
    ((1, 64), 128, 24),
    ((1, 40), 300, 24),  # the last two blocks are moved inwards, the last one is not full
    ((2, 33), 64, 24),
    ((4, 1), 20, 24),
    ((6, 8), 200, 24),
    ((1, 1, 16), 70, 24),
    ((2, 3, 16), 70, 24),
    ((1, 64), 256, 28),
    ((1, 40), 600, 28),
    ((2, 33), 128, 28),
    ((3, 1), 20, 28),
    ((1, 1, 16), 130, 28),
]


@pytest.mark.parametrize(("shape", "outputs", "bits"), LAYERS, ids=str)
@pytest.mark.parametrize("target", [ZEN, HASWELL], ids=["avx512", "avx2"])
def test_loops(shape: tuple[int, ...], outputs: int, bits: int, target: Target):
    kernel = dense_relu(*shape, outputs=outputs, bits=bits)
    arrays, expected = arrays_for(*shape, outputs=outputs, bits=bits)
    np.testing.assert_array_equal(run_kernel(kernel, arrays)[0], expected)
    rule, plan = choose_rule(kernel, target)
    assert isinstance(rule, PackedFloat) == (target is ZEN or (bits == 24 and expected.size == outputs))
    module = ModuleOp([kernel.clone(), plan.schedule(kernel)])
    apply_phase("compile-kernel", module)
    [lowered] = (op for op in module.ops if isinstance(op, LoopKernelOp))
    found = np.empty_like(expected)
    run_loop_kernel(lowered, arrays, [found])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("shape", "outputs", "bits"), LAYERS, ids=str)
def test_compiled_kernels(run_kernel_everywhere, shape: tuple[int, ...], outputs: int, bits: int):
    kernel = dense_relu(*shape, outputs=outputs, bits=bits)
    arrays, _ = arrays_for(*shape, outputs=outputs, bits=bits)
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, host_target()).schedule(kernel))


@pytest.mark.parametrize(
    "kernel",
    [
        dense_relu(7, 64, outputs=64),
        dense_relu(4, 64, outputs=128, bits=28),
        dense_relu(1, 64, outputs=64, scaled=True),
    ],
    ids=["more rows than registers hold", "the same of 28 bits", "rows that have to be computed before"],
)
def test_what_it_does_not_fit_is_left_to_the_default_rule(kernel: KernelOp):
    assert not isinstance(choose_rule(kernel, ZEN).rule, PackedFloat)


@pytest.mark.parametrize("types", [[tensor(var("N"), 64), tensor(32, 64)], [tensor(0, 64), tensor(32, 64)]], ids=str)
def test_products_for_other_algorithms(types):
    assert not can_use_packed_float(make(graph.DenseOp, types))


@pytest.mark.parametrize(("precision", "bound"), [("default", 5e-6), ("strict", 2e-6)])
def test_a_model(precision: str, bound: float):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((1024, 4096)).astype(np.float32)
    made = model([node("MatMul", "x w", "y")], {"x": (1, 1024)}, "y", {"w": w})
    x = rng.standard_normal((1, 1024)).astype(np.float32)
    is_near(tw.compile(made, precision=precision)(x), x.astype(np.float64) @ w, bound)
