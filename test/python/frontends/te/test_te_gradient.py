"""Derivatives against differences of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tilework as tw
from tilework import te

RNG = np.random.default_rng(0)


def run(outputs: Sequence[te.Tensor], feeds: dict[te.Tensor, Any]) -> list[Any]:
    read = [t for t in feeds if any(t in _needed(o) for o in outputs)]
    f = tw.build(te.create_schedule([o.op for o in outputs]), [*read, *outputs])
    made = [np.zeros([int(size) for size in o.shape], o.dtype) for o in outputs]
    f(*(feeds[t] for t in read), *made)
    return made


def _needed(tensor: te.Tensor) -> set[te.Tensor]:
    return {tensor}.union(*(_needed(t) for t in tensor.op.input_tensors))


def matmul(a: te.Tensor, b: te.Tensor) -> te.Tensor:
    k = te.reduce_axis((0, a.shape[1]), "k")
    return te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k))


def strided(a: te.Tensor, w: te.Tensor) -> te.Tensor:
    r = te.reduce_axis((0, 3), "r")
    return te.compute((4,), lambda i: te.sum(a[i * 2 + r] * w[r], axis=r))


def backwards(a: te.Tensor) -> te.Tensor:
    return te.compute((5,), lambda i: a[4 - i] * a[i])


def padded(a: te.Tensor) -> te.Tensor:
    return te.compute((6,), lambda i: te.if_then_else(te.all(i > 0, i < 5), a[i - 1] * a[i - 1], 0.0))


def masked(a: te.Tensor) -> te.Tensor:
    k = te.reduce_axis((0, 5), "k")
    return te.compute((5,), lambda i: te.sum(a[k] * a[i], axis=k, where=k < i))


def spread(a: te.Tensor) -> te.Tensor:
    return te.compute((3, 4), lambda i, j: te.tanh(a[j]) * (i + 1).astype("float64"))


def in_two_ways(a: te.Tensor) -> te.Tensor:
    once = te.compute(a.shape, lambda i, j: te.exp(a[i, j]))
    return matmul(once, te.compute((3, 2), lambda i, j: once[j, i] * a[j, i]))


def functions(a: te.Tensor) -> te.Tensor:
    def element(i: Any) -> Any:
        x: Any = a[i]
        total = te.sigmoid(x) + te.sqrt(x) / te.log(x + 1) - te.power(x, 2.5) + te.sin(x) * te.cos(x)
        total = total + te.max(x, 0.5) + te.min(x * 2, 0.9) + te.erf(x) + te.rsqrt(x) + te.atan(x) + te.abs(x - 0.6)
        return total + te.Select(x > 0.4, x * x, x) + te.floor(x) + x.astype("float32").astype("float64")

    return te.compute(a.shape, element)


@pytest.mark.parametrize(
    "function, shapes",
    [
        (matmul, [(2, 3), (3, 2)]),
        (strided, [(9,), (3,)]),
        (backwards, [(5,)]),
        (padded, [(4,)]),
        (masked, [(5,)]),
        (spread, [(4,)]),
        (in_two_ways, [(2, 3)]),
        (functions, [(6,)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_derivatives_are_what_differences_show(function: Callable[..., te.Tensor], shapes: list[tuple[int, ...]]):
    inputs = [te.placeholder(shape, "float64", name=f"x{i}") for i, shape in enumerate(shapes)]
    output = function(*inputs)
    head = te.placeholder(output.shape, "float64", name="head")
    arrays, weights = [RNG.uniform(0.2, 0.9, shape) for shape in shapes], RNG.normal(size=tuple(map(int, output.shape)))
    results = te.gradient(output, inputs, head=head)
    got = run(results, {**dict(zip(inputs, arrays, strict=True)), head: weights})
    forward = tw.build(te.create_schedule(output.op), [*inputs, output])

    def value(number: int, at: tuple[int, ...], step: float) -> float:
        moved = [array.copy() for array in arrays]
        moved[number][at] += step
        out = np.zeros_like(weights)
        forward(*moved, out)
        return float((out * weights).sum())

    step = 1e-3 if function is functions else 1e-5  # which has a number of float32 in it
    for number, (array, found) in enumerate(zip(arrays, got, strict=True)):
        for at in np.ndindex(*array.shape):
            expected = (value(number, at, step) - value(number, at, -step)) / (2 * step)
            np.testing.assert_allclose(found[at], expected, rtol=2e-3, atol=2e-3 if function is functions else 1e-6)


def test_derivatives_of_elements_that_data_select():
    A, index = te.placeholder((5,), name="A"), te.placeholder((4,), "int32", name="index")
    picked = te.compute((4,), lambda i: A[index[i]] * 2, name="picked")
    head = te.placeholder((4,), name="head")
    [result] = te.gradient(picked, A, head)
    [got] = run([result], {index: np.array([1, 1, 4, 0], np.int32), head: np.arange(1, 5, dtype=np.float32)})
    np.testing.assert_array_equal(got, [8, 6, 0, 0, 6])


def test_without_a_head_every_element_has_its_derivatives():
    A = te.placeholder((3, 3), name="A")
    B = te.compute((3, 3), lambda i, j: A[j, i] * 2, name="B")
    unrelated = te.placeholder((2,), name="unrelated")
    results = te.gradient(B, [A, unrelated])
    assert [tuple(r.shape) for r in results] == [(3, 3, 3, 3), (3, 3, 2)]
    got, zero = run(results, {})
    expected = np.einsum("il,jk->ijkl", 2 * np.eye(3), np.eye(3))
    np.testing.assert_array_equal(got, expected)
    assert not zero.any()


def test_a_product_has_products_for_derivatives():
    a, b = te.placeholder((40, 50), name="a"), te.placeholder((50, 60), name="b")
    c = matmul(a, b)
    head = te.placeholder((40, 60), name="head")
    [da] = te.gradient(c, a, head)
    text = str(tw.lower(te.create_schedule(da.op), [head, b, da], simple_mode=True))
    assert text.count("loop.for") == 3 and "loop.if" not in text


def test_what_has_no_derivative_is_named():
    A = te.placeholder((4, 4), name="A")
    k = te.reduce_axis((0, 4), "k")
    most = te.compute((4,), lambda i: te.max(A[i, k], axis=k), name="most")
    with pytest.raises(
        tw.UsageError, match="^te.gradient: 'most' is a reduction and no sum: it has no derivative here$"
    ):
        te.gradient(most, A)
    wrong = te.compute((4, 4), lambda i, j: te.hypot(A[i, j], 1.0) + te.copysign(A[i, j], 1.0), name="wrong")
    with pytest.raises(tw.UsageError, match="^te.gradient: copysign has no derivative here$"):
        te.gradient(wrong, A)
    two, _ = te.compute((4, 4), lambda i, j: (A[i, j], A[j, i]), name="two")
    with pytest.raises(
        tw.UsageError, match="^te.gradient: 'two' is no compute of one tensor: it has no derivative here$"
    ):
        te.gradient(two, A)
    with pytest.raises(tw.UsageError, match="^the head of te.gradient ends in the shape of"):
        te.gradient(te.compute((4,), lambda i: A[i, 0]), A, head=te.placeholder((3,)))
