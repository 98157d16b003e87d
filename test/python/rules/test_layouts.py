"""Kernels between tensors in blocks of channels, and stages in other layouts: the answers of the unscheduled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType, f32, i64
from xdsl.dialects.test import TestOp

from tilework.dialects import graph, schedule
from tilework.dialects.graph.base import GraphOp, ints
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.rules.base import Packing
from tilework.rules.cpu import stages
from tilework.rules.cpu.consumer_rows import Rows, rows_for
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.rules.cpu.stages import plan_stages
from tilework.rules.registry import plan_for
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class Case:
    """A convolution with bias and ReLU; with a `block`, the tensors that `packed` names are in blocks of so many."""

    channels: int
    filters: int
    size: tuple[int, int]
    window: int = 3
    stride: int = 1
    groups: int = 1
    pads: tuple[int, ...] = (1, 1, 1, 1)
    block: int = 0
    packed: str = "x y"
    images: int = 1


SERVER = parse_target("llvm -mcpu=skylake-avx512")


def with_parts(monkeypatch: pytest.MonkeyPatch, target: CpuTarget, count: int) -> CpuTarget:
    """The target as a machine on which what is computed just before it is read may take so many bytes."""
    machine = replace(target.machine, buffers=replace(target.machine.buffers, part=count))
    monkeypatch.setattr("tilework.targets.cpu.target.machine_of", lambda *_: machine)
    return replace(target)


"""What is chosen for it is the same wherever the tests run."""

CASES = [
    Case(32, 32, (6, 9), block=16),
    Case(16, 16, (7, 7), block=16),  # a single block
    Case(32, 48, (5, 13), window=1, pads=(0, 0, 0, 0), block=16),
    Case(32, 32, (9, 8), stride=2, block=8),
    Case(32, 32, (11, 7), stride=2, groups=32, block=16),
    Case(32, 64, (5, 5), groups=4, block=16),
    Case(16, 16, (1, 1), block=4),
    Case(3, 32, (11, 12), window=5, stride=3, pads=(2, 2, 2, 2), block=16, packed="y"),
    Case(32, 10, (4, 6), block=16, packed="x"),
    Case(8, 8, (10, 20), stride=2, groups=8),  # in phases
    Case(3, 5, (12, 26), window=7, stride=2, pads=(3, 3, 3, 3)),
    Case(4, 6, (9, 22), window=4, stride=4),
    Case(4, 6, (9, 21), stride=2),  # of an odd row the last phase is shorter
    Case(16, 24, (13, 20), window=1, stride=2, pads=(0, 0, 0, 0)),  # what is read lies side by side
    Case(32, 16, (7, 9), window=1, stride=3, pads=(1, 0, 0, 1), block=16),
    Case(24, 24, (14, 14), groups=24),  # nine steps as straight-line code
    Case(24, 24, (7, 7), groups=24),
    Case(6, 6, (5, 37), groups=6),  # the last vector begins in the one before
    Case(8, 8, (9, 23), stride=2, groups=8, pads=(2, 1, 0, 2)),
    Case(5, 5, (3, 20), window=5, stride=3, groups=5, pads=(4, 4, 4, 4)),  # a window of padding alone
    Case(16, 16, (9, 30), window=5, groups=16, pads=(2, 2, 2, 2), block=16),
    Case(16, 32, (7, 7), stride=2),  # cut loops leave padding out
    Case(16, 16, (5, 6), window=5, pads=(2, 2, 2, 2), block=16),
    Case(8, 8, (7, 7), stride=2, groups=8),
    Case(32, 32, (13, 10), groups=32, block=16),
    Case(8, 32, (28, 28), window=7, pads=(3, 3, 3, 3), images=2),
]


def apply(k: KernelBuilder, op: type[GraphOp], *tensors: Tensor, **properties) -> Tensor:
    types = [t.value.type for t in tensors]
    made = op.of(*TestOp(result_types=types).results, **properties).define(k, *tensors)
    assert isinstance(made, Tensor)
    return made


def image(k: KernelBuilder, name: str, dims: Sequence[int], block: int) -> Tensor:
    """An argument of the group, unpacked."""
    if not block:
        return k.argument(TensorType(f32, dims), name)
    n, c, *rest = dims
    packed = k.argument(TensorType(f32, [n, c // block, *rest, block]), name)
    return apply(k, graph.UnpackOp, packed, axis=IntegerAttr(1, i64), size=IntegerAttr(c, i64))


def conv_relu(case: Case) -> KernelOp:
    k = KernelBuilder("conv_relu")
    x = image(k, "x", (case.images, case.channels, *case.size), case.block if "x" in case.packed else 0)
    w = k.argument(TensorType(f32, [case.filters, case.channels // case.groups, case.window, case.window]), "w")
    b = k.argument(TensorType(f32, [case.filters]), "b")
    strides, groups = ints([case.stride] * 2), IntegerAttr(case.groups, i64)
    conv = apply(k, graph.ConvOp, x, w, strides=strides, pads=ints(case.pads), dilations=ints([1, 1]), groups=groups)
    biased = k.compute("bias", conv.dims, lambda n, o, y, x_: conv[n, o, y, x_] + b[o])
    result = k.compute("relu", conv.dims, lambda n, o, y, x_: k.max(biased[n, o, y, x_], 0.0))
    if case.block and "y" in case.packed:
        block = IntegerAttr(case.block, i64)
        result = apply(k, graph.PackOp, result, axis=IntegerAttr(1, i64), block=block)
    return k.finish([result])


@pytest.mark.parametrize("cpu", [None, "haswell", "skylake-avx512"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_scheduled_kernels(run_kernel_everywhere, case, cpu):
    target = host_target() if cpu is None else parse_target(f"llvm -mcpu={cpu}")
    kernel = conv_relu(case)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, target).schedule(kernel))


@pytest.mark.parametrize(
    ("case", "orders"),
    [
        (Case(32, 32, (40, 50), block=16), {"conv": "n o.outer y x o.inner"}),  # which knows where padding is
        (Case(32, 10, (40, 50), block=16, packed="x"), {}),
        (Case(3, 32, (11, 12), block=16, packed="y"), {"conv": "n o.outer y x o.inner"}),
        (Case(8, 8, (50, 70), stride=2), {"pad": "n c y x.inner x.outer"}),
        (Case(4, 6, (49, 71), stride=2), {"pad": "n c y x.inner x.outer"}),  # the last odd one is none
        (Case(4, 6, (9, 20), window=5, stride=5), {}),  # too far apart
    ],
    ids=str,
)
def test_stages_are_stored_as_they_are_read(case: Case, orders: dict[str, str]):
    kernel = conv_relu(case)
    found = {r.stage: " ".join(r.order) for r in plan_stages(kernel, SERVER).relayouts}
    assert found == orders


def test_images_are_padded_one_by_one():
    """Weights stay in the nearest cache from tile to tile, not from image to image."""
    kernel = conv_relu(Case(8, 32, (28, 28), window=7, pads=(3, 3, 3, 3), images=8))
    target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=1 -cache-sizes=49152,2097152,33554432")
    sequence = str(plan_for(kernel, target).schedule(kernel))
    assert "schedule.compute_at %pad, %n_1" in sequence
    assert "schedule.reorder %n_1, %o_o, %y_o, %x_o" in sequence


@pytest.mark.parametrize("stride", [1, 2])
def test_large_parts_are_padded_some_rows_at_a_time(run_kernel_everywhere, monkeypatch, stride: int):
    """Rows of a result read padded ones of 11 x 16 numbers; there are 14 in a part. Equal shares for all cores."""
    monkeypatch.setattr(stages, "_pads_for_nothing", lambda *_, **__: False)
    kernel = conv_relu(Case(32, 32, (12 * stride, 9), stride=stride, groups=2, block=16))
    plan = plan_stages(kernel, SERVER)
    [(pad, (root, _))] = plan.parts.items()
    most = 4 * 16 * 11 * (6 if stride == 1 else 9)
    found = rows_for(plan, pad, plan.anchored[root], None, most, SERVER)
    count, needed = (4, 6) if stride == 1 else (3, 7)
    assert found == Rows("y", count, needed, 2, frozenset({"n", "o.outer", "y"}))
    assert rows_for(plan, pad, plan.anchored[root], None, 1 << 20, SERVER) is None
    assert rows_for(plan, pad, plan.anchored[root], None, 4 * 16 * 11 * 2, SERVER) is None  # no window fits
    target = with_parts(monkeypatch, SERVER, most)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, target).schedule(kernel))


@pytest.mark.parametrize("window", [1, 3])
def test_each_core_copies_the_rows_that_it_reads(run_kernel_everywhere, window: int):
    """Not the whole image before all else, half of it for another core; all filters follow each block of rows."""
    kernel = conv_relu(Case(64, 48, (32 * window, 28), window=window, stride=2, pads=(window // 2,) * 4))
    target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=2 -cache-sizes=49152,2097152,33554432")
    sequence = plan_for(kernel, target).schedule(kernel)
    stage = "picked" if window == 1 else "cache"
    assert f"schedule.compute_at %{stage}, %y_o" in str(sequence)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, sequence)


@pytest.mark.parametrize("padded", [False, True])
def test_sums_read_copies_of_planes_that_share_places_of_a_cache(run_kernel_everywhere, padded: bool):
    """The last element of the last plane is read; padding is known, and is in no copy."""
    k = KernelBuilder("far")
    x, w = k.argument(TensorType(f32, [32, 32, 32]), "x"), k.argument(TensorType(f32, [2, 32, 3, 16]), "w")
    wide = apply(k, graph.PadOp, x, pads=ints([0, 0, 2, 0, 0, 2]), value=FloatAttr(0.0, f32)) if padded else x
    dims = (2, 32, 32 if padded else 28, 16)
    sums = k.compute(
        "sums", dims, lambda o, i, j, m: k.sum((32, 3), lambda c, r: wide[c, i, j + 2 * r] * w[o, c, r, m])
    )
    kernel = k.finish([sums])
    target = parse_target("llvm -mcpu=znver3 -num-cores=2 -cache-sizes=32768,524288,33554432")
    [copy] = plan_stages(kernel, target).copies
    assert (copy.number, copy.relayout.order) == (0, ("p0.outer", "p1", "p2", "p0.inner"))
    assert plan_stages(kernel, target, {0}).copies == []  # what is packed before needs no copy
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, target).schedule(kernel))


@pytest.mark.parametrize(
    "target",
    [
        "llvm -mcpu=skylake-avx512 -num-cores=2 -cache-sizes=49152,8192,33554432",  # weights would be read from afar
        "llvm -mcpu=skylake-avx512 -num-cores=32 -cache-sizes=49152,2097152,33554432",  # more cores than rows
    ],
    ids=["weights", "cores"],
)
def test_rows_are_copied_for_all_filters_only_if_these_are_near_and_rows_enough(target: str):
    kernel, machine = conv_relu(Case(64, 48, (16 * 2, 14), window=1, stride=2, pads=(0,) * 4)), parse_target(target)
    assert "compute_at %picked" not in str(plan_for(kernel, machine).schedule(kernel))


@pytest.mark.parametrize("depth", [8192, 40], ids=["large", "small"])
def test_parts_that_move_with_axes_outside_of_them(run_kernel_everywhere, depth: int):
    """A sum over a band, each point of which has a part of its own, that begins elsewhere."""
    k = KernelBuilder("bands")
    exp = apply(k, graph.ExpOp, k.argument(TensorType(f32, [4, 16, depth]), "x"))
    kernel = k.finish([k.compute("sum", (4, 16), lambda i, j: k.sum((depth - 4,), lambda r: exp[(i, j, i + r)]))])
    arrays = [np.zeros(t.get_shape(), np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, SERVER).schedule(kernel))


@pytest.mark.parametrize("rows", [(), (6,)], ids=["all", "rows"])
def test_sums_of_what_is_computed_before(run_kernel_everywhere, monkeypatch, rows: tuple[int, ...]):
    """Also where the sum has no axis of its own, or each of its points needs a large part."""
    target = with_parts(monkeypatch, host_target(), 64)
    k = KernelBuilder("sum_exp")
    exp = apply(k, graph.ExpOp, k.argument(TensorType(f32, [*rows, 50]), "x"))
    kernel = k.finish([k.compute("sum", rows, lambda *i: k.sum((50,), lambda r: exp[(*i, r)]))])
    arrays = [np.zeros(t.get_shape(), np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, target).schedule(kernel))


def test_a_sum_that_reads_nothing(run_kernel_everywhere):
    k = KernelBuilder("count")
    kernel = k.finish([k.compute("count", (6,), lambda i: k.sum((50,), lambda r: k.constant(1.0, f32)))])
    arrays = [np.zeros(t.get_shape(), np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, host_target()).schedule(kernel))


def test_a_packed_weight_does_not_change_the_result():
    k = KernelBuilder("dense")
    x, packed = k.argument(TensorType(f32, [4, 64]), "x"), k.argument(TensorType(f32, [3, 64, 16]), "w")
    w = apply(k, graph.UnpackOp, packed, axis=IntegerAttr(0, i64), size=IntegerAttr(48, i64))
    assert plan_stages(k.finish([apply(k, graph.DenseOp, x, w)]), host_target()).relayouts == []


@pytest.mark.parametrize(
    ("case", "packings"),
    [
        (Case(64, 64, (7, 7), block=16), [Packing(1, 1, 16), Packing(1, 0, 16)]),
        (Case(64, 64, (7, 7), window=1, pads=(0, 0, 0, 0), block=16), [Packing(1, 0, 16)]),  # one axis to sum over
        (Case(64, 64, (7, 7)), [Packing(1, 1, 16), Packing(1, 0, 32)]),  # as if there were blocks
        (Case(24, 64, (7, 7)), [Packing(1, 0, 32)]),  # channels that fill none
        (Case(16, 16, (9, 30), window=5, stride=2, groups=16), []),  # nothing to sum over but taps
    ],
    ids=str,
)
def test_weights_lie_as_sums_run(case: Case, packings: list[Packing]):
    kernel, target = conv_relu(case), parse_target("llvm -mcpu=skylake-avx512")
    assert plan_for(kernel, target, {1}).packings == packings


@pytest.mark.parametrize(
    ("rows", "inputs", "block"),
    [
        (1, 4096, 64),  # two streams of half a tile each
        (1, 100, 128),  # what stays in the second cache needs none
        (16, 4096, 48),  # what several rows take is read once for each tile
    ],
)
def test_weights_each_of_which_is_used_once_come_in_two_streams(rows: int, inputs: int, block: int):
    k = KernelBuilder("dense")
    x, w = k.argument(TensorType(f32, [rows, inputs]), "x"), k.argument(TensorType(f32, [1000, inputs]), "w")
    kernel, target = k.finish([apply(k, graph.DenseOp, x, w)]), parse_target("llvm -mcpu=znver4")
    assert plan_for(kernel, target, {1}).packings == [Packing(1, 0, block)]


def packed_dense(rows: int, inputs: int, blocks: int, block: int = 32) -> KernelOp:
    k = KernelBuilder("dense")
    x = k.argument(TensorType(f32, [rows, inputs]), "x")
    packed = k.argument(TensorType(f32, [blocks, inputs, block]), "w")
    w = apply(k, graph.UnpackOp, packed, axis=IntegerAttr(0, i64), size=IntegerAttr(block * blocks, i64))
    return k.finish([apply(k, graph.DenseOp, x, w)])


@pytest.mark.parametrize(
    ("rows", "outputs", "block"),
    [(13, 40, 16), (1, 97, 48), (29, 129, 32), (5, 72, 32), (4, 3, 16), (2, 104, 64), (5, 1000, 32)],
)
def test_the_last_block_of_a_weight_need_not_be_full(run_kernel_everywhere, rows: int, outputs: int, block: int):
    k, rng = KernelBuilder("dense"), np.random.default_rng(0)
    x = k.argument(TensorType(f32, [rows, 24]), "x")
    packed = k.argument(TensorType(f32, [-(-outputs // block), 24, block]), "w")
    w = apply(k, graph.UnpackOp, packed, axis=IntegerAttr(0, i64), size=IntegerAttr(outputs, i64))
    kernel = k.finish([apply(k, graph.DenseOp, x, w)])
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, host_target()).schedule(kernel))


@pytest.mark.parametrize(("inputs", "ahead"), [(512, [64]), (16, [])], ids=["large", "small"])
def test_large_packed_weights_are_asked_for_early(run_kernel_everywhere, inputs: int, ahead: list[int]):
    """So many rows of 32 numbers, 8 kB, before they are multiplied with."""
    kernel, target = packed_dense(14, inputs, 4), parse_target("llvm -mcpu=skylake-avx512")
    sequence = plan_for(kernel, target).schedule(kernel)
    assert [o.offset.value.data for o in sequence.walk() if isinstance(o, schedule.PrefetchOp)] == ahead
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, sequence)


@pytest.mark.parametrize(
    ("cpu", "kernel", "asked"),
    [
        ("skylake-avx512", packed_dense(1, 4096, 16, 64), True),
        ("znver4", packed_dense(1, 4096, 16, 64), False),
        ("znver4", packed_dense(14, 512, 4), True),
    ],
    ids=["a row", "a row where the hardware reads ahead", "rows that take longer to multiply than to read"],
)
def test_what_only_reads_is_not_asked_for_where_the_hardware_reads_ahead(cpu: str, kernel: KernelOp, asked: bool):
    target = parse_target(f"llvm -mcpu={cpu}")
    sequence = plan_for(kernel, target).schedule(kernel)
    assert any(isinstance(o, schedule.PrefetchOp) for o in sequence.walk()) == asked


@pytest.mark.parametrize(
    ("rows", "blocks", "spread"), [(28, 32, 1), (28, 8, 0), (7, 32, 0)], ids=["large", "small", "one tile"]
)
def test_tiles_ask_for_the_next_block(run_kernel_everywhere, rows: int, blocks: int, spread: int):
    """Where weights come from memory, 96 kB of them in a block, and several tiles share it."""
    kernel = packed_dense(rows, 512, blocks, 48)
    target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=2 -cache-sizes=32768,1048576,33554432")
    sequence = plan_for(kernel, target).schedule(kernel)
    assert len([o for o in sequence.walk() if isinstance(o, schedule.PrefetchOp) and o.spread]) == spread
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, sequence)


def test_tiles_may_leave_a_rest():
    """Two rows at a time are taken of seven, although that does not divide: weights are read four times, not seven."""
    kernel = conv_relu(Case(64, 64, (7, 7), block=16))
    [conv] = [c for c in plan_stages(kernel, SERVER).anchored.values() if c.reduction]
    tile = choose_tile(conv, reads_of(conv, {1}), SERVER)
    assert tile is not None
    assert tile.factors == {"y": 2, "x": 7, "o.outer": 2}


@pytest.mark.parametrize(
    ("steps", "caches", "order"),
    [
        (512, (32 << 10, 64 << 10), "%j_o, %i_o"),
        (512, (32 << 10, 1 << 20), "%i_o, %j_o"),  # 64 kB of weights for a tile: none stay in the nearest cache
        (128, (32 << 10, 1 << 20), "%j_o, %i_o"),
        (128, (16 << 10, 1 << 20), "%i_o, %j_o"),
    ],
)
def test_weights_that_do_not_stay_near_are_read_once(
    run_kernel_everywhere, steps: int, caches: tuple[int, int], order: str
):
    """All rows are multiplied with a block of weights before the next is read, from memory or the second cache."""
    kernel = packed_dense(28, steps, 4)
    target = parse_target(f"llvm -mcpu=skylake-avx512 -cache-sizes={caches[0]},{caches[1]},33554432")
    sequence = plan_for(kernel, target).schedule(kernel)
    assert f"schedule.reorder {order}" in str(sequence)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, sequence)
