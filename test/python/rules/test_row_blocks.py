"""Kernels that go row by row: which of them the rule takes, in what blocks, and that results stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from programs import schedule_by
from xdsl.dialects.builtin import IntegerAttr, TensorType, f32

from tilework.algebra.index_expr import Expr
from tilework.analysis.sizes import size_of
from tilework.dialects.schedule import CacheReadOp, RFactorOp, SequenceOp, SplitOp
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.rules.cpu.row_blocks import RowBlocks
from tilework.targets import parse_target

TARGET = replace(parse_target("llvm -mcpu=haswell"), cores=2)
NO_MASKS = replace(parse_target("llvm -mcpu=x86-64"), cores=2)


def softmax(k: KernelBuilder, x: Tensor) -> Tensor:
    """A softmax along the last axis."""
    *rows, columns = x.dims
    largest = k.compute("max", rows, lambda *i: k.reduce_max((columns,), lambda r: x[(*i, r)]))
    exps = k.compute("exp", x.dims, lambda *i: k.call("exp", x[i] - largest[i[:-1]]))
    total = k.compute("sum", rows, lambda *i: k.sum((columns,), lambda r: exps[(*i, r)]))
    return k.compute("softmax", x.dims, lambda *i: exps[i] / total[i[:-1]])


def softmax_kernel(*shape: int) -> KernelOp:
    """A kernel that is the softmax of a tensor."""
    k = KernelBuilder("softmax")
    return k.finish([softmax(k, k.argument(TensorType(f32, shape), "x"))])


def normalization(rows: int, columns: int) -> KernelOp:
    """x less its mean over its deviation, with sums that keep their axis as 1."""
    k = KernelBuilder("normalization")
    x = k.argument(TensorType(f32, (rows, columns)), "x")
    mean = k.compute("mean", (rows, 1), lambda i, o: k.sum((columns,), lambda r: x[i, r] * (1 / columns)))
    square = k.compute("square", x.dims, lambda i, j: (x[i, j] - mean[i, 0]) * (x[i, j] - mean[i, 0]))
    variance = k.compute("variance", (rows, 1), lambda i, o: k.sum((columns,), lambda r: square[i, r]))
    root = k.compute("root", (rows, 1), lambda i, o: k.call("sqrt", variance[i, o] + 1.0))
    return k.finish([k.compute("y", x.dims, lambda i, j: (x[i, j] - mean[i, 0] + 2.0) / root[i, 0])])


def attention(rows: int, keys: int, depth: int, width: int, bias: int = 0) -> KernelOp:
    """Two heads of it; with a bias, the last stage is one behind the second product, and scores are bounded by tanh."""
    k = KernelBuilder("attention")
    q = k.argument(TensorType(f32, (2, rows, depth)), "q")
    w = k.argument(TensorType(f32, (2, depth, keys)), "k")
    v = k.argument(TensorType(f32, (2, keys, width)), "v")
    scores = k.compute("s", (2, rows, keys), lambda h, i, j: k.sum((depth,), lambda r: q[h, i, r] * w[h, r, j]))
    bounded = (lambda x: k.call("tanh", x)) if bias else (lambda x: x * 0.25)
    scaled = k.compute("scaled", scores.dims, lambda *i: bounded(scores[i]))
    weights = softmax(k, scaled)
    y = k.compute("y", (2, rows, width), lambda h, i, j: k.sum((keys,), lambda r: weights[h, i, r] * v[h, r, j]))
    return k.finish([k.compute("bias", y.dims, lambda *i: y[i] + 1.0) if bias else y])


def mean(dims: tuple[int, ...], *summed: int) -> KernelOp:
    """Over some axes, which stay as 1."""
    k = KernelBuilder("mean")
    x = k.argument(TensorType(f32, dims), "x")
    kept = [1 if axis in summed else extent for axis, extent in enumerate(dims)]

    def element(*i: Expr):
        def term(*r: Expr):
            places = dict(zip(summed, r, strict=True))
            return x[tuple(places.get(axis, e) for axis, e in enumerate(i))]

        return k.sum([dims[axis] for axis in summed], term)

    total = k.compute("sum", kept, element)
    return k.finish([k.compute("mean", kept, lambda *i: total[i] * 0.5)])


def many_stages(columns: int) -> KernelOp:
    """A kernel of one row, whose stages are read again when others have been computed: four of them are there at a
    time."""
    k = KernelBuilder("many")
    x = k.argument(TensorType(f32, (1, columns)), "x")

    def total(of: Tensor) -> Tensor:
        return k.compute("sum", (1,), lambda i: k.sum((columns,), lambda r: of[i, r]))

    def following(before: Tensor, total: Tensor) -> Tensor:
        return k.compute("tanh", x.dims, lambda i, j: k.call("tanh", before[i, j] / total[i]))

    first = k.compute("exp", x.dims, lambda i, j: k.call("exp", x[i, j]))
    second = following(first, total(first))
    third = following(second, total(second))
    fourth = following(third, total(third))
    last = total(fourth)

    def element(i: Expr, j: Expr) -> Scalar:
        return (first[i, j] + second[i, j] + third[i, j] + fourth[i, j]) * last[i]

    return k.finish([k.compute("y", x.dims, element)])


def largest(rows: int, columns: int, step: int = 1, width: int | None = None) -> KernelOp:
    """The largest element of every row, or of windows that move by `step` along the only one."""
    k = KernelBuilder("largest")
    x = k.argument(TensorType(f32, (rows, columns) if width is None else (step * rows + width,)), "x")

    def term(i: Expr, r: Expr):
        return x[i, r] if width is None else x[i * step + r]

    return k.finish([k.compute("y", (rows,), lambda i: k.reduce_max((width or columns,), lambda r: term(i, r)))])


@pytest.mark.parametrize(
    ("kernel", "block", "factored"),
    [
        (lambda: softmax_kernel(64, 96), 32, True),
        (lambda: softmax_kernel(3, 20, 64), 20, True),  # as many as there are
        (lambda: softmax_kernel(61, 40), 16, True),  # the last block begins before the one in front of it ends
        (lambda: softmax_kernel(64, 37), 32, True),  # the last vector of each row is a part of one
        (lambda: softmax_kernel(64, 7), 32, False),  # less than a vector: only rows are lanes
        (lambda: softmax_kernel(5, 16), 5, True),
        (lambda: softmax_kernel(64, 3001), 2, True),  # 24 kB
        (lambda: softmax_kernel(16, 512), 8, True),  # 15 would fit, but leave one to compute fourteen again for
        (lambda: softmax_kernel(3, 40000), 1, True),
        (lambda: normalization(48, 64), 24, True),
        (lambda: normalization(48, 61), 24, True),
        (lambda: softmax_kernel(1, 64), 1, True),
        (lambda: softmax_kernel(1, 1, 77), 1, True),  # a single row has no other lanes, so some are left at its end
        (lambda: softmax_kernel(3, 1003), 3, True),
        (lambda: normalization(1, 61), 1, True),
        (lambda: many_stages(4000), 1, True),
        (lambda: largest(70, 96), 24, True),  # nothing else reads them
        (lambda: largest(3, 37), 3, True),
        (lambda: largest(64, 37), 32, True),
        (lambda: mean((2, 12, 14, 16), 2, 3), 12, True),  # two axes in one piece
        (lambda: mean((2, 12, 14, 48), 1, 3), 14, True),
        (lambda: mean((1, 3, 7, 7), 2, 3), 3, True),
        (lambda: mean((1, 96), 0, 1), 1, True),
        (lambda: attention(33, 64, 8, 1), 33, True),  # nothing is left of a row but a number
    ],
)
def test_summaries(
    run_kernel_everywhere: Callable[..., object], kernel: Callable[[], KernelOp], block: int, factored: bool
):
    op = kernel()
    schedule = schedule_by(RowBlocks(), op, TARGET)
    first = next(s for s in schedule.walk() if isinstance(s, SplitOp))
    assert isinstance(first.factor, IntegerAttr) and first.factor.value.data == block
    assert any(isinstance(s, RFactorOp) for s in schedule.walk()) == factored
    _run(run_kernel_everywhere, op, schedule)


@pytest.mark.parametrize(
    ("kernel", "block"),
    [
        (lambda: softmax_kernel(64, 37), 32),
        (lambda: softmax_kernel(64, 3001), 16),  # 192 kB
        (lambda: normalization(48, 61), 24),
        (lambda: largest(64, 37), 32),
    ],
)
def test_only_rows_are_lanes_without_masks(
    run_kernel_everywhere: Callable[..., object], kernel: Callable[[], KernelOp], block: int
):
    op = kernel()
    schedule = schedule_by(RowBlocks(), op, NO_MASKS)
    first = next(s for s in schedule.walk() if isinstance(s, SplitOp))
    assert isinstance(first.factor, IntegerAttr) and first.factor.value.data == block
    # The sums of long rows are factored into blocks, in front of the rows, but no dimension of lanes comes behind them.
    assert not any(isinstance(s, RFactorOp) and s.factor_axis.value.data == -1 for s in schedule.walk())
    _run(run_kernel_everywhere, op, schedule)


@pytest.mark.parametrize(
    ("sizes", "copied"),
    [
        ((40, 520, 8, 16), True),  # rows of k that are 2 kB apart
        ((40, 96, 8, 16), False),
        ((19, 24, 5, 16), False),
        ((40, 521, 8, 16), False),  # no whole vectors
        ((9, 520, 8, 24), False),  # few tiles read it
        ((40, 520, 8, 16, 1), True),
    ],
    ids=str,
)
def test_attention(run_kernel_everywhere: Callable[..., object], sizes: tuple[int, ...], copied: bool):
    kernel = attention(*sizes)
    schedule = schedule_by(RowBlocks(), kernel, TARGET)
    assert any(isinstance(op, CacheReadOp) for op in schedule.walk()) == copied
    _run(run_kernel_everywhere, kernel, schedule)


def test_one_matrix_for_both_products(run_kernel_everywhere: Callable[..., object]):
    """It is copied for the first of them only."""
    k = KernelBuilder("attention")
    q, w = k.argument(TensorType(f32, (40, 512)), "q"), k.argument(TensorType(f32, (512, 512)), "w")
    scores = k.compute("s", (40, 512), lambda i, j: k.sum((512,), lambda r: q[i, r] * w[r, j] * 0.01))
    weights = softmax(k, scores)
    kernel = k.finish([k.compute("y", (40, 512), lambda i, j: k.sum((512,), lambda r: weights[i, r] * w[r, j]))])
    schedule = schedule_by(RowBlocks(), kernel, TARGET)
    assert sum(isinstance(op, CacheReadOp) for op in schedule.walk()) == 1
    _run(run_kernel_everywhere, kernel, schedule)


def _run(run_kernel_everywhere: Callable[..., object], kernel: KernelOp, schedule: SequenceOp):
    rng = np.random.default_rng(0)
    shapes = [[size_of([("", e)]) for e in dims_of(t)] for t in kernel.body.block.arg_types]
    arrays = [rng.random(shape).astype(np.float32) for shape in shapes]
    run_kernel_everywhere(kernel, arrays, schedule, 1e-5)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda: softmax_kernel(64, 1 << 18),  # too long for the stack
        lambda: many_stages(60000),
        lambda: mean((64, 64), 0),  # columns
        lambda: largest(64, 0, step=8, width=32),  # windows that overlap
        lambda: largest(64, 24),  # a few vectors
    ],
)
def test_refused(kernel: Callable[[], KernelOp]):
    assert RowBlocks().match(kernel(), TARGET, set()) is None
