"""Half-precision models: sums, products and squares are taken in f32, the result rounded once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def full(value: float, *shape: int) -> Array:
    return np.full(shape, value, np.float16)


MANY = full(1, 1, 4096)
IMAGE = full(2, 1, 2, 64, 64)
LARGE = full(300, 1, 8, 2, 2)
"""Its squares are no half-precision numbers."""


@pytest.mark.parametrize(
    ("operator", "arrays", "attributes"),
    [
        ("Softmax", [MANY], {"axis": 1}),
        ("LogSoftmax", [MANY], {"axis": 1}),
        ("GlobalAveragePool", [IMAGE], {}),
        ("AveragePool", [IMAGE], {"kernel_shape": [64, 64]}),
        ("AveragePool", [IMAGE], {"kernel_shape": [64, 64], "pads": [1, 1, 1, 1]}),
        ("Conv", [IMAGE, full(0.5, 3, 2, 64, 64)], {}),
        ("MatMul", [MANY, MANY.T.copy()], {}),
        ("Gemm", [MANY, MANY, full(1, 1)], {"transB": 1}),
        ("ReduceSum", [MANY], {}),
        ("ReduceMean", [IMAGE], {"axes": [2, 3]}),
        ("ReduceProd", [np.array([300, 300, 0.001], np.float16)], {"keepdims": 0}),
        ("ReduceL1", [MANY], {"axes": [1]}),
        ("ReduceL2", [LARGE], {"axes": [1]}),
        ("ReduceSumSquare", [full(3, 1, 500)], {"axes": [1]}),
        ("ReduceLogSum", [full(40, 1, 4096)], {"axes": [1]}),
        ("Mean", [full(60000, 3), full(60000, 3)], {}),
        ("Sum", [full(60000, 3), full(60000, 3), full(-60000, 3)], {}),
        ("LRN", [LARGE], {"size": 5, "alpha": 0.5}),
        ("BatchNormalization", [full(1, 1, 1, 2), *[full(v, 1) for v in (1e-3, 0, 0, 2e-5)]], {"epsilon": 1e-7}),
        ("InstanceNormalization", [IMAGE * np.arange(64, dtype=np.float16) * 8, full(1, 2), full(0, 2)], {}),
        ("LayerNormalization", [np.arange(2048, dtype=np.float16)[None], full(1, 2048)], {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_accumulation(operator: str, arrays: Sequence[Array], attributes: dict[str, Any], cache: KernelCache):
    names = [f"x{i}" for i in range(len(arrays))]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT16, array.shape)
        for name, array in zip(names, arrays, strict=True)
    ]
    node = helper.make_node(operator, names, ["y"], **attributes)
    graph = helper.make_graph([node], "half", inputs, [helper.make_empty_tensor_value_info("y")])
    opset = 17 if operator == "LayerNormalization" else 13
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    feeds = dict(zip(names, arrays, strict=True))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    [expected] = session.run(None, feeds)
    assert np.isfinite(expected).all()
    imported = import_onnx(model)
    [meant] = run_function(imported.module, "main", list(arrays), imported.parameters)
    for result in (tw.compile(model, cache=cache, processes=1).run(feeds)["y"], meant):
        assert result.dtype == np.float16 and result.shape == np.shape(expected)
        np.testing.assert_allclose(result, expected, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("operator", "opset", "constants"),
    [
        ("BatchNormalization", 15, [np.array(v, np.float32) for v in ([2, 3], [0.1, 0.2], [0.3, 3000], [1, 4])]),
        ("RMSNormalization", 23, [np.array([0.1, 0.7], np.float32)]),
    ],
)
def test_parameters_in_single_precision(operator: str, opset: int, constants: Sequence[Array], cache: KernelCache):
    """What scales and moves half-precision numbers may be of another type, which also says what the result is of."""
    x = np.array([[1, 300], [5, -7], [0.1, 2]], np.float16)
    names = [f"c{i}" for i in range(len(constants))]
    node = helper.make_node(operator, ["x", *names], ["y"])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT16, x.shape)]
    known = [numpy_helper.from_array(array, name) for name, array in zip(names, constants, strict=True)]
    graph = helper.make_graph([node], "mixed", inputs, [helper.make_empty_tensor_value_info("y")], known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    wide = x.astype(np.float64)
    if operator == "BatchNormalization":
        scale, bias, mean, variance = constants
        expected = ((wide - mean) / np.sqrt(variance + 1e-5) * scale + bias).astype(np.float16)
    else:
        normalized = (wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)).astype(np.float16)
        expected = normalized * constants[0]
    imported = import_onnx(model)
    [meant] = run_function(imported.module, "main", [x], imported.parameters)
    for result in (tw.compile(model, cache=cache, processes=1).run({"x": x})["y"], meant):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-3)


def network(
    nodes: Sequence[Any], inputs: dict[str, Array], outputs: Sequence[str], weights: dict[str, Array] | None = None
):
    given = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()
    ]
    known = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    made = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "half", given, made, known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_between_operators_nothing_is_rounded(cache: KernelCache):
    """The squares are no half-precision numbers, but what is made of them is; as results they are infinite."""
    x = np.array([300, -300, 7], np.float16)
    nodes = [helper.make_node("Mul", ["x", "x"], ["square"]), helper.make_node("Div", ["square", "x"], ["y"])]
    found = tw.compile(network(nodes, {"x": x}, ["y", "square"]), cache=cache, processes=1).run({"x": x})
    np.testing.assert_array_equal(found["y"], x)
    np.testing.assert_array_equal(found["square"], np.array([np.inf, np.inf, 49], np.float16))


def test_casts_of_the_network_round(cache: KernelCache):
    x = np.array([1 + 2**-12, 2049, 1e-9, 7e4], np.float32)
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["h"], ["y"], to=TensorProto.FLOAT),
    ]
    found = tw.compile(network(nodes, {"x": x}, ["y"]), cache=cache, processes=1).run({"x": x})["y"]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x.astype(np.float16).astype(np.float32))


def test_decisions_are_of_rounded_numbers(cache: KernelCache):
    """The second sum is larger by less than half precision holds: of equal numbers the first is the largest."""
    x, y = np.array([2048, 2048], np.float16), np.array([0, 0.5], np.float16)
    nodes = [
        helper.make_node("Add", ["x", "y"], ["sum"]),
        helper.make_node("ArgMax", ["sum"], ["largest"], axis=0, keepdims=0),
        helper.make_node("Equal", ["sum", "x"], ["same"]),
    ]
    feeds = {"x": x, "y": y}
    found = tw.compile(network(nodes, feeds, ["largest", "same"]), cache=cache, processes=1).run(feeds)
    assert found["largest"] == 0 and found["same"].all()


@pytest.mark.parametrize(("rows", "kept"), [(1, np.float16), (64, np.float32)])
def test_weights_that_few_rows_wait_for(rows: int, kept: type[np.generic], cache: KernelCache):
    """They stay as they are, though a factor for each output follows, which would go into wide ones."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 1024)).astype(np.float16)
    weight = (rng.standard_normal((1024, 1536)) / 32).astype(np.float16)
    factor = rng.standard_normal(1536).astype(np.float16)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Mul", ["p", "f"], ["y"])]
    model = network(nodes, {"x": x}, ["y"], {"w": weight, "f": factor})
    large = "llvm" + str(host_target())[len("llvm") :].split(" -cache-sizes")[0] + " -cache-sizes=32768,1048576,8388608"
    module = tw.compile(model, target=large, cache=cache, processes=1)
    expected = x.astype(np.float64) @ weight.astype(np.float64) * factor.astype(np.float64)
    np.testing.assert_allclose(module.run({"x": x})["y"], expected, rtol=1e-3, atol=1e-3)
    assert max(module.parameters.values(), key=lambda a: a.size).dtype == kept


CONVERSIONS = """
loop.kernel @convert ins(%x: memref<?xSOURCE> [N]) outs(%y: memref<?xRESULT> [N]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    %v = loop.load %x[%i] : memref<?xSOURCE>
    %r = arith.OPERATION %v : SOURCE to RESULT
    loop.store %r, %y[%i] : memref<?xRESULT>
  }
}
"""


@pytest.mark.skipif(host_target().architecture != "x86_64", reason="of processors of x86 without F16C")
@pytest.mark.parametrize(
    ("operation", "source", "result"),
    [("extf", "f16", "f32"), ("extf", "f16", "f64"), ("truncf", "f32", "f16"), ("truncf", "f64", "f16")],
)
def test_conversions_without_instructions(
    operation: str, source: str, result: str, parse_module: Callable[[str], ModuleOp]
):
    text = CONVERSIONS.replace("OPERATION", operation).replace("SOURCE", source).replace("RESULT", result)
    target = parse_target(f"llvm -mtriple={host_target().triple} -mcpu=x86-64-v2")
    code = emit_kernels(parse_module(text), target)
    library = load_objects([compile_ir(code, target)])
    function = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_int64, c_int32)(library.get_function("convert"))
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = halves.astype(source.replace("f", "float"))
    if operation == "truncf":
        finite = x[np.isfinite(x)]
        between = (finite[:-1] + finite[1:]) / 2
        beside = [np.nextafter(between, side) for side in (-np.inf, np.inf)]
        x = np.concatenate([x, between, *beside, np.array([65519, 65520, 65536, 1e9], x.dtype)])
    y = np.empty(len(x), result.replace("f", "float"))
    function(x.ctypes.data, y.ctypes.data, len(x), 1)
    with np.errstate(all="ignore"):
        expected = x.astype(y.dtype)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(np.signbit(y), np.signbit(expected))
    assert "define weak_odr hidden half @__truncsfhf2(float %x)" in code
    assert "@__truncsfhf2" not in emit_kernels(parse_module(text), parse_target("llvm -mcpu=haswell"))
