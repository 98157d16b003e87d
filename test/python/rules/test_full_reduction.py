"""Sums with a single result: vectors of them, for each core, and that results stay what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from programs import schedule_by
from xdsl.dialects.builtin import TensorType, f32

from tilework.algebra.index_expr import Expr
from tilework.dialects.schedule import ParallelOp, RFactorOp
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.rules.cpu.default import Default
from tilework.targets import parse_target

TARGET = replace(parse_target("llvm -mcpu=haswell"), cores=2)


def mean_square(dims: Sequence[int], transposed: bool = False) -> KernelOp:
    """The mean of the squares of a difference, anchored where it is divided by something."""
    k = KernelBuilder("mean_square")
    x, y = (k.argument(TensorType(f32, dims), name) for name in "xy")

    def square(*r: Expr):
        at = tuple(reversed(r)) if transposed else r
        return (x[at] - y[at]) * (x[at] - y[at])

    total = k.compute("sum", (), lambda: k.sum(dims[::-1] if transposed else dims, square))
    return k.finish([k.compute("mean", (), lambda: total[()] * 0.125)])


def largest(dims: Sequence[int]) -> KernelOp:
    """The root itself is the reduction."""
    k = KernelBuilder("largest")
    x = k.argument(TensorType(f32, dims), "x")
    return k.finish([k.compute("max", (), lambda: k.reduce_max(dims, lambda *r: x[r]))])


def least_and_product(count: int) -> KernelOp:
    """A kernel with two results at once."""
    k = KernelBuilder("both")
    x = k.argument(TensorType(f32, (count,)), "x")
    both = k.reduce(
        lambda a, b: (k.min(a[0], b[0]), a[1] * b[1]),
        [(float("inf"), f32), (1.0, f32)],
        (count,),
        lambda r: (x[r], x[r] + 0.5),
    )
    return k.finish([*k.compute_all("both", (), lambda: both)])


@pytest.mark.parametrize(
    ("kernel", "factored", "parallel"),
    [
        (lambda: mean_square((256, 192)), 4, True),  # cores, lanes, lanes 8 at a time, blocks of elements in a lane
        (lambda: mean_square((64, 32)), 2, False),  # too little for two cores, and for blocks
        (lambda: mean_square((257, 193)), 3, False),  # no whole vectors
        (lambda: mean_square((48, 96), transposed=True), 1, False),  # what is in one piece is a row, not the whole
        (lambda: mean_square((8,)), 1, False),
        (lambda: mean_square((7,)), 0, False),  # not a vector
        (lambda: mean_square((1, 1, 1)), 0, False),
        (lambda: mean_square((0, 8)), 0, False),
        (lambda: largest((1 << 16,)), 2, True),
        (lambda: largest((997,)), 1, False),
        (lambda: least_and_product(64), 0, False),
    ],
)
def test_totals(
    run_kernel_everywhere: Callable[..., object], kernel: Callable[[], KernelOp], factored: int, parallel: bool
):
    op = kernel()
    schedule = schedule_by(Default(), op, TARGET)
    assert sum(isinstance(s, RFactorOp) for s in schedule.walk()) == factored
    assert any(isinstance(s, ParallelOp) for s in schedule.walk()) == parallel
    rng = np.random.default_rng(0)
    types = [t for t in op.body.block.arg_types if isinstance(t, TensorType)]
    arrays = [rng.random(t.get_shape()).astype(np.float32) for t in types]
    run_kernel_everywhere(op, arrays, schedule, 1e-5)
