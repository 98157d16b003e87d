"""Axes cut into pieces, for cores and for the second cache: which, and that results stay what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs import schedule_by
from xdsl.dialects.builtin import TensorType, f32

from tilework.algebra.index_expr import Expr
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.rules.cpu.axis_splits import AxisSplit, axis_splits
from tilework.rules.cpu.default import Default
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.targets import parse_target

SMALL = replace(parse_target("llvm -mcpu=znver4"), cores=2, cache_bytes=(32 << 10, 8 << 10, 8 << 20))
"""Half of its second cache is 4 kB."""


def product(blocks: int, rows: int, sums: int) -> KernelOp:
    """[o, i, l] = sum of x[i, k] * w[o, k, l], then relu: blocks of 16 outputs are the outermost axis."""
    k = KernelBuilder("product")
    x, w = k.argument(TensorType(f32, (rows, sums)), "x"), k.argument(TensorType(f32, (blocks, sums, 16)), "w")
    y = k.compute("y", (blocks, rows, 16), lambda o, i, lane: k.sum((sums,), lambda r: x[i, r] * w[o, r, lane]))
    return k.finish([k.compute("relu", (blocks, rows, 16), lambda o, i, lane: k.max(y[o, i, lane], 0.0))])


def windows(blocks: int, rows: int, sums: int) -> KernelOp:
    """[o, i, l] = sum of x[i + t, k] * w[o, k, t, l]: as `product`, of windows of three rows."""
    k = KernelBuilder("windows")
    x, w = k.argument(TensorType(f32, (rows + 2, sums)), "x"), k.argument(TensorType(f32, (blocks, sums, 3, 16)), "w")

    def element(o: Expr, i: Expr, lane: Expr) -> Scalar:
        return k.sum((sums, 3), lambda r, t: x[i + t, r] * w[o, r, t, lane])

    return k.finish([k.compute("y", (blocks, rows, 16), element)])


def depthwise(blocks: int, rows: int, channels_last: bool) -> KernelOp:
    """[o, i, j, l] or [o, i, j] = sum of x[o, i + t, j + u, l] * w[o, t, u, l]: windows of 3 x 3 of each channel."""
    k, lanes = KernelBuilder("depthwise"), (16,) if channels_last else ()
    x = k.argument(TensorType(f32, (blocks, rows + 2, 114, *lanes)), "x")
    w = k.argument(TensorType(f32, (blocks, 3, 3, *lanes)), "w")

    def element(o: Expr, i: Expr, j: Expr, *lane: Expr) -> Scalar:
        return k.sum((3, 3), lambda t, u: x[o, i + t, j + u, *lane] * w[o, t, u, *lane])

    return k.finish([k.compute("y", (blocks, rows, 112, *lanes), element)])


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (product(16, 128, 64), []),  # less is read by halves of the outputs, which are the outermost axis
        (windows(16, 128, 64), [AxisSplit("i", 2)]),  # halves of the image take longer to fetch than weights
        (windows(256, 128, 64), []),  # than so many
        (depthwise(64, 28, channels_last=True), [AxisSplit("i", 2)]),  # as cores share the images before and behind it
        (depthwise(64, 28, channels_last=False), []),  # where lanes lie along rows, whole planes are read at once
        (depthwise(64, 27, channels_last=True), []),  # no equal halves
    ],
    ids=["product", "windows", "many weights", "rows of all channels", "planes", "odd rows"],
)
def test_cores_read_little_of_what_others_wrote(kernel: KernelOp, expected: list[AxisSplit]):
    reduction, target = kernel.compute("y"), parse_target("llvm -mcpu=znver4 -num-cores=2")
    assert reduction is not None
    tile = choose_tile(reduction, reads_of(reduction), target)
    assert axis_splits(reduction, reduction.spatial, tile, None, target) == expected


@pytest.mark.parametrize(
    ("shape", "cores", "expected"),
    [
        ((2, 256, 16), 2, [("i", 4)]),  # 16 kB of rows: for each core two times half of the cache
        ((2, 128, 8), 2, [("i", 2)]),  # fits
        ((2, 256, 16), 1, [("i", 4)]),
        ((2, 128, 8), 1, []),
        ((2, 127, 8), 2, []),  # no equal halves
        ((1, 256, 16), 2, []),  # rows are the outermost axis
        ((16, 128, 8), 2, []),  # less is read by halves of the outputs
        ((8, 512, 16), 2, [("i", 8)]),
    ],
    ids=str,
)
def test_pieces(run_kernel_everywhere, shape: tuple[int, int, int], cores: int, expected: list[tuple[str, int]]):
    kernel, target = product(*shape), replace(SMALL, cores=cores)
    reduction = kernel.compute("y")
    assert reduction is not None
    tile = choose_tile(reduction, reads_of(reduction), target)
    pieces = axis_splits(reduction, reduction.spatial, tile, None, target)
    assert pieces == [AxisSplit(axis, count) for axis, count in expected]
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, schedule_by(Default(), kernel, target))
