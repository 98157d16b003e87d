"""A value that several places read is one number for all of them, though each may compute it again.

Results are compared bit by bit with numpy, which rounds every product: a fused multiplication and addition would differ
in most elements of these inputs.
"""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from onnx_models import model, node

import tilework as tw
from tilework import te
from tilework.runtime.cache import KernelCache

RNG = np.random.default_rng(0)
A, B, D, E = RNG.standard_normal((4, 6, 37)).astype(np.float32)
INPUTS = {name: ["n", 37] for name in "abde"}
FEEDS = {"a": A, "b": B, "d": D, "e": E}
PRODUCT = node("Mul", "a b", "p")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return KernelCache(tmp_path_factory.mktemp("cache"))


def test_a_product_that_a_sum_alone_reads_is_rounded_with_it(cache):
    """This shows that the inputs of this file tell both ways apart."""
    [y] = tw.compile(model([PRODUCT, node("Add", "p d", "y")], INPUTS, "y"), cache=cache).run(FEEDS).values()
    exact = A.astype(np.float64) * B + D
    assert np.mean(y != A * B + D) > 0.1
    assert np.all(np.abs(y - exact) <= np.abs(exact) * 2.0**-24)


READERS = {
    "sums": ([node("Add", "p d", "y"), node("Sub", "e p", "z")], lambda p: (p + D, E - p)),
    "an output": ([node("Add", "p d", "y"), node("Identity", "p", "z")], lambda p: (p + D, p)),
    "a sum of itself": ([node("Relu", "p", "r"), node("Sub", "p r", "y")], lambda p: (p - np.maximum(p, 0),)),
    "a maximum of rows": (
        [node("ReduceMax", "p", "m", axes=[1]), node("Sub", "p m", "y")],
        lambda p: (p - p.max(1, keepdims=True),),
    ),
    "a maximum of columns": (
        [node("ReduceMax", "p", "m", axes=[0]), node("Sub", "m p", "y")],
        lambda p: (p.max(0, keepdims=True) - p,),
    ),
    "the same from the other side": ([node("Mul", "b a", "q"), node("Sub", "p q", "y")], lambda p: (p - p,)),
}


@pytest.mark.parametrize("precision", ["default", "strict"])
@pytest.mark.parametrize("readers", READERS)
def test_a_product_that_several_read_is_rounded(cache, readers, precision):
    nodes, expected = READERS[readers]
    wanted = expected(A * B)
    made = model([PRODUCT, *nodes], INPUTS, " ".join("yz"[: len(wanted)]))
    results = tw.compile(made, cache=cache, precision=precision).run(FEEDS).values()
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("type_", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [3.0, 1e10, 1e20])
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
def test_softmax_of_scaled_logits(cache, type_, factor, op):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(type_))
    x = RNG.standard_normal((6, 10)).astype(type_)
    m = model([node("Mul", "x f", "s"), node(op, "s", "y", axis=-1)], {"x": ["n", 10]}, "y", {"f": type_(factor)})
    m.graph.input[0].type.tensor_type.elem_type = element
    [y] = tw.compile(m, cache=cache).run({"x": x}).values()
    s = (x * type_(factor)).astype(np.longdouble)
    s -= s.max(1, keepdims=True)
    total = np.exp(s).sum(1, keepdims=True)
    want = np.exp(s) / total if op == "Softmax" else s - np.log(total)
    np.testing.assert_allclose(y, want.astype(type_), rtol=1e-5, atol=1e-30)


def test_products_of_two_loops_are_one_number(cache):
    """The product depends on the outer axis alone in one of its readers, so that it could be moved out of its loop."""
    a, b = te.placeholder((37,), name="a"), te.placeholder((37,), name="b")
    p = te.compute((37,), lambda i: a[i] * b[i], name="p")
    rows = te.compute((37, 37), lambda i, j: p[i] - a[j], name="rows")
    columns = te.compute((37, 37), lambda i, j: p[j] - a[i], name="columns")
    s = te.create_schedule([rows.op, columns.op])
    s[p].compute_inline()
    for stage in (rows, columns):
        s[stage].vectorize(s[stage].split(stage.op.axis[1], 8)[1])
    y, z = np.empty((2, 37, 37), np.float32)
    tw.build(s, [a, b, rows, columns])(A[0], B[0], y, z)
    np.testing.assert_array_equal(y, (A[0] * B[0])[:, None] - A[0])
    np.testing.assert_array_equal(z, y.T)


def test_the_imaginary_part_of_a_number_times_its_conjugate_is_zero(cache):
    a, b = te.placeholder((37,), name="a"), te.placeholder((37,), name="b")
    c = te.compute((37,), lambda i: a[i] * b[i] - b[i] * a[i], name="c")
    y = np.empty(37, np.float32)
    tw.build(te.create_schedule(c.op), [a, b, c])(A[0], B[0], y)
    np.testing.assert_array_equal(y, np.zeros(37, np.float32))
