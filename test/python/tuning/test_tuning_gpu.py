"""Tuning for devices with blocks of threads, here for PoCL, whose device is this processor."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from opencl_devices import skip_without_opencl

import tilework as tw
from tilework import te
from tilework.targets import parse_target
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.outcome import Code, Failure
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.programs import kernel_of
from tilework.tuning.task import Task

skip_without_opencl()

TARGET = "opencl -threads=64 -shared-kib=16 -warp=8 -cores=4"


def product() -> list[te.Tensor]:
    """A product with an odd and a prime size."""
    A, B = te.placeholder((15, 24), name="A"), te.placeholder((24, 37), name="B")
    k = te.reduce_axis((0, 24), name="k")
    return [A, B, te.compute((15, 37), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")]


def shares() -> list[te.Tensor]:
    """Exponentials as parts of their sums along rows."""
    X = te.placeholder((5, 70), name="X")
    k = te.reduce_axis((0, 70), name="k")
    E = te.compute((5, 70), lambda i, j: te.exp(X[i, j]), name="E")
    S = te.compute((5,), lambda i: te.sum(E[i, k], axis=k), name="S")
    return [X, te.compute((5, 70), lambda i, j: E[i, j] / S[i], name="Y")]


def windows() -> list[te.Tensor]:
    """A convolution with a border, and what is added to it."""
    X, W, b = (
        te.placeholder((3, 9, 11), name="X"),
        te.placeholder((8, 3, 3, 3), name="W"),
        te.placeholder((8,), name="b"),
    )

    def bordered(c: te.Expr, y: te.Expr, x: te.Expr) -> te.Expr:
        return te.if_then_else(te.all(y >= 1, y < 10, x >= 1, x < 12), X[c, y - 1, x - 1], 0.0)

    P = te.compute((3, 11, 13), bordered, name="P")
    c, ry, rx = (te.reduce_axis((0, 3), name=name) for name in ("c", "ry", "rx"))
    Y = te.compute(
        (8, 9, 11), lambda o, y, x: te.sum(P[c, y + ry, x + rx] * W[o, c, ry, rx], axis=[c, ry, rx]), name="Y"
    )
    return [X, W, b, te.compute((8, 9, 11), lambda o, y, x: te.max(Y[o, y, x] + b[o], 0.0), name="R")]


@pytest.mark.parametrize("program", [product, shares, windows])
def test_every_sketch_is_right(program):
    """A candidate by chance of each sketch computes what the schedule of the rules does."""
    task = Task(kernel_of(program(), None)[0], parse_target(TARGET))
    space, rng = task.space(), Random(7)
    found = [space.draw_from(sketch, rng) for sketch in range(len(space.sketches))]
    texts = [task.text(task.default), *(task.text(space.schedule(c)) for c in found if c is not None)]
    assert len(texts) > 4
    with LocalBuilder(task, 2) as builder, LocalRunner(task, 1) as runner:
        (reference, _, _), *built = builder.build(texts, 60.0)
        assert reference is not None and runner.set_reference(reference, 60.0).failure is None
        outcomes = [failed or runner.measure(code, 60.0) for code, failed, _ in built if code or failed]
    assert [(outcome.failure, outcome.message) for outcome in outcomes if outcome.failure] == []


def test_a_search_on_a_device():
    """What is found is right, no slower than the rules' schedule, and copies are not in its time."""
    A, B, C = product()
    tuned = tw.tune([A, B, C], target=TARGET, trials=5, seconds=120)
    assert tuned.default_seconds is not None and tuned.best_seconds <= tuned.default_seconds
    assert len(tuned.trials) == 5
    rng = np.random.default_rng(0)
    a, b, c = rng.random((15, 24), np.float32), rng.random((24, 37), np.float32), np.empty((15, 37), np.float32)
    tuned.function(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_what_a_driver_refuses_costs_the_candidate_only():
    """Source that the driver does not build is a failure of its kind, and so is a process that dies; others run on."""
    task = Task(kernel_of(product(), None)[0], parse_target(TARGET))
    with LocalBuilder(task, 1) as builder, LocalRunner(task, 1) as runner:
        [(right, _, _)] = builder.build([task.text(task.default)], 60.0)
        assert right is not None and runner.set_reference(right, 60.0).failure is None
        broken = Code(right.target, right.entry, right.object_code + b"\nnot C", right.scratch)
        outcome = runner.measure(broken, 60.0)
        assert outcome.failure is Failure.RUN and "does not build a kernel" in outcome.message
        assert runner.measure(right, 60.0).failure is None
