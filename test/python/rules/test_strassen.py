"""Strassen's algorithm: kernels under the rule for it."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from programs import apply_phase, plan_by, schedule_by
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, f32, i64
from xdsl.dialects.test import TestOp

import tilework as tw
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects import graph
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.schedule import PrefetchOp
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.rules.cpu.strassen import Strassen
from tilework.rules.cpu.strassen_form import strassen_form
from tilework.rules.registry import choose_rule, plan_for
from tilework.runtime.cache import KernelCache
from tilework.targets import Target, parse_target
from tilework.targets.cpu.host import host_target


def argument(k: KernelBuilder, name: str, *shape: int) -> Tensor:
    return k.argument(TensorType(f32, shape), name)


def like(*tensors: Tensor):
    return TestOp(result_types=[t.value.type for t in tensors]).results


def weight(k: KernelBuilder, outputs: int, channels: int, levels: int) -> Tensor:
    return argument(k, "u", outputs >> levels, *[7] * levels, channels >> levels)


def dense_relu(rows: int, channels: int, outputs: int, batch: tuple[int, ...] = (), levels: int = 1) -> KernelOp:
    """A kernel of one layer, and of what is usually behind it."""
    k = KernelBuilder("dense_relu")
    x, u = argument(k, "x", *batch, rows, channels), weight(k, outputs, channels, levels)
    bias = argument(k, "bias", outputs)
    dense = graph.StrassenDenseOp.of(*like(x, u)).define(k, x, u)
    names = [*(f"b{i}" for i in range(len(batch))), "i", "o"]
    return k.finish([k.compute("relu", dense.dims, with_axes(names, lambda *i: k.max(dense[i] + bias[i[-1]], 0.0)))])


def conv_relu(
    channels: int,
    filters: int,
    height: int,
    width: int,
    stride: int = 1,
    batch: int = 1,
    in_blocks: bool = True,
    levels: int = 1,
) -> KernelOp:
    """A kernel of one convolution between images in blocks of 16 channels, with a residual."""
    k = KernelBuilder("conv_relu")
    packed = argument(k, "x", batch, channels // 16, height * stride, width * stride, 16)
    axis = {"axis": IntegerAttr(1, i64)}
    x = graph.UnpackOp.of(*like(packed), **axis, size=IntegerAttr(channels, i64)).define(k, packed)
    u, residual = weight(k, filters, channels, levels), argument(k, "r", batch, filters, height, width)
    types = [TensorType(f32, (batch, channels, height * stride, width * stride)), u.value.type]
    conv_op = graph.StrassenConvOp.of(*TestOp(result_types=types).results, strides=ints([stride, stride]))
    conv = conv_op.define(k, x, u)
    added = k.compute("add", conv.dims, lambda n, o, y, x_: k.max(conv[n, o, y, x_] + residual[n, o, y, x_], 0.0))
    if not in_blocks:
        return k.finish([added])
    pack = graph.PackOp.of(*TestOp(result_types=[conv_op.result.type]).results, **axis, block=IntegerAttr(16, i64))
    return k.finish([pack.define(k, added)])


def run(run_kernel_everywhere, kernel: KernelOp, target: Target | None = None) -> None:
    target = target or host_target()
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan_for(kernel, target).schedule(kernel))


DENSE = [
    dense_relu(24, 64, 64),
    dense_relu(25, 64, 96),  # an odd row is paired with zeros
    dense_relu(1, 32, 32),
    dense_relu(200, 64, 64),
    dense_relu(12, 64, 64, (3,)),
    dense_relu(1300, 128, 64),  # rows in blocks
    dense_relu(2400, 192, 32),  # with many sums of quarters
    dense_relu(2 * 37, 64, 64),  # blocks that do not divide the rows
    dense_relu(30, 64, 128, levels=2),
    dense_relu(9, 64, 64, (2,), levels=2),
]

CONV = [
    conv_relu(32, 64, 5, 7),
    conv_relu(32, 32, 1, 1),
    conv_relu(64, 32, 3, 6, stride=2),
    conv_relu(32, 32, 4, 4, batch=3),
    conv_relu(128, 64, 40, 40),
    conv_relu(64, 64, 5, 7, levels=2),  # a row is missing
    conv_relu(64, 128, 14, 14, stride=2, levels=2),  # blocks of 25 rows are moved inwards
]


@pytest.mark.parametrize("kernel", [*DENSE, *CONV], ids=lambda k: f"{k.body.block.arg_types[0]}")
def test_scheduled_kernels(run_kernel_everywhere, kernel: KernelOp):
    if host_target().lanes(32) == 16:  # of which half the outputs are multiples
        assert isinstance(choose_rule(kernel, host_target()).rule, Strassen)
    run(run_kernel_everywhere, kernel)


@pytest.mark.parametrize("cpu", ["haswell", "neoverse-n1"])
@pytest.mark.parametrize("kernel", CONV, ids=lambda k: f"{k.body.block.arg_types[0]}")
def test_blocks_of_several_vectors(run_kernel_everywhere, kernel: KernelOp, cpu: str):
    target = parse_target(f"llvm -mcpu={cpu}")
    assert isinstance(choose_rule(kernel, target).rule, Strassen)
    run(run_kernel_everywhere, kernel, target)


@pytest.mark.parametrize(
    "kernel",
    [dense_relu(24, 64, 48), dense_relu(2 * 1021, 64, 64, (3,)), conv_relu(32, 32, 4, 4, in_blocks=False)],
    ids=["outputs fill no vectors", "a prime number of rows has no blocks", "rows of an image are the lanes"],
)
def test_what_it_does_not_fit_is_left_to_the_default_rule(run_kernel_everywhere, kernel: KernelOp):
    target = parse_target("llvm -mcpu=skylake-avx512")
    assert strassen_form(kernel, target) is None
    assert not isinstance(choose_rule(kernel, target).rule, Strassen)
    run(run_kernel_everywhere, kernel)


LARGE = [
    *(dense_relu(4096, 64, 64), dense_relu(600, 2048, 64), dense_relu(300, 1024, 1024)),
    *(dense_relu(496, 512, 768), dense_relu(197, 512, 512)),  # blocks that leave a rest of the rows at a time
    *(dense_relu(196, 512, 512, levels=2), dense_relu(784, 256, 256, levels=2)),
    dense_relu(64, 32768, 64),  # not even the sums of one row fit
]
IMAGE = conv_relu(256, 512, 28, 28, stride=2)  # blocks of its rows are no rows of the image


@pytest.mark.parametrize(
    ("kernel", "cpu"),
    [*((kernel, cpu) for kernel in LARGE for cpu in ("neoverse-n1", "haswell", "znver4")), (IMAGE, "znver4")],
)
def test_buffers_fit_on_the_stack(kernel: KernelOp, cpu: str):
    target, copy = parse_target(f"llvm -mcpu={cpu}"), kernel.clone()
    module = ModuleOp([copy, schedule_by(Strassen(), copy, target)])
    apply_phase("compile-kernel", module)
    assert "define" in emit_kernels(module, target)


@pytest.mark.parametrize(
    ("rows", "channels", "outputs", "cores", "blocks"),
    [
        (196, 256, 64, 2, (49, False)),  # one of rows for each: none reads sums that another wrote
        (196, 256, 128, 2, (49, False)),
        (196, 256, 2048, 2, (98, True)),  # weights that it would take longer to read twice
        (196, 256, 256, 8, (49, True)),  # no equal blocks
        (196, 256, 256, 14, (49, True)),  # they would be too short
        (784, 256, 256, 2, (49, False)),  # eight blocks of rows, not seven of 56
        (194, 256, 256, 2, (49, False)),  # of 97 rows, the last block is moved inwards
    ],
)
def test_cores_share_blocks(rows: int, channels: int, outputs: int, cores: int, blocks: tuple[int, bool]):
    target = parse_target(f"llvm -mcpu=skylake-avx512 -num-cores={cores} -cache-sizes=32768,1048576,33554432")
    form = strassen_form(dense_relu(rows, channels, outputs), target)
    assert form is not None
    assert (form.blocks.rows, form.blocks.together) == blocks


def dense_model(x: list[int | str], w: np.ndarray, added: str | None = None) -> onnx.ModelProto:
    """Rows by a weight, which may be added to the product once more."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p" if added else "y"])]
    if added:
        nodes.append(helper.make_node("Add", ["p", added], ["y"]))
    shapes = {"x": x, "y": [*x[:-1], w.shape[1]]}
    given, made = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in shapes.items())
    graph_ = helper.make_graph(nodes, "g", [given], [made], [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph_, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("rows", [0, "N"])
def test_no_rows(tmp_path, rows: int | str):
    model = dense_model([rows, 64], np.ones((64, 64), np.float32))
    [y] = tw.compile(model, cache=KernelCache(tmp_path)).run({"x": np.ones((0, 64), np.float32)}).values()
    assert y.shape == (0, 64)


def test_a_weight_that_is_read_twice(tmp_path):
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-3, 4, (64, 64)).astype(np.float32) for _ in range(2))
    [y] = tw.compile(dense_model([64, 64], w, added="w"), cache=KernelCache(tmp_path)).run({"x": x}).values()
    np.testing.assert_array_equal(y, x @ w + w)


def test_the_error_is_that_of_a_direct_sum(tmp_path):
    """For rows of like size, as those of random numbers are."""
    w = np.random.default_rng(1).standard_normal((512, 1024), np.float32)
    x = np.random.default_rng(0).standard_normal((256, 512), np.float32)
    model = dense_model([256, 512], w)
    exact = x.astype(np.float64) @ w.astype(np.float64)
    host = host_target()
    no_tiles = replace(host, features=tuple(f for f in host.features if not f.startswith("+amx")))
    for precision in ("default", "strict"):
        module = tw.compile(model, target=str(no_tiles), cache=KernelCache(tmp_path), precision=precision)
        [y] = module.run({"x": x}).values()
        assert np.abs(y - exact).max() < 2e-6 * np.abs(exact).max()


def test_sums_of_quarters_that_stay_in_no_cache_cost_more_than_those_that_do():
    """28 MB of them, of which there is a last cache of 32, and one of 128."""
    kernel = dense_relu(1500, 1536, 384, levels=2)
    small, large = (
        parse_target(f"llvm -mcpu=skylake-avx512 -num-cores=2 -cache-sizes=32768,1048576,{size << 20}")
        for size in (32, 128)
    )
    form = strassen_form(kernel, small)
    assert form is not None and form.blocks.together
    slow, fast = (plan_by(Strassen(), kernel, target, {1}).cycles for target in (small, large))
    assert slow > 1.1 * fast


@pytest.mark.parametrize(("cpu", "requests"), [("skylake-avx512", [False, True]), ("sapphirerapids", [True])])
def test_lines_of_blocks_are_asked_for_again_where_loads_are_free(cpu: str, requests: list[bool]):
    """Block by block while the one before is multiplied (spread), and line by line."""
    k = KernelBuilder("packed")
    x, packed = argument(k, "x", 400, 512), argument(k, "u", 512 // 64, 7, 256, 32)
    blocks = {"axis": IntegerAttr(0, i64), "size": IntegerAttr(256, i64)}
    u = graph.UnpackOp.of(*like(packed), **blocks).define(k, packed)
    types = x.value.type, TensorType(f32, (256, 7, 256))
    kernel = k.finish([graph.StrassenDenseOp.of(*TestOp(result_types=types).results).define(k, x, u)])
    target = parse_target(f"llvm -mcpu={cpu} -num-cores=1 -cache-sizes=49152,1048576,33554432")
    schedule = plan_for(kernel, target).schedule(kernel)
    assert [op.spread is not None for op in schedule.walk() if isinstance(op, PrefetchOp)] == requests


def test_multiplying_costs_more_where_loads_slow_it():
    kernel = dense_relu(400, 512, 512)
    fast, slow = (
        plan_by(Strassen(), kernel, parse_target(f"llvm -mcpu={cpu} -cache-sizes=49152,2097152,33554432"), {1}).cycles
        for cpu in ("skylake-avx512", "sapphirerapids")
    )
    assert slow > 1.15 * fast


def test_several_matrices_feed_the_cores_anyway():
    target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=2 -cache-sizes=32768,1048576,33554432")
    alone, several = (strassen_form(dense_relu(196, 256, 128, batch), target) for batch in ((1, 1), (1, 3)))
    assert alone is not None and several is not None
    assert not alone.blocks.together
    assert several.blocks.together
