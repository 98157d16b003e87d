"""Products of bytes: the instruction and what stands for it, and quantized networks against the standard's answers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import Array
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.runtime.cache import KernelCache
from tilework.targets import parse_target

RANDOM = np.random.default_rng(34)
N = 48

EXTREME = np.array([0, 127, -128, -1], np.int8)


def kernel(lanes: int | None, summed: bool) -> str:
    """Dots of N pairs of words; or the same added to what is in a third array, from either side in turn."""
    type_, part = ("i32", "") if lanes is None else (f"vector<{lanes}xi32>", f", vector<{lanes}xi32>")
    at = "%i" if lanes is None else f"{lanes} * %i"
    loads = "\n".join(f"%{v} = loop.load %{v}s[{at}] : memref<{N}xi32>{part}" for v in "xwa")
    sums = f"%s = arith.addi %a, %d : {type_}\n%t = arith.addi %s, %a : {type_}" if summed else ""
    return f"""
loop.kernel @k ins(%xs: memref<{N}xi32>, %ws: memref<{N}xi32>, %as: memref<{N}xi32>) outs(%out: memref<{N}xi32>) {{
  loop.for %i = 0 to {N // (lanes or 1)} "i" {{
    {loads}
    %d = loop.call_intrinsic @dot4.ui8i8(%x, %w) : ({type_}, {type_}) -> {type_}
    {sums}
    loop.store %{"t" if summed else "d"}, %out[{at}] : memref<{N}xi32>{part}
  }}
}}"""


@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("lanes", [None, 2, 4, 6, 8, 16, 24])
def test_dots_of_all_widths(compile_kernel, lanes: int | None, summed: bool):
    """Four lanes, eight and sixteen are one instruction where the machine has it."""
    x = RANDOM.integers(0, 256, (N, 4)).astype(np.uint8)
    w = RANDOM.integers(-128, 128, (N, 4)).astype(np.int8)
    x[:4], w[:4] = 255, EXTREME[:, None]  # the sums of least and largest products fit, too
    a, out = RANDOM.integers(-999, 999, N).astype(np.int32), np.zeros(N, np.int32)
    compile_kernel(kernel(lanes, summed))(x.view("<i4").ravel(), w.view("<i4").ravel(), a, out)
    dots = (x.astype(np.int32) * w).sum(axis=1)
    np.testing.assert_array_equal(out, dots + 2 * a if summed else dots)


@pytest.mark.parametrize(
    ("target", "lanes", "expected"),
    [
        ("llvm -mcpu=icelake-server", 16, "@llvm.x86.avx512.vpdpbusd.512(<16 x i32> %a"),
        ("llvm -mcpu=alderlake", 8, "@llvm.x86.avx512.vpdpbusd.256(<8 x i32> %a"),
        ("llvm -mcpu=alderlake", 16, "mul <16 x i32>"),
        ("llvm -mcpu=haswell", 8, "mul <8 x i32>"),
        ("llvm -mcpu=neoverse-v1", 4, "@llvm.aarch64.neon.usdot.v4i32.v16i8(<4 x i32> %a"),
        ("llvm -mcpu=neoverse-n1", 4, "mul <4 x i32>"),
    ],
)
def test_a_sum_with_a_product_is_one_instruction(target: str, lanes: int, expected: str):
    module = SourceParser(make_context(), kernel(lanes, summed=True), "<test>").parse_module()
    assert isinstance(module, ModuleOp)
    text = emit_kernels(module, parse_target(target))
    assert expected in text
    assert ("call" in text) == ("@llvm" in expected)


def test_a_product_that_nothing_reads(compile_kernel):
    """And one that two sums read, neither of which can take it in."""
    unread, twice = kernel(None, summed=True), kernel(None, summed=True)
    unread = unread.replace("%s = arith.addi %a, %d", "%s = arith.addi %a, %a")
    twice = twice.replace("%t = arith.addi %s, %a", "%t = arith.addi %s, %d")
    x, a = RANDOM.integers(0, 1 << 30, N).astype(np.int32), RANDOM.integers(-9, 9, N).astype(np.int32)
    dots = (x.view(np.uint8).astype(np.int32) * x.view(np.int8)).reshape(N, 4).sum(axis=1)
    for text, expected in ((unread, 3 * a), (twice, a + 2 * dots)):
        out = np.zeros(N, np.int32)
        compile_kernel(text)(x, x, a, out)
        np.testing.assert_array_equal(out, expected)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


class Network:
    """An ONNX graph from x to y that is written node by node."""

    def __init__(self, x: Array, dims: list[int | str] | None = None):
        self.x, self._dims = x, dims
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, value: Array | np.generic) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def dequantized(self, x: str, scale: float, zero: np.generic) -> str:
        return self.node("DequantizeLinear", x, self.constant(np.float32(scale)), self.constant(zero))

    def quantized(self, x: str, scale: float, zero: np.generic) -> str:
        """A tensor that is quantized and dequantized again."""
        scale_name, zero_name = self.constant(np.float32(scale)), self.constant(zero)
        steps = self.node("QuantizeLinear", x, scale_name, zero_name)
        return self.node("DequantizeLinear", steps, scale_name, zero_name)

    def weight(self, *shape: int, axis: int = 0) -> str:
        """A weight of 8 bits, with a scale for each output."""
        scales = RANDOM.uniform(0.001, 0.002, shape[axis]).astype(np.float32)
        values = RANDOM.integers(-128, 128, shape).astype(np.int8)
        zeros = np.zeros(shape[axis], np.int8)
        return self.node("DequantizeLinear", *map(self.constant, (values, scales, zeros)), axis=axis)

    def model(self, y: str) -> onnx.ModelProto:
        kind = helper.np_dtype_to_tensor_dtype(self.x.dtype)
        graph = helper.make_graph(
            self._nodes,
            "quantized",
            [helper.make_tensor_value_info("x", kind, self._dims or self.x.shape)],
            [helper.make_empty_tensor_value_info(y)],
            self._constants,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


TARGETS = ["llvm -mcpu=x86-64-v3", "llvm"]
"""Floats are multiplied for the first one; for the machine itself bytes are, where it has instructions for them."""


@pytest.fixture(params=TARGETS)
def check(request: pytest.FixtureRequest, cache: KernelCache):
    def run(network: Network, y: str, tolerance: float = 1e-5) -> None:
        """Run a model, and compare with what the standard says, but for rounding of the largest number."""
        made = network.model(y)
        [expected] = ReferenceEvaluator(made).run(None, {"x": network.x})
        found = tw.compile(made, target=request.param, cache=cache, processes=1)(network.x)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())

    return run


@pytest.mark.parametrize("zero", [np.uint8(0), np.uint8(7), np.int8(0), np.int8(-128), np.int8(9)], ids=repr)
@pytest.mark.parametrize("channels", [64, 20, 3])
def test_convolutions_of_quantized_images(check, channels: int, zero: np.generic):
    """In blocks of channels, in words that another kernel makes, and in ones that zeros fill."""
    network = Network(RANDOM.standard_normal((1, channels, 9, 11)).astype(np.float32))
    image = network.quantized("x", 0.02, zero)
    y = network.node("Conv", image, network.weight(24, channels, 3, 3), pads=[1, 0, 2, 1], strides=[1, 2])
    check(network, y)


def test_groups_of_whole_words(check):
    network = Network(RANDOM.standard_normal((2, 32, 7, 5)).astype(np.float32))
    image = network.quantized("x", 0.02, np.uint8(3))
    check(network, network.node("Conv", image, network.weight(16, 8, 3, 3), pads=[1] * 4, group=4, dilations=[2, 1]))


def test_a_bottleneck(check):
    """What one convolution makes is quantized for the next one; the image is added to the result, and is read twice."""
    network = Network(RANDOM.standard_normal((1, 32, 8, 8)).astype(np.float32))
    image = network.quantized("x", 0.02, np.int8(5))
    hidden = network.node("Relu", network.node("Conv", image, network.weight(48, 32, 1, 1)))
    hidden = network.quantized(hidden, 2**-6, np.int8(-128))
    made = network.node("Conv", hidden, network.weight(32, 48, 3, 3), pads=[1] * 4)
    check(network, network.node("Add", made, image))


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("inner", [64, 30, 5])
def test_layers_of_any_number_of_rows(check, inner: int, transposed: int):
    network = Network(RANDOM.standard_normal((6, inner)).astype(np.float32), ["N", inner])
    rows = network.quantized("x", 0.02, np.uint8(128))
    shape, axis = ((17, inner), 0) if transposed else ((inner, 17), 1)
    bias = network.constant(RANDOM.standard_normal(17).astype(np.float32))
    check(network, network.node("Gemm", rows, network.weight(*shape, axis=axis), bias, transB=transposed))


def test_rows_that_begin_inside_of_words(check):
    """Halves of concatenated rows of 6 and 18 bytes, which are no words of the same memory."""
    network = Network(RANDOM.integers(0, 256, (5, 24)).astype(np.uint8))
    halves = [network.node("Slice", "x", *(network.constant(np.array([n])) for n in (a, b, 1))) for a, b in ((2, 22),)]
    rows = network.dequantized(halves[0], 0.02, np.uint8(3))
    check(network, network.node("MatMul", rows, network.weight(20, 9, axis=1)))


@pytest.mark.parametrize("pads", [[0] * 4, [1, 2, 1, 0]])
def test_zero_points_that_the_program_computes(cache: KernelCache, pads: list[int]):
    x = RANDOM.standard_normal((1, 8, 6, 7)).astype(np.float32)
    w = RANDOM.integers(-128, 128, (5, 8, 3, 3)).astype(np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("ConvInteger", ["q", "w", "z"], ["y"], pads=pads),
    ]
    graph = helper.make_graph(
        nodes,
        "dynamic",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(w, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    [expected] = ReferenceEvaluator(made).run(None, {"x": x})
    np.testing.assert_array_equal(tw.compile(made, cache=cache, processes=1)(x), expected)
