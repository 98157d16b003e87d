"""Regions against what trying every iteration shows."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import f32

from tilework.algebra.index_expr import Expr, ExprLike, const, var
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.scheduling.bound_inference import StageBounds, infer_bounds
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.state import read_schedule

H, W = var("H"), var("W")


def two_copies(*dims: ExprLike) -> KernelOp:
    """y = x, z = y."""
    k = KernelBuilder("copies")
    x = k.argument(tensor_type(dims, f32), "x")
    y = k.compute("y", dims, lambda *at: x[at])
    z = k.compute("z", dims, lambda *at: y[at])
    return k.finish([z])


def bounds_of(kernel: KernelOp, s: ScheduleBuilder) -> dict[str, StageBounds]:
    sequence = s.finish()
    apply_dataflow(kernel, sequence)
    state = read_schedule(kernel, sequence)
    return {stage.name: b for stage, b in infer_bounds(state).items()}


# tvm: test_schedule_bound_inference/bound_fusesplit1
@pytest.mark.parametrize("columns", range(1, 8))
@pytest.mark.parametrize("factor", range(1, 9))
def test_a_tile_of_a_fused_axis_needs_these_rows_and_columns(columns: int, factor: int):
    rows = 24
    kernel = two_copies(rows, columns)
    s = ScheduleBuilder(kernel)
    y, z = s.stage("y"), s.stage("z")
    outer, _ = s.split(s.fuse(list(z.axes.values())), factor)
    s.compute_at(y, outer)
    region = bounds_of(kernel, s)["y"].region
    # ends of the tile that start at 0, factor, 2 * factor, ...
    tiles = [(at // columns, (at + factor - 1) // columns) for at in range(0, rows * columns, factor)]
    assert region[0][1] == max(last - first for first, last in tiles) + 1
    if columns % factor == 0:
        assert region[1][1] == factor  # a tile lies within a row
    elif factor % columns == 0 or factor > columns:
        assert region[1] == (Expr((), 0), Expr((), columns))


@pytest.mark.parametrize("stride, dilation", [(1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (3, 2), (4, 6)])
def test_a_window_needs_what_its_taps_reach(stride: int, dilation: int):
    taps, tile, count = 3, 4, 8
    size = (count - 1) * stride + (taps - 1) * dilation + 1
    k = KernelBuilder("window")
    x = k.argument(tensor_type((size,), f32), "x")
    y = k.compute("y", (size,), lambda i: x[i])
    z = k.compute("z", (count,), lambda i: k.sum((taps,), lambda r: y[i * stride + r * dilation]))
    kernel = k.finish([z])
    s = ScheduleBuilder(kernel)
    producer, consumer = s.stage("y"), s.stage("z")
    outer, _ = s.split(consumer.axes["i"], tile)
    s.compute_at(producer, outer)
    b = bounds_of(kernel, s)["y"]
    reached = {i * stride + r * dilation for i in range(tile) for r in range(taps)}
    step, extent = b.steps[0], b.region[0][1].constant
    assert extent is not None
    covered = {step * t for t in range(extent)}
    assert reached <= covered
    assert (min(covered), max(covered)) == (min(reached), max(reached))
    assert all(value % step == 0 for value in reached)


# tvm: test_schedule_bound_inference/gemm_bound
def test_gemm_on_threads_of_a_device():
    size, block, threads = 1024, 64, 8
    k = KernelBuilder("gemm")
    a, b = (k.argument(tensor_type((size, size), f32), name) for name in ("a", "b"))
    c = k.compute("c", (size, size), lambda y, x: k.sum((size,), lambda r: a[r, y] * b[r, x]))
    kernel = k.finish([c])
    s = ScheduleBuilder(kernel)
    c_stage = s.stage("c")
    cc = s.cache_write(c_stage, "local")
    shared = [s.cache_read(s.argument(i), "shared", [cc], ["r", "p"]) for i in (0, 1)]
    local = [s.cache_read(stage.handle, "local", [cc], ["r", "p"]) for stage in shared]
    tx = tile_over_threads(s, c_stage, block, threads)
    s.compute_at(cc, tx)
    s.reorder([cc.axes["r"], cc.axes["y"], cc.axes["x"]])
    for stage in (*shared, *local):
        s.compute_at(stage, cc.axes["r"])
    bounds = bounds_of(kernel, s)
    assert [extent for _, extent in bounds["c.local"].region] == [8, 8]
    for name in ("a", "b"):
        assert [extent for _, extent in bounds[f"{name}.shared"].region] == [1, block]
        assert [extent for _, extent in bounds[f"{name}.shared.local"].region] == [1, block // threads]


def tile_over_threads(s: ScheduleBuilder, c: StageHandle, block: int, threads: int):
    """Blocks of blockIdx, in them threads of threadIdx; the inner thread axis."""
    by, yi = s.split(c.axes["y"], block)
    bx, xi = s.split(c.axes["x"], block)
    ty, yi = s.split(yi, nparts=threads)
    tx, xi = s.split(xi, nparts=threads)
    s.reorder([by, bx, ty, tx, yi, xi])
    for axis, thread in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s.bind(axis, thread)
    return tx


def test_starts_are_in_terms_of_the_loops_around():
    kernel = two_copies(16, 16)
    s = ScheduleBuilder(kernel)
    y, z = s.stage("y"), s.stage("z")
    rows, columns = z.axes.values()
    outer, inner = s.split(columns, 4)
    s.reorder([outer, rows, inner])
    s.compute_at(y, rows)
    sequence = s.finish()
    state = read_schedule(kernel, sequence)
    producer, consumer = state.stages["y"], state.stages["z"]
    j_outer, i, _ = consumer.leaves
    assert infer_bounds(state)[producer].region == [(var(i), Expr((), 1)), (var(j_outer) * 4, Expr((), 4))]


@pytest.mark.parametrize("dims", [(H, W), (1, H, W), (H, 1, W), (H, 1), (1, 1, W), (1, 1, 1)], ids=str)
def test_a_fused_axis_of_unknown_sizes_needs_one_point(dims: tuple[ExprLike, ...]):
    """One point of each row that is longer than one is needed; nothing is asked against sizes of 0, at which no loop
    runs."""
    kernel = two_copies(*dims)
    s = ScheduleBuilder(kernel)
    y, z = s.stage("y"), s.stage("z")
    s.compute_at(y, s.fuse(list(z.axes.values())))
    sequence = s.finish()
    state = read_schedule(kernel, sequence)
    bounds = infer_bounds(state)
    [fused] = state.stages["z"].leaves
    at = var(fused)
    expected = {
        (H, W): [at // W, at % W],
        (1, H, W): [0, at // W, at % W],
        (H, 1, W): [at // W, 0, at % W],
        (H, 1): [at, 0],
        (1, 1, W): [0, 0, at],
        (1, 1, 1): [0, 0, 0],
    }[dims]
    assert bounds[state.stages["y"]].region == [(e if isinstance(e, Expr) else const(e), const(1)) for e in expected]


def test_a_fused_axis_of_no_element():
    kernel = two_copies(H, 0)
    s = ScheduleBuilder(kernel)
    s.fuse(list(s.stage("z").axes.values()))
    b = bounds_of(kernel, s)["z"]
    assert [e.constant for e in b.extents.values()][-1] == 0
