"""Winograd's algorithm for images of unknown size: rows of tiles in parts, and tiles that are counted through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import model, node, numbers
from programs import for_target, schedule_by
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, UnitAttr, f32, i64
from xdsl.dialects.test import TestOp

import tilework as tw
from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import var
from tilework.dialects import graph
from tilework.dialects.graph.base import ints
from tilework.dialects.loop import KernelOp as LoopKernelOp
from tilework.dialects.schedule import PragmaOp, SequenceOp
from tilework.dialects.schedule.knob import number_of
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.driver.levels import lower_by_levels
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.lowering.pipelines import SCHEDULE
from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.rules.algorithms.winograd import Winograd
from tilework.rules.cpu.winograd import WinogradConv
from tilework.rules.cpu.winograd_form import WinogradForm, form_of
from tilework.runtime.cache import KernelCache
from tilework.scheduling.bound_inference import infer_bounds
from tilework.scheduling.state import read_schedule
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target
from tilework.transforms.graph.algorithms import Choice
from tilework.transforms.loop.simplify import Simplify

Array = np.ndarray[Any, Any]
Shape = Sequence[int | str]

SECOND_CACHE = {"rows": 1 << 20, "counted": 1 << 13}
"""With which weights stay near, so that blocks are parts of rows, and with which they do not."""
SIZES = [(1, 1), (2, 2), (5, 5), (16, 16), (17, 33), (33, 17), (64, 65), (1, 70), (70, 1)]


def target_for(form: str) -> str:
    """A target with few registers' worth of lanes, and two cores."""
    return f"llvm -mcpu=haswell -num-cores=2 -cache-sizes=32768,{SECOND_CACHE[form]},8388608"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def conv_model(shape: Shape, filters: int, window: int = 3, stride: int = 1, pad: int | None = None) -> onnx.ModelProto:
    pads = [window // 2 if pad is None else pad] * 4
    weight = numbers(filters, int(shape[1]), window, window, seed=1)
    return model([node("Conv", "x w", "y", pads=pads, strides=[stride] * 2)], {"x": shape}, "y", {"w": weight})


def weight_of(made: onnx.ModelProto) -> Array:
    return numpy_helper.to_array(made.graph.initializer[0])


def levels_of(made: onnx.ModelProto, form: str) -> Iterator[tuple[str, ModuleOp]]:
    return lower_by_levels(for_target(import_onnx(made).module, parse_target(target_for(form))))


def convolutions(made: onnx.ModelProto, form: str) -> list[graph.WinogradConvOp]:
    """Those that a model has once algorithms are chosen."""
    fused = next(module for name, module in levels_of(made, form) if name == "3-fused")
    return [op for op in fused.walk() if isinstance(op, graph.WinogradConvOp)]


def convolved(x: Array, w: Array, stride: int, pad: int) -> Array:
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("ncyxst,ocst->noyx", windows, w.astype(np.float64), optimize=True)


# ---- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "shape", "filters", "window", "stride"),
    [
        ("rows", (1, 16, "H", "W"), 8, 3, 1),
        ("counted", (1, 16, "H", "W"), 8, 3, 1),
        ("rows", (1, 16, "H", 9), 8, 3, 1),
        ("rows", (1, 16, 3, "W"), 8, 3, 1),  # one row of tiles
        ("counted", (1, 16, 3, "W"), 8, 3, 1),
        ("rows", ("N", 16, "H", "W"), 8, 3, 1),
        ("rows", (1, 8, "H", "W"), 8, 5, 1),
        ("rows", (1, 16, "H", "W"), 16, 3, 2),  # phases are filters of their own
    ],
    ids=str,
)
def test_convolutions(form: str, shape: Shape, filters: int, window: int, stride: int, cache: KernelCache):
    """One module for images that are smaller than a tile, have whole tiles, and leave any rest."""
    if missing := parse_target(target_for(form)).missing_features(host_target()):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    made = conv_model(shape, filters, window, stride)
    [conv] = convolutions(made, form)
    assert (conv.counted is not None) == (form == "counted")
    module = tw.compile(made, target_for(form), cache=cache, processes=1)
    sizes = [{"N": n, "H": h, "W": w} for n, (h, w) in enumerate(SIZES, 1)]
    for dims in dict.fromkeys(tuple(int(at.get(str(d), d)) for d in shape) for at in sizes):
        x = numbers(*dims)
        got, wanted = module(x), convolved(x, weight_of(made), stride, window // 2)
        assert got.shape == wanted.shape
        assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max(), dims


@pytest.mark.parametrize(
    ("space", "counted"),
    [(("D", 8, 8), False), pytest.param(("D", "H", "W"), True, marks=pytest.mark.slow), ((3, "H", "W"), True)],
    ids=str,
)
def test_volumes(space: tuple[str | int, ...], counted: bool, cache: KernelCache):
    """Tiles are along the last two axes: whether the first is known does not matter to them."""
    if missing := parse_target(target_for("counted")).missing_features(host_target()):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    weight, shape = numbers(8, 16, 3, 3, 3, seed=1), (1, 16, *space)
    made = model([node("Conv", "x w", "y", pads=[1] * 6)], {"x": shape}, "y", {"w": weight})
    [conv] = convolutions(made, "counted")
    assert (conv.counted is not None) == counted
    x = numbers(*(int({"D": 3, "H": 7, "W": 5}.get(str(d), d)) for d in shape))
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *[(1, 1)] * 3])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3), axis=(2, 3, 4))
    wanted = np.einsum("nczyxrst,ocrst->nozyx", windows, weight.astype(np.float64), optimize=True)
    got = tw.compile(made, target_for("counted"), cache=cache, processes=1)(x)
    assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("form", SECOND_CACHE)
def test_two_threads_share_blocks(form: str, cache: KernelCache):
    """Images have many blocks, and a last one that is shorter; results are those of one."""
    if missing := parse_target(target_for(form)).missing_features(host_target()):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    module = tw.compile(conv_model((1, 16, "H", "W"), 8), target_for(form), cache=cache, processes=1)
    x, before, results = numbers(1, 16, 97, 101), tw.get_num_threads(), list[Array]()
    for threads in (1, 2):
        tw.set_num_threads(threads)
        results.append(module(x))
    tw.set_num_threads(before)
    np.testing.assert_array_equal(*results)


def conv_kernel(
    shape: Shape,
    filters: int,
    window: int = 3,
    stride: int = 1,
    depth: int = 1,
    tile: int = 2,
    block: int = 0,
    counted: bool = True,
) -> KernelOp:
    """A kernel of an image that is padded to keep its size, and of a bias.

    depth: 1, or the stride for phases as channels. block: of filters that lie side by side in the result, if any.
    """
    k = KernelBuilder("conv_bias")
    dims = [var(d) if isinstance(d, str) else d for d in shape]
    count = (tile - 1) * stride // depth + -(-window // depth)
    x = k.argument(tensor_type(dims, f32), "x")
    u = k.argument(TensorType(f32, (filters, count, count, depth**2 * int(shape[1]))), "u")
    bias = k.argument(TensorType(f32, (filters,)), "bias")
    operands = TestOp(result_types=[x.value.type, u.value.type]).results
    form = {"tile": IntegerAttr(tile, i64), "stride": IntegerAttr(stride, i64)}
    form |= {"counted": UnitAttr()} if counted else {}
    form |= {"phases_as_channels": UnitAttr()} if depth > 1 else {}
    op = graph.WinogradConvOp.of(*operands, **form, pads=ints([window // 2] * 2 + [(window - 1) // 2] * 2))
    conv = op.define(k, x, u)
    biased = k.compute("bias", conv.dims, lambda n, o, y, x_: conv[n, o, y, x_] + bias[o])
    if not block:
        return k.finish([biased])
    pack = graph.PackOp.of(op.result, axis=IntegerAttr(1, i64), block=IntegerAttr(block, i64))
    return k.finish([pack.define(k, biased)])


@pytest.mark.parametrize(
    "kernel",
    [
        conv_kernel((2, 8, "H", "W"), 8),
        conv_kernel(("N", 8, "H", "W"), 8),
        conv_kernel((1, 8, "H", "W"), 16, tile=4, block=8),
        conv_kernel((1, 8, "H", "W"), 16, tile=4, block=16),
        conv_kernel((1, 8, "H", "W"), 16, tile=4, block=16, counted=False),
        conv_kernel((1, 8, "H", "W"), 8, window=5),
        conv_kernel((1, 8, "H", "W"), 8, stride=2),
        conv_kernel((1, 2, "H", "W"), 8, window=6, stride=2, depth=2),
        conv_kernel((1, 8, "H", 4), 8, tile=4),  # one column of tiles
    ],
    ids=["two", "N", "blocks of 8", "blocks of 16", "blocks of rows", "5 x 5", "stride", "phases", "column"],
)
def test_loops_of_tiles(kernel: KernelOp):
    """They are interpreted before they are cut: one tile, and a rest in both directions."""
    target = parse_target(target_for("counted"))
    module = ModuleOp([kernel.clone(), schedule_by(WinogradConv(), kernel, target)])
    passes = (*SCHEDULE, ScheduleToLoop(), Simplify())
    PassManager(Pipeline(ModuleOp.name, passes)).run(make_context(), module)
    [lowered] = [op for op in module.ops if isinstance(op, LoopKernelOp)]
    for height, width in ((1, 1), (3, 5)):
        at = {"N": 2, "H": height, "W": width}
        arrays = [numbers(*(int(e.evaluate(at)) for e in dims_of(t))) for t in kernel.body.block.arg_types]
        [wanted] = run_kernel(kernel, arrays)
        got = np.full_like(wanted, np.nan)
        run_loop_kernel(lowered, arrays, [got], symbols=[at[str(s)] for s in kernel.symbols])
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-4)


# ---- Forms and schedules ---------------------------------------------------------------------------------------------


def counted_form(
    filters: int, channels: int, cores: int = 2, second_cache: int = 256, height: int | str = "H"
) -> WinogradForm:
    kernel = conv_kernel((1, channels, height, "W"), filters, tile=4)
    target = parse_target(f"llvm -mcpu=haswell -num-cores={cores} -cache-sizes=32768,{second_cache << 10},8388608")
    found = form_of(kernel, target)
    assert found is not None and found.is_counted
    return found


@pytest.mark.parametrize(("form", "loops"), [("counted", 1), ("rows", 2)])
def test_large_weights_are_read_once_for_each_block_of_tiles(form: str, loops: int):
    """One loop of unknown length, which cores share, is around the products; of rows another one is along each."""
    module = next(
        module for level, module in levels_of(conv_model((1, 64, "H", "W"), 64), form) if level == "5-schedule"
    )
    [kernel] = [op for op in module.ops if isinstance(op, KernelOp)]
    [sequence] = [op for op in module.ops if isinstance(op, SequenceOp)]
    state = read_schedule(kernel, sequence)
    bounds = infer_bounds(state)
    around = state.attach_path(next(s for s in state.stages.values() if s.name == "winograd_product"))
    extents = [bounds[axis.stage].extents[axis] for axis in around]
    assert sum(not e.is_constant for e in extents) == loops


@pytest.mark.parametrize(("form", "whole", "cut"), [("counted", 1, 2), ("rows", 2, 0)])
def test_products_ask_how_many_tiles_there_are(form: str, whole: int, cut: int):
    """Loops over blocks stay whole; those over tiles that are counted through are cut: most of them are alike."""
    levels = levels_of(conv_model((1, 64, "H", "W"), 64), form)
    schedule = next(module for level, module in levels if level == "5-schedule")
    pragmas = [op for op in schedule.walk() if isinstance(op, PragmaOp) and op.key.data == "loop_partition_hint"]
    assert sorted(number_of(op.value) for op in pragmas) == [0] * whole + [1] * cut


@pytest.mark.parametrize(
    ("filters", "cores", "parts"),
    [(64, 8, 1), (256, 1, 1), (256, 2, 2), (512, 2, 2), (512, 8, 4), (768, 8, 6), (272, 8, 1)],
)
def test_cores_share_many_filters_of_few_tiles(filters: int, cores: int, parts: int):
    """Each transforms the tiles of a block for itself; a part has whole spans of vectors."""
    assert counted_form(filters, 64, cores, height=4).blocks.parts == parts
    assert counted_form(filters, 64, cores).blocks.parts == 1  # blocks enough


@pytest.mark.parametrize(("filters", "channels"), [(8, 8), (16, 64), (64, 64), (512, 512), (48, 1 << 14)])
@pytest.mark.parametrize("second_cache", [64, 1024])
def test_blocks_of_counted_tiles(filters: int, channels: int, second_cache: int):
    """Whole groups of those that are multiplied at once, in registers."""
    form = counted_form(filters, channels, second_cache=second_cache)
    (images, part), block = form.at_once, form.blocks.columns
    assert images == form.blocks.rows == form.blocks.images == 1
    assert 1 <= part <= 8 and part <= block <= 64 and block % part == 0
    assert (part + 1) * form.vectors <= 14


def test_an_algorithm_that_counts_tiles_is_told_to_other_processes():
    algorithm = Choice(1.0, Winograd(4, counted=True))
    assert Choice.from_json(algorithm.to_json()) == algorithm


# ---- Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", SECOND_CACHE)
def test_an_image_too_small_for_the_window(form: str, cache: KernelCache):
    """There is no padding."""
    if missing := parse_target(target_for(form)).missing_features(host_target()):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    module = tw.compile(conv_model((1, 16, "H", 9), 8, pad=0), target_for(form), cache=cache, processes=1)
    assert module(numbers(1, 16, 3, 9)).shape == (1, 8, 1, 7)
    message = (
        r"^the windows of conv '.*' do not fit into the image: dimension 2 of its result would be H - 2 "
        r"\(H = 2 is dimension 2 of input 'x'\)$"
    )
    with pytest.raises(UsageError, match=message):
        module(numbers(1, 16, 2, 9))
