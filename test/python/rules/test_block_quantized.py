"""Weights that are quantized in blocks: what their operators mean, and products with known and open numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from operator_definitions import by_definition, make, tensor
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, i8, i64

import tilework as tw
from tilework.dialects.graph import BlockQuantizedDenseOp, BlockQuantizedWeightOp, DequantizeOp
from tilework.dialects.graph.base import GraphOp
from tilework.runtime.cache import KernelCache

Array: TypeAlias = NDArray[Any]

OUTPUTS, CHANNELS = 1031, 1000
"""A prime, and a number that no block divides; as floats, so many weights stay in no core's own cache."""

NEAR = 2e-6
"""How far results may be from exact ones, as a part of the largest."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("cache"))


@dataclass(frozen=True)
class Quantized:
    """A weight of integers without a sign, of so many bits, in blocks."""

    bits: int
    block: int
    numbers: Array
    scale: Array
    zero: Array | None

    @classmethod
    def random(cls, outputs: int, channels: int, bits: int, block: int, zeros: bool) -> Quantized:
        """Random numbers, those at both ends of the range among them."""
        random = np.random.default_rng(bits * block)
        shape = outputs, -(-channels // block)
        numbers = random.integers(0, 1 << bits, (outputs, channels), np.uint8)
        zero = random.integers(0, 1 << bits, shape, np.uint8) if zeros else None
        return cls(bits, block, numbers, random.uniform(0.01, 0.02, shape).astype(np.float32), zero)

    @property
    def middle(self) -> int:
        """What the numbers count from where they have no zero points."""
        return 1 << self.bits - 1

    def spread(self, of_blocks: Array) -> Array:
        """A number of a block for each number in it."""
        return of_blocks.repeat(self.block, 1)[:, : self.numbers.shape[1]]

    def exact(self) -> Array:
        """What the numbers stand for, in f64."""
        zero = np.float64(self.middle) if self.zero is None else self.spread(self.zero).astype(np.float64)
        return (self.numbers - zero) * self.spread(self.scale).astype(np.float64)

    def packed(self, numbers: Array, length: int) -> Array:
        """Rows of so many numbers, filled up with zeros, in bytes."""
        filled = np.pad(numbers, [(0, 0), (0, length - numbers.shape[1])])
        in_byte = 8 // self.bits
        shifts = self.bits * np.arange(in_byte, dtype=np.uint8)
        return np.bitwise_or.reduce(filled.reshape(len(numbers), -1, in_byte) << shifts, 2)


def is_near(found: Array, x: Array, weight: Array) -> None:
    """Whether it is about the product of rows and a weight."""
    exact = x.astype(np.float64) @ weight.T
    np.testing.assert_allclose(found, exact, rtol=0, atol=NEAR * max(float(np.abs(exact).max(initial=0)), 1e-30))


def rows(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


@dataclass(frozen=True)
class Operators:
    """The operators on a weight, and on rows of this shape."""

    dequantize: GraphOp
    words: GraphOp
    dense: GraphOp
    operands: list[Array]

    @classmethod
    def of(cls, given: Quantized, *shape: int) -> Operators:
        operands = [(given.numbers.astype(np.int16) - given.middle).astype(np.int8), given.scale]
        operands += [] if given.zero is None else [given.zero.astype(np.float32) - np.float32(given.middle)]
        types = [TensorType(i8, operands[0].shape), *(tensor(*a.shape) for a in operands[1:])]
        properties = {"bits": IntegerAttr(given.bits, i64), "block": IntegerAttr(given.block, i64)}
        dequantize, words = (make(op, types, **properties) for op in (DequantizeOp, BlockQuantizedWeightOp))
        zeros = {} if given.zero is None else {"zeros": UnitAttr()}
        types = [tensor(*shape), words.results[0].type]
        outputs = IntegerAttr(len(given.numbers), i64)
        return cls(
            dequantize, words, make(BlockQuantizedDenseOp, types, **properties, **zeros, outputs=outputs), operands
        )


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(
    ("outputs", "channels", "bits", "block"), [(100, 96, 4, 32), (64, 50, 4, 16), (7, 33, 8, 16), (1, 1, 2, 16)]
)
def test_definitions(outputs: int, channels: int, bits: int, block: int, zeros: bool):
    given = Quantized.random(outputs, channels, bits, block, zeros)
    x = rows(3, 1, channels)
    made = Operators.of(given, *x.shape)
    np.testing.assert_allclose(made.dequantize.evaluate(*made.operands), given.exact(), rtol=1e-6)
    np.testing.assert_allclose(by_definition(made.dequantize, *made.operands), given.exact(), rtol=1e-6)
    u = np.asarray(made.words.evaluate(*made.operands))
    np.testing.assert_array_equal(by_definition(made.words, *made.operands), u)
    for found in (made.dense.evaluate(x, u), by_definition(made.dense, x, u)):
        is_near(np.asarray(found)[:, 0], x[:, 0], given.exact())


def test_sums_are_as_accurate_as_those_of_floats():
    """Root mean square of errors of 4096 terms, beside numpy's."""
    given = Quantized.random(64, 4096, 4, 32, True)
    x, weight = rows(8, 4096), given.exact()
    made = Operators.of(given, *x.shape)

    def error(found: Array) -> float:
        return float(np.sqrt(np.mean((found - x.astype(np.float64) @ weight.T) ** 2)))

    words = np.asarray(made.words.evaluate(*made.operands))
    assert error(by_definition(made.dense, x, words)) < 2 * error(x @ weight.astype(np.float32).T)


def few_bits_model(given: Quantized, dims: Sequence[int | str], bias: Array | None = None) -> onnx.ModelProto:
    """MatMulNBits of an input of these dimensions and a weight."""
    outputs, blocks = given.scale.shape
    constants = {"B": given.packed(given.numbers, blocks * given.block).reshape(outputs, blocks, -1), "S": given.scale}
    if given.zero is not None:
        in_byte = 8 // given.bits
        constants["Z"] = given.packed(given.zero, -(-blocks // in_byte) * in_byte)
    if bias is not None:
        constants["C"] = bias
    inputs = ["x", "B", "S", "Z" if given.zero is not None else "", "", "C" if bias is not None else ""]
    attributes: dict[str, Any] = {
        "K": given.numbers.shape[1],
        "N": outputs,
        "bits": given.bits,
        "block_size": given.block,
    }
    node = helper.make_node("MatMulNBits", inputs, ["y"], domain="com.microsoft", **attributes)
    return model_of([node], dims, constants)


def model_of(
    nodes: Sequence[onnx.NodeProto], dims: Sequence[int | str], constants: dict[str, Array]
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    domains = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=10)


def keeps_numbers(module: tw.Module) -> bool:
    """Whether a module multiplies by a weight that is still quantized."""
    return "block_quantized_dense" in str(module.show("graph"))


@pytest.mark.parametrize(("bits", "block", "zeros"), [(4, 32, False), (4, 16, True), (8, 128, True), (2, 64, False)])
def test_an_open_number_of_rows(bits: int, block: int, zeros: bool, cache: KernelCache):
    given = Quantized.random(OUTPUTS, CHANNELS, bits, block, zeros)
    bias = rows(OUTPUTS)
    module = tw.compile(few_bits_model(given, ["N", CHANNELS], bias), cache=cache)
    assert keeps_numbers(module)
    for count in range(10):
        x = rows(count, CHANNELS)
        is_near(np.asarray(module(x)) - bias, x, given.exact())


@pytest.mark.parametrize("dims", [(1,), (5, 1), (1, 2, 1), (9,), (3, 4)], ids=str)
def test_known_numbers_of_rows(dims: tuple[int, ...], cache: KernelCache):
    given = Quantized.random(OUTPUTS, CHANNELS, 4, 32, False)
    module = tw.compile(few_bits_model(given, [*dims, CHANNELS]), cache=cache)
    assert keeps_numbers(module)
    x = rows(*dims, CHANNELS)
    is_near(np.asarray(module(x)).reshape(-1, OUTPUTS), x.reshape(-1, CHANNELS), given.exact())


@pytest.mark.parametrize("cpu", ["haswell", "skylake-avx512"])
def test_on_other_processors(cpu: str, cache: KernelCache):
    """Vectors of other lengths."""
    given = Quantized.random(OUTPUTS, CHANNELS, 4, 32, True)
    module = tw.compile(few_bits_model(given, [2, CHANNELS]), cache=cache, target=f"llvm -mcpu={cpu}")
    assert keeps_numbers(module)
    x = rows(2, CHANNELS)
    is_near(np.asarray(module(x)), x, given.exact())


@pytest.mark.parametrize("kind", ["int4", "uint4", "int8", "uint8"])
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_standard_operators(kind: str, layout: str, cache: KernelCache):
    """DequantizeLinear of blocks in front of MatMul, whose columns are blocks, or Gemm, whose rows are."""
    given = Quantized.random(OUTPUTS, CHANNELS, int(kind.lstrip("uint")), 32, kind != "uint4")
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    less = 0 if kind.startswith("u") else given.middle
    numbers = given.numbers.astype(np.int16) - less
    zero = np.zeros(given.scale.shape, np.int16) if given.zero is None else given.zero.astype(np.int16) - less
    exact = (numbers - given.spread(zero)) * given.spread(given.scale).astype(np.float64)
    constants = {"q": numbers.astype(dtype), "s": given.scale}
    constants |= {} if given.zero is None else {"z": zero.astype(dtype)}
    if layout == "columns":
        constants = {name: np.ascontiguousarray(array.T) for name, array in constants.items()}
    nodes = [
        helper.make_node("DequantizeLinear", [*constants], ["w"], axis=0 if layout == "columns" else 1, block_size=32),
        helper.make_node("MatMul", ["x", "w"], ["y"])
        if layout == "columns"
        else helper.make_node("Gemm", ["x", "w"], ["y"], transB=1),
    ]
    module = tw.compile(model_of(nodes, [2, CHANNELS], constants), cache=cache)
    assert keeps_numbers(module)
    x = rows(2, CHANNELS)
    is_near(np.asarray(module(x)), x, exact)
