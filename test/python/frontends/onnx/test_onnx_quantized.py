"""Quantized operators, interpreted and compiled; one by one they are in the node tests of the standard."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import Array

import tilework as tw
from tilework.dialects.support.diagnostics import TileworkError
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(7)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def model(nodes, x, constants, dims=None):
    """A model from x to y; sizes of the array x may be given names."""
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        nodes,
        "quantized",
        [helper.make_tensor_value_info("x", kind, dims or x.shape)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def check(made: onnx.ModelProto, x: Array, expected: Array, cache: KernelCache, tolerance: float = 0) -> None:
    imported = import_onnx(made)
    [interpreted] = run_function(imported.module, "main", [x], imported.parameters)
    for y in (interpreted, tw.compile(made, cache=cache, processes=1)(x)):
        assert y.dtype == expected.dtype
        np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


def quantized(steps: Array, zero: Array | int, dtype: type[np.generic]) -> Array:
    limits = np.iinfo(dtype)
    return (np.round(steps) + zero).clip(limits.min, limits.max).astype(dtype)


def convolved(x: Array, w: Array, pad: int) -> Array:
    """Convolve one image of integers, window by window."""
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))


@pytest.mark.parametrize(("dtype", "zero"), [(np.uint8, 3), (np.int8, -5), (np.uint16, 40000), (np.int16, 0)])
def test_there_and_back(dtype: type[np.generic], zero: int, cache: KernelCache):
    """Ties to even, far numbers to the nearest there is; of an unknown number of rows."""
    x = np.array([[-1e9, -0.75, -0.25, 0.25, 0.75], [1.25, 100.25, 1e9, 0, -0.1]], np.float32)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    made = model(nodes, x, {"s": np.float32(0.5), "z": dtype(zero)}, ["N", 5])
    expected = (quantized(x / np.float32(0.5), zero, dtype).astype(np.float32) - zero) * np.float32(0.5)
    check(made, x, expected, cache)


def test_a_convolution_between_quantized_images(cache: KernelCache):
    """Exporters write it so: its weight is stored in 8 bits, a scale for each filter."""
    x = RANDOM.integers(0, 256, (1, 16, 9, 9)).astype(np.uint8)
    w = RANDOM.integers(-128, 128, (32, 16, 3, 3)).astype(np.int8)
    scales = RANDOM.uniform(0.001, 0.002, 32).astype(np.float32)
    constants = {"s": np.float32(0.02), "z": np.uint8(128), "w": w, "ws": scales, "wz": np.zeros(32, np.int8)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["dw"], axis=0),
        helper.make_node("Conv", ["d", "dw"], ["y"], pads=[1, 1, 1, 1]),
    ]
    exact = convolved(x.astype(np.int64) - 128, w, 1) * 0.02 * scales[:, None, None].astype(np.float64)
    check(model(nodes, x, constants), x, exact.astype(np.float32), cache, tolerance=1e-4)


@pytest.mark.parametrize("per_filter", [False, True], ids=["one scale", "one for each filter"])
def test_a_quantized_convolution_is_exact(per_filter: bool, cache: KernelCache):
    """Padding stands for zero, not for the number 0; the bias is in steps of both scales."""
    x = RANDOM.integers(0, 256, (1, 16, 9, 9)).astype(np.uint8)
    w = RANDOM.integers(0, 256, (32, 16, 3, 3)).astype(np.uint8)
    scale = RANDOM.uniform(0.001, 0.002, 32 if per_filter else 1).astype(np.float32)
    zero = RANDOM.integers(100, 140, 32 if per_filter else 1).astype(np.uint8)
    bias = RANDOM.integers(-9999, 9999, 32).astype(np.int32)
    constants = {"xs": np.float32(0.02), "xz": np.uint8(7), "w": w, "ws": scale, "wz": zero}
    constants |= {"ys": np.float32(0.5), "yz": np.uint8(100), "b": bias}
    node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"], pads=[1] * 4)
    total = convolved(x.astype(int) - 7, w.astype(int) - zero.astype(int)[:, None, None, None], 1) + bias[:, None, None]
    step = np.float32(0.02) * scale / np.float32(0.5)
    expected = quantized(total.astype(np.float32) * step[:, None, None], 100, np.uint8)
    check(model([node], x, constants), x, expected, cache)


def test_products_of_integers_whose_rows_and_columns_have_zero_points(cache: KernelCache):
    x = RANDOM.integers(0, 256, (5, 300)).astype(np.uint8)
    w = RANDOM.integers(-128, 128, (300, 32)).astype(np.int8)
    rows, columns = RANDOM.integers(0, 256, 5).astype(np.uint8), RANDOM.integers(-128, 128, 32).astype(np.int8)
    node = helper.make_node("MatMulInteger", ["x", "w", "rows", "columns"], ["y"])
    expected = (x.astype(np.int32) - rows[:, None]) @ (w.astype(np.int32) - columns)
    check(model([node], x, {"w": w, "rows": rows, "columns": columns}), x, expected.astype(np.int32), cache)


def test_scales_that_are_computed(cache: KernelCache):
    """There are unknown many rows, as in models whose activations are quantized when they run."""
    x = RANDOM.standard_normal((6, 64)).astype(np.float32)
    w = RANDOM.integers(-128, 128, (64, 32)).astype(np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "s"], ["y"]),
    ]
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = (high - low) / np.float32(255)
    zero = np.round(-low / scale).clip(0, 255)
    steps = (np.round(x / scale) + zero).clip(0, 255).astype(np.int64) - int(zero)
    expected = (steps @ w.astype(np.int64)).astype(np.float32) * scale
    check(model(nodes, x, {"w": w}, ["N", 64]), x, expected, cache, tolerance=1e-6)


def test_zeros_alone_have_a_scale(cache: KernelCache):
    x = np.zeros((2, 16), np.float32)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["y"]),
    ]
    check(model(nodes, x, {"w": np.ones((16, 3), np.int8)}), x, np.zeros((2, 3), np.int32), cache)


def test_means_of_quantized_images(cache: KernelCache):
    """The zero point, a number, is an operand of a reduction."""
    x = RANDOM.integers(0, 256, (2, 9, 3, 3)).astype(np.uint8)
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["y"]),
    ]
    expected = (x.astype(np.float32) - 3).mean((2, 3), keepdims=True) / 2
    check(model(nodes, x, {"s": np.float32(0.5), "z": np.uint8(3)}), x, expected, cache, tolerance=1e-6)


def test_weights_of_4_bits_with_scales_of_blocks(cache: KernelCache):
    """The last block is shorter."""
    x = RANDOM.standard_normal((3, 40)).astype(np.float32)
    w, zero = RANDOM.integers(-8, 8, (40, 32)), RANDOM.integers(-2, 3, (3, 32))
    scale = RANDOM.uniform(0.01, 0.02, (3, 32)).astype(np.float32)
    constants = {"w": w.astype(ml_dtypes.int4), "s": scale, "z": zero.astype(ml_dtypes.int4)}
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=0, block_size=16),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    expected = x @ ((w - zero.repeat(16, 0)[:40]) * scale.repeat(16, 0)[:40])
    check(model(nodes, x, constants), x, expected.astype(np.float32), cache, tolerance=1e-5)


def test_in_which_precision_numbers_are_divided(cache: KernelCache):
    """In that of the scale, unless the node says another; integers are not cut off."""
    x = RANDOM.uniform(-400, 400, (4, 16)).astype(np.float32)
    scale = np.float16(0.29)
    attributes = {"precision": TensorProto.FLOAT, "output_dtype": TensorProto.INT16}
    made = model([helper.make_node("QuantizeLinear", ["x", "s"], ["y"], **attributes)], x, {"s": scale})
    made.opset_import[0].version = 23
    check(made, x, quantized(x / np.float32(scale), 0, np.int16), cache)
    whole = np.array([[-11, 22, 262, -235]], np.int32)
    made = model(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])], whole, {"s": np.int32(4), "z": np.int8(0)}
    )
    check(made, whole, quantized(whole / 4, 0, np.int8), cache)


def test_products_of_vectors(cache: KernelCache):
    x, w = RANDOM.integers(0, 256, 40).astype(np.uint8), RANDOM.integers(-128, 128, (40, 3)).astype(np.int8)
    node = helper.make_node("MatMulInteger", ["x", "w", "z"], ["y"])
    check(model([node], x, {"w": w, "z": np.uint8(9)}), x, (x.astype(np.int32) - 9) @ w.astype(np.int32), cache)


def ones(*shape: int) -> Array:
    return np.ones(shape, np.float32)


REFUSED: dict[str, tuple[str, dict[str, object], dict[str, Array], str]] = {
    "vector": ("QuantizeLinear", {"axis": 1}, {"s": ones(4)}, "input 1 is one number, or a vector of 5 along"),
    "axis": ("QuantizeLinear", {"axis": 2}, {"s": ones(5)}, "axis 2"),
    "few blocks": (
        "QuantizeLinear",
        {"block_size": 2},
        {"s": ones(2, 2)},
        "no number for each block of 2",
    ),
    "size of blocks": ("QuantizeLinear", {"block_size": -2}, {"s": ones(2, 3)}, "no number for each block of -2"),
    "float": (
        "QuantizeLinear",
        {"output_dtype": TensorProto.FLOAT},
        {"s": ones()},
        "integers of 1 or 2 bytes",
    ),
    "two types": (
        "QuantizeLinear",
        {"output_dtype": TensorProto.INT8},
        {"s": ones(), "z": np.zeros((), np.uint8)},
        "output_dtype is not the type of its zero point",
    ),
    "rows": (
        "QLinearMatMul",
        {},
        {"s": ones(3), "z": np.uint8(0), "w": np.zeros((5, 3), np.uint8), "t": ones(), "u": np.uint8(0)},
        "input 1 is one number, or a vector of 2 along axis 0",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    operator, attributes, constants, message = REFUSED[case]
    x = ones(2, 5).astype(np.uint8 if operator == "QLinearMatMul" else np.float32)
    inputs = ["x", *constants, *(["t", "u"] if operator == "QLinearMatMul" else [])]
    made = model([helper.make_node(operator, inputs, ["y"], **attributes)], x, constants)
    made.opset_import[0].version = 23
    with pytest.raises(TileworkError, match=message):
        import_onnx(made)


@pytest.mark.parametrize("dims", [(2, 64, 28), (2, 32, 4, 7)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bytes_of_long_rows(dtype: type[np.generic], dims: tuple[int, ...], cache: KernelCache):
    """Their lanes are several vectors, in rows that these do not divide."""
    x = RANDOM.standard_normal(dims).astype(np.float32) * 100
    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])
    check(model([node], x, {"s": np.float32(0.5), "z": dtype(0)}), x, quantized(x / np.float32(0.5), 0, dtype), cache)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_largest_bytes_of_windows(dtype: type[np.generic], cache: KernelCache):
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max + 1, (1, 16, 7, 9)).astype(dtype)
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=limits.min)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    check(model([node], x, {}), x, windows.max(axis=(4, 5)), cache)


def test_fractions_that_become_bytes_are_cut_off(cache: KernelCache):
    x = np.array([[-1.5, -0.5, 0.5, 1.5, 2.5, -2.5, -7.75, 3.25]], np.float32)
    w = RANDOM.integers(-128, 128, (8, 16)).astype(np.int8)
    nodes = [
        helper.make_node("Cast", ["x"], ["q"], to=TensorProto.INT8),
        helper.make_node("MatMulInteger", ["q", "w"], ["y"]),
    ]
    check(model(nodes, x, {"w": w}), x, x.astype(np.int32) @ w.astype(np.int32), cache)


def test_what_is_put_around_an_image_is_dequantized(cache: KernelCache):
    """Exporters write so a Pad between quantized images: its value is a byte, too."""
    x = RANDOM.integers(0, 256, (1, 2, 3, 3)).astype(np.uint8)
    scale, zero, around = np.float32(0.5), np.uint8(7), np.uint8(9)
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["v", "s", "z"], ["dv"]),
        helper.make_node("Pad", ["d", "pads", "dv"], ["p"]),
        helper.make_node("QuantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    pads = np.array([0, 0, 1, 0, 0, 0, 2, 1])
    expected = np.pad(x, [(0, 0), (0, 0), (1, 2), (0, 1)], constant_values=around)
    check(model(nodes, x, {"s": scale, "z": zero, "v": around, "pads": pads}), x, expected, cache)
