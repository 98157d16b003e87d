"""Products of floats in numbers of bfloat16: what they mean, and kernels under the rule for them."""

from math import prod

import numpy as np
import onnx
import pytest
from near_products import ORDER, doubles, is_near, normal
from onnx import helper, numpy_helper
from operator_definitions import by_definition, make, tensor
from programs import apply_phase
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.memref import AllocaOp
from xdsl.dialects.test import TestOp

import tilework as tw
from tilework.algebra.index_expr import ExprLike, var
from tilework.backends.local_buffers import STACK_LIMIT
from tilework.dialects import graph
from tilework.dialects.graph.algorithms.bf16x import can_use_bf16x
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.loop import IntrinsicOp
from tilework.dialects.loop import KernelOp as LoopKernelOp
from tilework.dialects.scalar_meaning import element_dtype
from tilework.dialects.schedule import TensorizeOp
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import kernel_symbols, run_kernel
from tilework.rules.cpu.bf16x_form import bf16x_form
from tilework.rules.registry import plan_for
from tilework.targets import Target, parse_target
from tilework.targets.cpu.host import host_target

ERRORS = {2: 1e-5, 3: 5e-7}
"""The largest error, as a part of the largest result, by how many numbers stand for a float."""

TILE, ROWS = ints([16, 16, 2]), IntegerAttr(16, i64)
"""The tiles of the machine whose rule is tested."""


@pytest.mark.parametrize("numbers", [2, 3])
@pytest.mark.parametrize("shape", [(6, 32), (7, 33), (1, 5), (3, 5, 64), (2, 1, 6, 40)], ids=str)
def test_dense(shape: tuple[int, ...], numbers: int):
    data, weight = tensor(*shape), tensor(24, shape[-1])
    x, w = normal(data, weight)
    transform = make(graph.Bf16xWeightOp, [weight], numbers=IntegerAttr(numbers, i64), tile=TILE)
    dense = make(graph.Bf16xDenseOp, [data, transform.result.type], outputs=IntegerAttr(24, i64), rows=ROWS)
    direct = make(graph.DenseOp, [data, weight])
    assert dense.result.type == direct.result.type
    u = transform.evaluate(w)
    np.testing.assert_array_equal(by_definition(transform, w), u)
    is_near(dense.evaluate(x, u), direct.evaluate(*doubles(x, w)), ERRORS[numbers])
    is_near(by_definition(dense, x, u), dense.evaluate(x, u), ORDER)


WINDOWS = {
    "3 x 3": ((3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "1 x 1": ((1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    "1 x 1, some points": ((1, 1), (2, 3), (1, 1), (0, 0, 0, 0)),
    "7 x 7, every second": ((7, 7), (2, 2), (1, 1), (3, 3, 3, 3)),
    "2 x 3, uneven": ((2, 3), (2, 1), (1, 1), (0, 2, 1, 0)),
    "apart": ((3, 2), (1, 1), (2, 3), (2, 0, 1, 1)),
    "moves by more than it is long": ((2, 2), (3, 3), (1, 1), (0, 0, 0, 0)),
}


@pytest.mark.parametrize("numbers", [2, 3])
@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize(("batch", "channels", "filters"), [(1, 32, 16), (2, 35, 20)])
def test_convolution(windows, batch: int, channels: int, filters: int, numbers: int):
    kernel, strides, dilations, pads = windows
    image, weight = tensor(batch, channels, 9, 8), tensor(filters, channels, *kernel)
    attributes = {"strides": ints(strides), "dilations": ints(dilations), "pads": ints(pads)}
    x, w = normal(image, weight)
    transform = make(graph.Bf16xWeightOp, [weight], numbers=IntegerAttr(numbers, i64), tile=TILE)
    conv = make(
        graph.Bf16xConvOp, [image, transform.result.type], **attributes, outputs=IntegerAttr(filters, i64), rows=ROWS
    )
    direct = make(graph.ConvOp, [image, weight], **attributes, groups=IntegerAttr(1, i64))
    assert conv.result.type == direct.result.type
    u = transform.evaluate(w)
    np.testing.assert_array_equal(by_definition(transform, w), u)
    is_near(conv.evaluate(x, u), direct.evaluate(*doubles(x, w)), ERRORS[numbers])
    is_near(by_definition(conv, x, u), conv.evaluate(x, u), ORDER)


@pytest.mark.parametrize("rank", [1, 3])
def test_other_images_and_tiles(rank: int):
    image, weight = tensor(1, 8, *(5, 4, 6)[:rank]), tensor(20, 8, *[3] * rank)
    pads = [1] * rank
    attributes = {"strides": ints([1] * rank), "dilations": ints([1] * rank), "pads": ints([*pads, *pads])}
    x, w = normal(image, weight)
    transform = make(graph.Bf16xWeightOp, [weight], numbers=IntegerAttr(2, i64), tile=TILE)
    conv = make(
        graph.Bf16xConvOp, [image, transform.result.type], **attributes, outputs=IntegerAttr(20, i64), rows=ROWS
    )
    direct = make(graph.ConvOp, [image, weight], **attributes, groups=IntegerAttr(1, i64))
    u = transform.evaluate(w)
    is_near(conv.evaluate(x, u), direct.evaluate(*doubles(x, w)), ERRORS[2])
    is_near(by_definition(conv, x, u), conv.evaluate(x, u), ORDER)


# -- kernels under the rule

TILES = parse_target("llvm -mcpu=sapphirerapids -num-cores=2 -cache-sizes=49152,2097152,33554432")


def like(*tensors: Tensor):
    return TestOp(result_types=[t.value.type for t in tensors]).results


def weight(k: KernelBuilder, numbers: int, *shape: int) -> Tensor:
    transform = make(graph.Bf16xWeightOp, [tensor(*shape)], numbers=IntegerAttr(numbers, i64), tile=TILE)
    return k.argument(transform.result.type, "u")


def dense_relu(
    rows: ExprLike, channels: int, outputs: int, batch: tuple[ExprLike, ...] = (), numbers: int = 2
) -> KernelOp:
    """A kernel of one layer, and of what is usually behind it."""
    k = KernelBuilder("dense_relu")
    x, u = k.argument(tensor(*batch, rows, channels), "x"), weight(k, numbers, outputs, channels)
    bias = k.argument(tensor(outputs), "bias")
    dense = graph.Bf16xDenseOp.of(*like(x, u), outputs=IntegerAttr(outputs, i64), rows=ROWS).define(k, x, u)
    names = [*(f"b{i}" for i in range(len(batch))), "i", "o"]
    return k.finish([k.compute("relu", dense.dims, with_axes(names, lambda *i: k.max(dense[i] + bias[i[-1]], 0.0)))])


def conv_relu(
    channels: int,
    filters: int,
    size: int,
    window: int = 3,
    stride: int = 1,
    batch: ExprLike = 1,
    numbers: int = 2,
    in_blocks: bool = True,
    width: int | None = None,
) -> KernelOp:
    """A kernel of one convolution between images in blocks of 16 channels, square but where a width is given, with a
    residual."""
    k = KernelBuilder("conv_relu")
    packed = k.argument(tensor(batch, channels // 16, size, width or size, 16), "x")
    axis = {"axis": IntegerAttr(1, i64)}
    x = graph.UnpackOp.of(*like(packed), **axis, size=IntegerAttr(channels, i64)).define(k, packed)
    u = weight(k, numbers, filters, channels, window, window)
    attributes = {"strides": ints([stride] * 2), "dilations": ints([1, 1]), "pads": ints([window // 2] * 4)}
    conv = graph.Bf16xConvOp.of(*like(x, u), **attributes, outputs=IntegerAttr(filters, i64), rows=ROWS).define(k, x, u)
    residual = k.argument(conv.value.type, "r")
    added = k.compute("add", conv.dims, lambda n, o, y, x_: k.max(conv[n, o, y, x_] + residual[n, o, y, x_], 0.0))
    if not in_blocks:
        return k.finish([added])
    return k.finish([graph.PackOp.of(*like(added), **axis, block=IntegerAttr(16, i64)).define(k, added)])


KERNELS = [
    dense_relu(8, 64, 48),
    dense_relu(100, 64, 96, numbers=3),  # the last block is moved inwards
    dense_relu(7, 40, 64, (3,)),  # channels that leave a part of a tile
    dense_relu(40, 64, 50),  # outputs that leave a part of one
    dense_relu(1, 32, 32),
    conv_relu(64, 64, 8),
    conv_relu(32, 48, 9),
    conv_relu(32, 32, 7, stride=2),
    conv_relu(32, 32, 9, window=7, stride=2, numbers=3),
    conv_relu(32, 16, 8, window=1),
    conv_relu(48, 32, 6, window=1, batch=3),
    conv_relu(32, 32, 5, window=5, batch=2, numbers=3),
    conv_relu(32, 32, 30),  # lines in blocks
    conv_relu(32, 48, 9, in_blocks=False),  # rows of an image are the lanes
    conv_relu(32, 32, 20, stride=2, in_blocks=False),
    conv_relu(32, 64, 7, window=1, in_blocks=False, batch=2),
    conv_relu(32, 48, 37, width=1),  # lines of one point
    conv_relu(32, 48, 37, stride=2, batch=2, width=1, in_blocks=False),
    conv_relu(32, 32, 5, window=5, stride=5, batch=3),  # images of one point
]


def arrays_for(kernel: KernelOp, **sizes: int):
    """Small integers, whose products are exact in any order."""
    rng = np.random.default_rng(0)
    types = [(dims_of(t), element_dtype(element_type(t))) for t in kernel.body.block.arg_types]
    return [rng.integers(-3, 4, [d.evaluate(sizes) for d in dims]).astype(dtype) for dims, dtype in types]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: f"{k.body.block.arg_types[0]}")
def test_loops_on_tiles(kernel: KernelOp):
    sequence = plan_for(kernel, TILES).schedule(kernel)
    assert any(isinstance(op, TensorizeOp) for op in sequence.walk())
    arrays = arrays_for(kernel)
    module = ModuleOp([kernel.clone(), sequence])
    apply_phase("compile-kernel", module)
    [lowered] = (op for op in module.ops if isinstance(op, LoopKernelOp))
    assert any(isinstance(op, IntrinsicOp) and op.intrinsic == "amx.tile_mulf" for op in lowered.walk())
    [expected] = run_kernel(kernel, arrays)
    found = np.empty_like(expected)
    run_loop_kernel(lowered, arrays, [found])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(not host_target().multiplies_tiles, reason="this machine multiplies no tiles")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: f"{k.body.block.arg_types[0]}")
def test_compiled_kernels(run_kernel_everywhere, kernel: KernelOp):
    sequence = plan_for(kernel, host_target()).schedule(kernel)
    run_kernel_everywhere(kernel, arrays_for(kernel), sequence)


B, S = var("B"), var("S")
SIZES = [{"B": 1, "S": 1}, {"B": 2, "S": 16}, {"B": 3, "S": 11}, {"B": 0, "S": 5}, {"B": 5, "S": 13}]
OPEN = [
    dense_relu(B, 64, 48),
    dense_relu(S, 40, 50, (B,), numbers=3),
    dense_relu(5, 32, 64, (B,)),
    dense_relu(S, 32, 64, (1,)),
    dense_relu(1, 32, 64, (B,)),
    dense_relu(S, 32, 64, (3,)),
    conv_relu(32, 48, 9, batch=B),
    conv_relu(32, 32, 7, batch=B, stride=2, numbers=3),
    conv_relu(32, 64, 7, batch=B, window=1),
    conv_relu(32, 32, 20, batch=B, in_blocks=False),
    conv_relu(32, 32, 30, batch=B),
    conv_relu(32, 32, 5, batch=B, window=5, stride=5),
    conv_relu(32, 32, 9, batch=B, width=1),
]


@pytest.mark.parametrize("kernel", OPEN, ids=lambda k: f"{k.body.block.arg_types[0]}")
def test_loops_for_any_number_of_rows_or_images(kernel: KernelOp):
    module = ModuleOp([kernel.clone(), plan_for(kernel, TILES).schedule(kernel)])
    apply_phase("compile-kernel", module)
    [lowered] = (op for op in module.ops if isinstance(op, LoopKernelOp))
    assert any(isinstance(op, IntrinsicOp) and op.intrinsic == "amx.tile_mulf" for op in lowered.walk())
    for sizes in SIZES:
        arrays = arrays_for(kernel, **sizes)
        [expected] = run_kernel(kernel, arrays)
        found = np.empty_like(expected)
        run_loop_kernel(lowered, arrays, [found], symbols=list(kernel_symbols(kernel, arrays).values()))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(not host_target().multiplies_tiles, reason="this machine multiplies no tiles")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kernel", OPEN, ids=lambda k: f"{k.body.block.arg_types[0]}")
def test_compiled_kernels_for_any_number(run_kernel_everywhere, kernel: KernelOp, sizes: dict[str, int]):
    sequence = plan_for(kernel, host_target()).schedule(kernel)
    run_kernel_everywhere(kernel, arrays_for(kernel, **sizes), sequence)


def test_buffers_fit_on_a_stack():
    """Also with the whole lines of numbers that fill a block."""
    kernel = conv_relu(416, 480, 13, stride=2, numbers=3, in_blocks=False, width=27)
    module = ModuleOp([kernel.clone(), plan_for(kernel, TILES).schedule(kernel)])
    apply_phase("compile-kernel", module)
    buffers = [op.memref.type for op in module.walk() if isinstance(op, AllocaOp)]
    sizes = [prod(t.get_shape()) * element_dtype(t.element_type).itemsize for t in buffers]
    assert 0 < sum(sizes) <= STACK_LIMIT


@pytest.mark.parametrize(
    ("kernel", "target"),
    [
        (dense_relu(8, 64, 48), parse_target("llvm -mcpu=icelake-server")),
        (dense_relu(8, 64, 10), TILES),
        (conv_relu(32, 40, 4, in_blocks=False), TILES),
    ],
    ids=["no tiles", "few outputs", "rows of an image, and outputs that leave a part of a tile"],
)
def test_what_it_does_not_fit_is_left_to_the_default_rule(kernel: KernelOp, target: Target):
    assert bf16x_form(kernel, target) is None


@pytest.mark.parametrize(
    ("types", "attributes"),
    [
        ([tensor(8, var("C")), tensor(32, var("C"))], None),
        ([tensor(1, 32, var("H"), 8), tensor(32, 32, 3, 3)], {}),
        ([tensor(0, 64), tensor(32, 64)], None),
        ([tensor(1, 32, 8, 8), tensor(32, 16, 3, 3)], {"groups": IntegerAttr(2, i64)}),
        ([tensor(1, 32, 8, 8), tensor(32, 32, 3, 3)], {"strides": ints([2, 2]), "dilations": ints([2, 2])}),
    ],
    ids=[
        "channels that are not known",
        "an image of unknown size",
        "no rows",
        "groups",
        "taps apart of windows that move by more than one",
    ],
)
def test_products_for_other_algorithms(types, attributes):
    plain = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "groups": IntegerAttr(1, i64), "pads": ints([2] * 4)}
    product = make(graph.DenseOp, types) if attributes is None else make(graph.ConvOp, types, **{**plain, **attributes})
    assert not can_use_bf16x(product)


def test_what_is_small_counts_as_zero_and_what_is_infinite_has_no_numbers():
    x, w = np.array([[1e-39, 1.0], [np.inf, 1.0]], np.float32), np.eye(2, dtype=np.float32)
    transform = make(graph.Bf16xWeightOp, [tensor(2, 2)], numbers=IntegerAttr(3, i64), tile=TILE)
    dense = make(graph.Bf16xDenseOp, [tensor(2, 2), transform.result.type], outputs=IntegerAttr(2, i64), rows=ROWS)
    u = transform.evaluate(w)
    with np.errstate(invalid="ignore"):
        for found in (dense.evaluate(x, u), by_definition(dense, x, u)):
            np.testing.assert_array_equal(found[0], [0.0, 1.0])
            assert np.isnan(found[1]).all()


@pytest.mark.parametrize(("precision", "error"), [("default", 1e-5), ("strict", 2e-6)])
def test_a_model(precision: str, error: float):
    """On any machine, in whatever numbers it multiplies."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((256, 320)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    info = [
        helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", (200, 256)), ("y", (200, 320)))
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "g", info[:1], info[1:], [numpy_helper.from_array(w, "w")]),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    x = rng.standard_normal((200, 256)).astype(np.float32)
    is_near(tw.compile(model, precision=precision)(x), x.astype(np.float64) @ w, error)
