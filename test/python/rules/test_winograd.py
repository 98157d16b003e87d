"""Winograd's algorithm: its constants, and kernels under the rule for it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from programs import apply_phase, for_target, plan_by, schedule_by
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, UnitAttr, f32, i64
from xdsl.dialects.test import TestOp

import tilework as tw
from tilework.algebra.index_expr import var
from tilework.algebra.winograd import MOST_PRODUCTS, winograd
from tilework.analysis.precision import PRECISIONS
from tilework.analysis.sizes import LARGE, size_of
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects import graph
from tilework.dialects.graph.algorithms.winograd import winograd_tiles
from tilework.dialects.graph.base import ints
from tilework.dialects.loop import PrefetchOp
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.driver.levels import lower_by_levels
from tilework.frontends.onnx import import_onnx
from tilework.rules.algorithms.winograd import Winograd
from tilework.rules.cpu.winograd import WinogradConv
from tilework.rules.cpu.winograd_form import form_of
from tilework.rules.registry import choose_rule
from tilework.runtime.cache import KernelCache
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target


@pytest.mark.parametrize("taps", range(1, MOST_PRODUCTS))
@pytest.mark.parametrize("outputs", range(1, MOST_PRODUCTS))
@pytest.mark.parametrize("stride", range(1, 4))
def test_the_constants_filter_exactly(outputs: int, taps: int, stride: int):
    if taps < stride or outputs + -(-taps // stride) - 1 > MOST_PRODUCTS:
        pytest.skip("no such filter")
    constants, count = winograd(outputs, taps, stride), (outputs - 1) * stride + taps
    d, g = [Fraction(3 * i * i - 5 * i + 1) for i in range(count)], [Fraction(7 - 2 * i * i) for i in range(taps)]

    def times(matrix, vector):
        return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]

    products = [a * b for a, b in zip(times(constants.weight, g), times(constants.input, d), strict=True)]
    assert times(constants.output, products) == [
        sum(d[i * stride + t] * g[t] for t in range(taps)) for i in range(outputs)
    ]


def conv_relu(
    channels: int,
    filters: int,
    height: int,
    width: int,
    tile: int,
    window: int = 3,
    batch: int = 1,
    stride: int = 1,
    depth: int = 1,
    block: int = 0,
) -> KernelOp:
    """A kernel of one convolution, whose image is padded to keep its size, and of what is usually behind it.

    depth: 1, or the stride for phases as channels. block: of filters that lie side by side in the result, if any.
    """
    k = KernelBuilder("conv_relu")
    count = (tile - 1) * stride // depth + window // depth
    types = [
        (batch, channels, height * stride, width * stride),
        (filters, count, count, depth**2 * channels),
        (filters,),
        (batch, filters, height, width),
    ]
    x, u, bias, residual = (k.argument(TensorType(f32, shape), f"x{i}") for i, shape in enumerate(types))
    operands = TestOp(result_types=[x.value.type, u.value.type]).results
    form = {"tile": IntegerAttr(tile, i64), "stride": IntegerAttr(stride, i64)}
    form |= {"phases_as_channels": UnitAttr()} if depth > 1 else {}
    op = graph.WinogradConvOp.of(*operands, **form, pads=ints([window // 2] * 2 + [(window - stride) // 2] * 2))
    conv = op.define(k, x, u)
    biased = k.compute("bias", conv.dims, lambda n, o, y, x_: conv[n, o, y, x_] + bias[o])
    added = k.compute("add", conv.dims, lambda n, o, y, x_: biased[n, o, y, x_] + residual[n, o, y, x_])
    relu = k.compute("relu", conv.dims, lambda n, o, y, x_: k.max(added[n, o, y, x_], 0.0))
    if not block:
        return k.finish([relu])
    [packed] = TestOp(result_types=[TensorType(f32, types[-1])]).results
    pack = graph.PackOp.of(packed, axis=IntegerAttr(1, i64), block=IntegerAttr(block, i64))
    return k.finish([pack.define(k, relu)])


SHAPES = [
    (16, 32, 12, 12, 4),  # each row of tiles by itself
    (16, 32, 14, 30, 4),  # tiles reach beyond the image
    (32, 16, 7, 7, 4),
    (16, 16, 1, 1, 2),
    (48, 48, 13, 26, 2),
    (160, 32, 19, 3, 4),  # few tiles a row: all are transformed first
    (16, 32, 6, 250, 4),  # rows in blocks
    (400, 16, 5, 61, 4),
    (16, 32, 28, 28, 4),  # two rows of tiles at a time, the last one alone
]
SLOW_SHAPES = [
    (416, 16, 3, 1090, 4),  # a whole row of the image would not stay near
    (16, 32, 27, 25, 4),  # two rows of tiles at a time, the last one alone and beyond the image
]


@pytest.mark.parametrize("shape", [*SHAPES, *(pytest.param(s, marks=pytest.mark.slow) for s in SLOW_SHAPES)], ids=str)
def test_scheduled_kernels(run_kernel_everywhere, shape):
    kernel = conv_relu(*shape)
    rule, plan = choose_rule(kernel, host_target())
    assert isinstance(rule, WinogradConv)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan.schedule(kernel))


@pytest.mark.parametrize("cpu", ["skylake-avx512", "haswell", "neoverse-n1"])
@pytest.mark.parametrize("shape", [(16, 32, 14, 30, 4), (32, 16, 7, 7, 4), (160, 48, 19, 3, 4)], ids=str)
def test_blocks_of_one_or_more_vectors(run_kernel_everywhere, shape: tuple[int, ...], cpu: str):
    kernel, target = conv_relu(*shape, block=16), parse_target(f"llvm -mcpu={cpu}")
    form = form_of(kernel, target)
    assert form is not None and form.span % 16 == 0
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, schedule_by(WinogradConv(), kernel, target))


def test_two_and_five_taps_several_images_and_strides(run_kernel_everywhere):
    taps = conv_relu(16, 16, 9, 11, 2, window=5), conv_relu(16, 32, 8, 9, 3, window=2)
    strided = conv_relu(16, 16, 5, 9, 4, stride=2), conv_relu(16, 16, 3, 40, 3, window=5, stride=2)
    for kernel in (*taps, conv_relu(16, 16, 6, 9, 4, batch=3), *strided):
        rng = np.random.default_rng(0)
        arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
        run_kernel_everywhere(kernel, arrays, schedule_by(WinogradConv(), kernel, host_target()))


@pytest.mark.parametrize(
    ("cpu", "channels", "lanes"),
    [("haswell", 12, 4), ("haswell", 24, 8), ("skylake-avx512", 24, 12), ("skylake-avx512", 3, 3), ("haswell", 14, 0)],
)
def test_vectors_of_channels(cpu: str, channels: int, lanes: int):
    """Half of a vector at least, unless that is all there is."""
    form = form_of(conv_relu(channels, 16, 12, 12, 4), parse_target(f"llvm -mcpu={cpu}"))
    assert (0 if form is None else form.channel_lanes) == lanes


@pytest.mark.parametrize("channels", [3, 4, 16])
def test_phases_as_channels(run_kernel_everywhere, channels: int):
    """Twelve of them, which are three vectors of 4 where vectors of 8 have no masks; a vector, and several."""
    kernel = conv_relu(channels, 32, 9, 17, 4, window=8, stride=2, depth=2)
    rule, plan = choose_rule(kernel, host_target())
    assert isinstance(rule, WinogradConv)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan.schedule(kernel))


def conv_of_slices(batch: int, extents: tuple[int, int, int], slices: list[int], block: int) -> KernelOp:
    """A kernel of a convolution of 16 channels along three axes, with 3 x 3 x 3 taps, and of a sum behind it."""
    k = KernelBuilder("conv_add")
    x, u, bias = (
        k.argument(TensorType(f32, s), f"x{i}") for i, s in enumerate(((batch, 16, *extents), (32, 6, 6, 48), (32,)))
    )
    operands = TestOp(result_types=[x.value.type, u.value.type]).results
    form = {"tile": IntegerAttr(4, i64), "stride": IntegerAttr(1, i64), "pads": ints([1] * 4), "slices": ints(slices)}
    op = graph.WinogradConvOp.of(*operands, **form)
    conv = op.define(k, x, u)
    added = k.compute("bias", conv.dims, lambda n, o, z, y, x_: conv[n, o, z, y, x_] + bias[o])
    if not block:
        return k.finish([added])
    pack = graph.PackOp.of(op.result, axis=IntegerAttr(1, i64), block=IntegerAttr(block, i64))
    return k.finish([pack.define(k, added)])


@pytest.mark.parametrize("block", [0, 16])
@pytest.mark.parametrize(
    ("batch", "extents", "slices"),
    [
        (1, (4, 9, 13), [1, 1, 1, 1]),
        (2, (7, 12, 28), [2, 1, 0, 1]),
        (1, (5, 7, 7), [1, 2, 2, 2]),  # few tiles: all are transformed first
        pytest.param(2, (6, 5, 6), [1, 1, 1, 1], marks=pytest.mark.slow),  # those of all slices at once
    ],
)
def test_slices_are_images(
    run_kernel_everywhere, batch: int, extents: tuple[int, int, int], slices: list[int], block: int
):
    kernel = conv_of_slices(batch, extents, slices, block)
    rule, plan = choose_rule(kernel, host_target())
    assert isinstance(rule, WinogradConv)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan.schedule(kernel))


@pytest.mark.parametrize(("channels", "filters"), [(0, 16), (16, 0)])
def test_slices_without_channels_or_filters(channels: int, filters: int):
    """Without channels there is nothing to transform; without filters no result."""
    shapes = (1, channels, 6, 8, 8), (filters, channels, 3, 3, 3)
    image, weight = TestOp(result_types=[TensorType(f32, shape) for shape in shapes]).results
    ones = ints([1] * 3)
    form = {"strides": ones, "dilations": ones, "pads": ints([1] * 6), "groups": IntegerAttr(1, i64)}
    conv = graph.ConvOp.of(image, weight, **form)
    assert bool(winograd_tiles(conv, PRECISIONS["default"].products)) == bool(channels)
    if channels:
        [transform] = Winograd(2).transform(weight, conv)
        [fast] = Winograd(2).multiply(conv, transform.results[0])
        assert isinstance(transform, graph.WinogradWeightOp) and isinstance(fast, graph.WinogradConvOp)
        x, w = (np.ones(shape, np.float32) for shape in shapes)
        assert fast.evaluate(x, transform.evaluate(w)).shape == (1, filters, 6, 8, 8)


def test_slices_of_a_symbolic_batch_count_each():
    assert size_of([("n", 6 * var("N"))]) == 6 * LARGE


@pytest.mark.parametrize(("channels", "filters"), [(5, 7), (17, 16), (0, 16)])
def test_vectors_that_are_not_filled_are_left_to_the_default_rule(run_kernel_everywhere, channels: int, filters: int):
    kernel = conv_relu(channels, filters, 6, 9, 4)
    rule, plan = choose_rule(kernel, host_target())
    assert not isinstance(rule, WinogradConv)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, plan.schedule(kernel))


@pytest.mark.parametrize("cpu", ["neoverse-n1", "haswell", "skylake-avx512"])
@pytest.mark.parametrize(
    "shape",
    [
        (256, 16, 57, 57, 2),
        (128, 64, 6, 300, 4),
        *((64, 64, 112, 112, 3), (96, 64, 112, 112, 3)),  # vectors along a row reach tiles behind a block
        (16, 64, 111, 111, 3),  # the last block of a row is of one tile
        *((128, 128, 28, 28, 4), (256, 64, 44, 44, 4)),  # several rows of tiles
    ],
    ids=str,
)
def test_buffers_fit_on_the_stack(cpu: str, shape: tuple[int, ...]):
    """Also where the last tiles of a block that are multiplied at once are fewer."""
    target = parse_target(f"llvm -mcpu={cpu}")
    kernel = conv_relu(*shape)
    module = ModuleOp([kernel, schedule_by(WinogradConv(), kernel, target)])
    apply_phase("compile-kernel", module)
    assert "define" in emit_kernels(module, target)


@pytest.mark.parametrize(
    ("shape", "cores", "rows"),
    [
        ((128, 128, 28, 28, 4), 2, 2),  # two rows of seven tiles are multiplied at once
        ((128, 128, 28, 28, 4), 7, 1),  # seven cores take one each
        ((64, 64, 56, 56, 4), 2, 1),  # of a row as long as that already
        ((512, 512, 28, 28, 4), 2, 7),  # all are transformed first, and stay near
        ((512, 512, 44, 44, 4), 2, 4),  # three blocks of eleven rows, the last a shorter one
        ((32, 32, 20, 20, 4), 2, 3),  # five rows of tiles, for two cores
        ((32, 32, 20, 20, 4), 1, 5),
        ((32, 32, 20, 20, 4, 3, 2), 2, 5),  # cores take images
        ((128, 128, 20, 20, 4), 2, 5),  # weights that do not stay near
    ],
    ids=str,
)
def test_rows_of_tiles_in_a_block(shape: tuple[int, ...], cores: int, rows: int):
    form = form_of(conv_relu(*shape), parse_target(f"llvm -mcpu=skylake-avx512 -num-cores={cores}"))
    assert form is not None
    assert form.blocks.rows == rows


@pytest.mark.parametrize(
    ("second_cache", "shape", "together", "images", "at_once"),
    [
        # of weights that stay near, so many as make six tiles
        (512, (64, 32, 7, 7, 4, 3, 8), True, 2, (1, 2, 2)),
        (512, (64, 32, 3, 3, 3, 3, 9), True, 9, (5, 1, 1)),
        (512, (64, 32, 3, 3, 3, 3, 7), True, 7, (4, 1, 1)),
        (512, (64, 32, 14, 14, 4, 3, 20), True, 1, (1, 1, 4)),
        (512, (64, 32, 7, 7, 4, 3, 1), True, 1, (1, 2, 2)),
        pytest.param(
            512, (64, 32, 56, 56, 4, 3, 8), False, 1, (1, 1, 5), marks=pytest.mark.slow
        ),  # rows of tiles by themselves
        # of others, so many that little is read again; three images of a row are fewer parts than one of two rows
        (128, (64, 32, 7, 7, 4, 3, 8), True, 8, (3, 1, 2)),
        (128, (64, 32, 14, 14, 4, 3, 20), True, 2, (1, 1, 4)),
        # where weights are less than the tiles of all images, blocks of these by themselves
        pytest.param(128, (16, 96, 7, 7, 4, 3, 32), False, 8, (3, 1, 2), marks=pytest.mark.slow),
        (128, (16, 96, 7, 7, 4, 3, 9), True, 9, (3, 1, 2)),  # but not so many would feed two cores
    ],
    ids=str,
)
def test_small_images_are_multiplied_together(
    run_kernel_everywhere,
    second_cache: int,
    shape: tuple[int, ...],
    together: bool,
    images: int,
    at_once: tuple[int, int, int],
):
    target = parse_target(f"llvm -mcpu=haswell -num-cores=2 -cache-sizes=32768,{second_cache << 10},8388608")
    kernel = conv_relu(*shape)
    form = form_of(kernel, target)
    assert form is not None
    assert (form.blocks.together, form.blocks.images, form.at_once) == (together, images, at_once)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, schedule_by(WinogradConv(), kernel, target))


def test_each_core_transforms_the_rows_of_tiles_that_it_multiplies(run_kernel_everywhere):
    target = replace(host_target(), cores=2)
    kernel = conv_relu(32, 32, 20, 20, 4)
    form = form_of(kernel, target)
    assert form is not None and not form.blocks.together
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, schedule_by(WinogradConv(), kernel, target))


def test_weights_that_do_not_stay_in_the_second_cache_are_expected_to_take_more_time():
    small, large = (parse_target(f"llvm -mcpu=znver4 -cache-sizes=32768,{n << 20},33554432") for n in (1, 4))
    kernel = conv_relu(64, 128, 56, 56, 4)
    assert plan_by(WinogradConv(), kernel, small, {1}).cycles > plan_by(WinogradConv(), kernel, large, {1}).cycles


def test_tiles_that_do_not_stay_in_the_second_cache_are_expected_to_take_more_time():
    small, large = (parse_target(f"llvm -mcpu=znver4 -cache-sizes=32768,{n << 20},33554432") for n in (1, 4))
    kernel = conv_relu(128, 128, 28, 28, 4, stride=2)
    assert plan_by(WinogradConv(), kernel, small, {1}).cycles > plan_by(WinogradConv(), kernel, large, {1}).cycles


def test_tiles_that_other_cores_transform_are_expected_to_take_more_time():
    """Where all are transformed first; not where each row of tiles is by itself."""
    one, two = (parse_target(f"llvm -mcpu=znver4 -num-cores={n} -cache-sizes=32768,1048576,33554432") for n in (1, 2))
    for size, dearer in ((14, True), (56, False)):
        kernel = conv_relu(128, 128, size, size, 4)
        assert (
            plan_by(WinogradConv(), kernel, two, {1}).cycles > plan_by(WinogradConv(), kernel, one, {1}).cycles
        ) == dearer


def test_fewer_products_are_expected_to_take_less_time():
    """Larger tiles of the same convolution take fewer, on any machine, for large images and small ones."""
    for cpu in ("haswell", "skylake-avx512"):
        target = parse_target(f"llvm -mcpu={cpu} -cache-sizes=32768,1048576,33554432")
        for channels, size in ((64, 56), (256, 14)):
            small, large = (conv_relu(channels, channels, size, size, tile) for tile in (2, 4))
            rule = WinogradConv()
            assert plan_by(rule, large, target, {1}).cycles < plan_by(rule, small, target, {1}).cycles


@pytest.mark.parametrize(
    ("shape", "vectors"),
    [
        ((256, 32, 14, 14, 4), 1),  # two cores share 32 filters
        ((256, 64, 14, 14, 4), 2),
        ((256, 160, 14, 14, 4), 1),  # five turns of one vector, or three of two
        ((64, 32, 56, 56, 4), 2),  # cores share rows of tiles
        ((256, 32, 14, 14, 4, 3, 2), 2),  # or images
    ],
    ids=str,
)
def test_cores_share_few_filters(shape: tuple[int, ...], vectors: int):
    form = form_of(conv_relu(*shape), parse_target("llvm -mcpu=skylake-avx512 -num-cores=2"))
    assert form is not None
    assert form.vectors == vectors


def test_cores_transform_the_channels_that_they_wrote():
    """A kernel of small images leaves its filters core by core, and the next one like it reads them so."""
    kernel = conv_relu(256, 256, 14, 14, 4)
    sequence = str(schedule_by(WinogradConv(), kernel, parse_target("llvm -mcpu=skylake-avx512 -num-cores=2")))
    assert "schedule.parallel %c_outer" in sequence


def conv_model(channels: int, filters: int, size: int) -> onnx.ModelProto:
    weight = np.random.default_rng(1).standard_normal((filters, channels, 3, 3), np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    shapes = {"x": [1, channels, size, size], "y": [1, filters, size, size]}
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in shapes.items())
    graph_ = helper.make_graph([node], "conv", [x], [y], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph_, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize(("cpu", "ahead"), [("skylake-avx512", True), ("haswell", False)])
def test_weights_are_asked_for_while_tiles_are_multiplied(cpu: str, ahead: bool):
    """Each tile asks for a part of the next block; where a step has time for it, also for what is read soon."""
    target = parse_target(f"llvm -mcpu={cpu} -num-cores=2")
    levels = dict(lower_by_levels(for_target(import_onnx(conv_model(256, 256, 14)).module, target)))
    asked = {op.locality.value.data for op in levels["6-loop"].walk() if isinstance(op, PrefetchOp)}
    assert asked == ({2, 3} if ahead else {2})


def test_strict_precision_is_that_of_the_direct_sum(tmp_path):
    """Errors, of the largest result, against a sum in double precision; the algorithms are different ones."""
    model, cache = conv_model(64, 64, 28), KernelCache(tmp_path)
    x = np.random.default_rng(0).standard_normal((1, 64, 28, 28), np.float32)
    exact = exact_conv(x, numpy_helper.to_array(model.graph.initializer[0]))
    errors: dict[str, float] = {}
    for precision in ("default", "strict"):
        [y] = tw.compile(model, cache=cache, precision=precision).run({"x": x}).values()
        errors[precision] = float(np.abs(y - exact).max() / np.abs(exact).max())
    assert errors["strict"] < 2e-6 < errors["default"] < 5e-5


@pytest.mark.parametrize(("window", "stride", "tile"), [(3, 1, 2), (3, 2, 2), (3, 2, 3), (5, 2, 2), (5, 3, 3)])
def test_few_products_of_each_filter_are_as_accurate(window: int, stride: int, tile: int):
    """Tiles that strict precision allows where windows move by more than one; within what a direct sum is."""
    assert tile - 1 + -(-window // stride) <= PRECISIONS["strict"].products
    x = np.random.default_rng(0).standard_normal((1, 64, 24, 24), np.float32)
    w = np.random.default_rng(1).standard_normal((16, 64, window, window), np.float32)
    form = {"tile": IntegerAttr(tile, i64), "stride": IntegerAttr(stride, i64)}
    image, weight = TestOp(result_types=[TensorType(f32, a.shape) for a in (x, w)]).results
    transform = graph.WinogradWeightOp.of(weight, **form)
    conv = graph.WinogradConvOp.of(image, transform.result, **form, pads=ints([0] * 4))
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (window, window), axis=(2, 3))
    exact = np.einsum("ncyxst,ocst->noyx", windows[:, :, ::stride, ::stride], w.astype(np.float64), optimize=True)
    assert np.abs(conv.evaluate(x, transform.evaluate(w)) - exact).max() < 2e-6 * np.abs(exact).max()


def exact_conv(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("ncyxst,ocst->noyx", windows, w.astype(np.float64), optimize=True)
