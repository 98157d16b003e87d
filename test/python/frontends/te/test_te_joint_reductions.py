"""Several reductions as the results of one compute: each is what it is by itself, however loops are scheduled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilework as tw
from tilework import te

A = te.placeholder((5, 13), name="A")
N = te.placeholder((5, 13), "int32", name="N")
k, r = te.reduce_axis((0, 13), "k"), te.reduce_axis((0, 13), "r")


def first_largest(value: Any, place: Any, axis: Any) -> Any:
    """The largest value and the first place that it is at."""

    def join(x: Any, y: Any) -> Any:
        better = te.any(x[0] > y[0], te.all(x[0] == y[0], x[1] < y[1]))
        return te.Select(better, x[0], y[0]), te.Select(better, x[1], y[1])

    start = te.comm_reducer(join, lambda t, u: (te.const(float("-inf"), t), te.const(99, u)), name="first_largest")
    return start((value, place), axis=axis)


OF_TWO = "of a reduction with 2 results: return each of them once, and read those that are needed"


def with_places(i: Any) -> Any:
    """The results of a reducer of pairs, in another order and with a product between them."""
    value, place = first_largest(A[i, k], k.astype("int32"), k)
    return place, te.prod(N[i, k], axis=k), value


RULES: dict[str, tuple[Callable[..., Any], Callable[[np.ndarray, np.ndarray], list[Any]]]] = {
    "two sums": (
        lambda i: (te.sum(A[i, k], axis=k), te.sum(A[i, k] * A[i, k], axis=k)),
        lambda a, n: [a.sum(1), (a * a).sum(1)],
    ),
    "a sum and a maximum": (
        lambda i: (te.sum(A[i, k], axis=k), te.max(A[i, k], axis=[k])),
        lambda a, n: [a.sum(1), a.max(1)],
    ),
    "of several types": (
        lambda i: (te.min(N[i, k], axis=k), te.any(A[i, k] > 3, axis=k), te.sum(A[i, k].astype("float64"), axis=k)),
        lambda a, n: [n.min(1), (a > 3).any(1), a.sum(1, dtype=np.float64)],
    ),
    "each where another condition holds": (
        lambda i: (
            te.sum(A[i, k], axis=k, where=A[i, k] > 0),
            te.max(N[i, k], axis=k, where=k < 3),
            te.sum(N[i, k], k),
        ),
        lambda a, n: [(a * (a > 0)).sum(1), n[:, :3].max(1), n.sum(1)],
    ),
    "none where no condition holds": (
        lambda i: (te.prod(N[i, k], axis=k, where=k < 0), te.min(A[i, k], axis=k, where=k < 0)),
        lambda a, n: [np.ones(5), np.full(5, np.inf)],
    ),
    "one sum twice": (lambda i: (te.sum(A[i, k], axis=k),) * 2, lambda a, n: [a.sum(1)] * 2),
    "with a reducer of pairs": (with_places, lambda a, n: [a.argmax(1), n.prod(1), a.max(1)]),
}


def one_condition(i: Any) -> Any:
    positive = A[i, k] > 0
    return te.sum(A[i, k], axis=k, where=positive), te.max(A[i, k], axis=k, where=positive)


RULES["both where one condition holds"] = (
    one_condition,
    lambda a, n: [(a * (a > 0)).sum(1), np.where(a > 0, a, -np.inf).max(1)],
)


def factored(s: te.Schedule, result: te.Tensor) -> None:
    _, inner = s[result].split(s[result].op.reduce_axis[0], 4)
    made = s.rfactor(result, inner)
    assert isinstance(made, list)
    s[made[0]].compute_at(s[result], s[result].op.axis[0])
    s[made[0]].vectorize(s[made[0]].op.axis[0])


def cached(s: te.Schedule, result: te.Tensor) -> None:
    cache = s.cache_write(result.op.outputs, "local")
    assert isinstance(cache, list)
    s[cache[0]].compute_at(s[result], s[result].op.axis[0])


@pytest.mark.parametrize("schedule", [lambda s, result: None, factored, cached], ids=["plain", "factored", "cached"])
@pytest.mark.parametrize("rule", RULES)
def test_results_are_those_of_the_reductions_by_themselves(run_te, rule: str, schedule: Callable[..., None]):
    rng = np.random.default_rng(0)
    a, n = rng.integers(-4, 5, (5, 13)).astype(np.float32), rng.integers(-2, 3, (5, 13)).astype(np.int32)
    made = te.compute((5,), RULES[rule][0], name="made")
    s = te.create_schedule(made[0].op)
    schedule(s, made[0])
    inputs = [(t, x) for t, x in ((A, a), (N, n)) if t.op in s.operations]
    results = run_te(s, [*(t for t, _ in inputs), *made], *(x for _, x in inputs))
    for result, expected in zip(results, RULES[rule][1](a, n), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "rule, message",
    [
        (
            lambda i: (te.sum(A[i, k], axis=k), te.max(A[i, r], axis=r)),
            "compute 'made' reduces over axes [k] for one result and over [r] for another: reduce all over the same "
            "axes, or make two computes",
        ),
        (
            lambda i: (te.sum(A[i, k], axis=k), A[i, 0]),
            "the results of compute 'made' are all reductions, or none is: 1 of 2 are",
        ),
        (
            lambda i: first_largest(A[i, k], k, k)[0],
            f"compute 'made' returns result 0 {OF_TWO}",
        ),
        (
            lambda i: (lambda both: (both[1], both[1]))(first_largest(A[i, k], k, k)),
            f"compute 'made' returns results 1, 1 {OF_TWO}",
        ),
    ],
)
def test_reductions_that_cannot_be_computed_together(rule: Callable[..., Any], message: str):
    with pytest.raises(tw.UsageError) as refusal:
        te.compute((5,), rule, name="made")
    assert str(refusal.value) == message
