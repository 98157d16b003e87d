"""Models in bfloat16, beside the same ones in f32 whose inputs are rounded."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache
from tilework.runtime.module import Module
from tilework.tools.cli import main

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
RANDOM = np.random.default_rng(16)
UNIT = 2.0**-8
"""What rounding to bfloat16 changes, of a number, at most."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def random(*shape: int, scale: float = 1.0) -> Array:
    return (scale * RANDOM.standard_normal(shape)).astype(BF16)


def model(
    nodes: list[onnx.NodeProto], inputs: dict[str, Array], constants: dict[str, Array] | None = None, opset: int = 21
) -> onnx.ModelProto:
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    kept = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "bf16", given, [helper.make_empty_tensor_value_info("y")], kept)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def single(arrays: dict[str, Array]) -> dict[str, Array]:
    return {name: a.astype(np.float32) if a.dtype == BF16 else a for name, a in arrays.items()}


def in_single(nodes: list[onnx.NodeProto], inputs: dict[str, Array], constants: dict[str, Array], opset: int) -> Array:
    """What onnxruntime makes of the same in f32."""
    made = model(nodes, single(inputs), single(constants), opset).SerializeToString()
    session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    return session.run(None, single(inputs))[0]


def run_both(made: onnx.ModelProto, inputs: dict[str, Array], cache: KernelCache) -> tuple[Array, Array]:
    """The results of compiled code and of the interpreter."""
    imported = import_onnx(made)
    [meant] = run_function(imported.module, "main", list(inputs.values()), imported.parameters)
    return tw.compile(made, cache=cache, processes=1).run(inputs)["y"], meant


def check(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Array],
    constants: dict[str, Array],
    cache: KernelCache,
    *,
    rtol: float,
    atol: float = 0.0,
    opset: int = 21,
) -> None:
    expected = in_single(nodes, inputs, constants, opset)
    assert np.isfinite(expected).all()
    for result in run_both(model(nodes, inputs, constants, opset), inputs, cache):
        assert result.dtype == BF16 and result.shape == expected.shape
        np.testing.assert_allclose(result.astype(np.float32), expected, rtol=rtol, atol=atol)


ONES = np.ones((1, 4096), BF16)
IMAGE = np.full((1, 2, 64, 64), 2, BF16)


@pytest.mark.parametrize(
    ("operator", "arrays", "attributes"),
    [
        ("Softmax", [ONES], {"axis": 1}),
        ("LogSoftmax", [ONES], {"axis": 1}),
        ("GlobalAveragePool", [IMAGE], {}),
        ("AveragePool", [IMAGE], {"kernel_shape": [64, 64], "pads": [1, 1, 1, 1]}),
        ("MaxPool", [random(1, 4, 32, 33)], {"kernel_shape": [3, 3], "strides": [2, 2]}),
        ("Conv", [IMAGE, np.full((3, 2, 64, 64), 0.5, BF16)], {}),
        ("Conv", [random(1, 16, 15, 17), random(24, 16, 3, 3)], {"pads": [1, 1, 1, 1]}),
        ("Conv", [random(1, 16, 15, 17), random(16, 1, 3, 3)], {"group": 16}),
        ("ConvTranspose", [random(1, 4, 9, 9), random(4, 3, 3, 3)], {"strides": [2, 2]}),
        ("MatMul", [ONES, ONES.T.copy()], {}),
        ("MatMul", [random(3, 40, 70), random(3, 70, 50)], {}),
        ("Gemm", [ONES, ONES, np.ones((1, 1), BF16)], {"transB": 1}),
        ("ReduceSum", [ONES], {}),
        ("ReduceMean", [IMAGE], {}),
        ("ReduceMax", [random(30, 50)], {}),
        ("ReduceL2", [random(3, 1000)], {}),
        ("Sum", [np.full(3, 1e38, BF16), np.full(3, 1e38, BF16), np.full(3, -1e38, BF16)], {}),
        ("LRN", [random(1, 8, 2, 2)], {"size": 5, "alpha": 0.5}),
        ("InstanceNormalization", [random(1, 2, 32, 32), np.ones(2, BF16), np.zeros(2, BF16)], {}),
        ("LayerNormalization", [random(3, 512), np.ones(512, BF16)], {}),
        ("Einsum", [random(4, 30), random(30, 5)], {"equation": "ij,jk->ik"}),
        ("CumSum", [np.ones((1, 2000), BF16), np.array(1)], {}),
        ("TopK", [random(5, 60), np.array([7])], {}),
        ("Resize", [random(1, 2, 8, 8), None, np.array([1, 1, 2, 2], np.float32)], {"mode": "linear"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_operators_that_add_up(operator, arrays, attributes, cache):
    """They compute in f32 and round once: a sum of ones does not stop at 256."""
    names = ["" if a is None else f"x{i}" for i, a in enumerate(arrays)]
    inputs = {name: a for name, a in zip(names, arrays, strict=True) if a is not None and a.dtype == BF16}
    others = {name: a for name, a in zip(names, arrays, strict=True) if a is not None and a.dtype != BF16}
    outputs = ["y", "indices"] if operator == "TopK" else ["y"]
    opset = 17
    node = helper.make_node(operator, names, outputs, **attributes)
    check([node], inputs, others, cache, rtol=1.02 * UNIT, atol=1e-5, opset=opset)


EVERY = np.arange(1 << 16, dtype=np.uint16).view(BF16)
FINITE = EVERY[np.isfinite(EVERY.astype(np.float32))]


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("Sigmoid", {}),
        ("Elu", {"alpha": 0.7}),
        ("Selu", {}),
        ("Gelu", {}),
        ("Gelu", {"approximate": "tanh"}),
        ("HardSigmoid", {}),
        ("HardSwish", {}),
        ("Softplus", {}),
        ("Softsign", {}),
        ("Mish", {}),
        ("Tanh", {}),
        ("Erf", {}),
        ("Abs", {}),
        ("Neg", {}),
        ("Relu", {}),
        ("LeakyRelu", {"alpha": 0.3}),
        ("Sin", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_functions_of_every_number(operator, attributes, cache):
    """Within a unit in the last place of what f32 gives, however many steps there are."""
    x = FINITE[np.abs(FINITE.astype(np.float32)) < 1e4]
    check([helper.make_node(operator, ["x"], ["y"], **attributes)], {"x": x}, {}, cache, rtol=UNIT * 2, atol=2e-6)


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Div"])
def test_arithmetic_is_rounded_as_ml_dtypes_does(operator, cache):
    a, b = (RANDOM.integers(0, 1 << 16, 1 << 16).astype(np.uint16).view(BF16) for _ in range(2))
    made = model([helper.make_node(operator, ["a", "b"], ["y"])], {"a": a, "b": b})
    with np.errstate(all="ignore"):
        expected = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[operator](a, b)
        for result in run_both(made, {"a": a, "b": b}, cache):
            assert result.dtype == BF16
            np.testing.assert_array_equal(result.astype(np.float32), expected.astype(np.float32))


def test_comparisons_and_choices(cache):
    a, b = random(1000), random(1000)
    a[:100] = b[:100]
    nodes = [
        helper.make_node("Less", ["a", "b"], ["c"]),
        helper.make_node("Where", ["c", "a", "b"], ["m"]),
        helper.make_node("Max", ["m", "a"], ["n"]),
        helper.make_node("Clip", ["n", "low"], ["y"]),
    ]
    constants = {"low": np.array(-0.5, BF16)}
    expected = np.maximum(np.maximum(np.where(a < b, a, b), a), np.array(-0.5, BF16)).astype(np.float32)
    for result in run_both(model(nodes, {"a": a, "b": b}, constants), {"a": a, "b": b}, cache):
        np.testing.assert_array_equal(result.astype(np.float32), expected)


NUMBERS = {
    "float32": np.concatenate([RANDOM.standard_normal(500) * 10.0**e for e in range(-40, 39, 3)]).astype(np.float32),
    "float64": RANDOM.standard_normal(500),
    "float16": np.arange(1 << 16, dtype=np.uint16).view(np.float16),
    "int8": np.arange(-128, 128, dtype=np.int8),
    "uint8": np.arange(256, dtype=np.uint8),
    "int32": RANDOM.integers(-(1 << 23), 1 << 23, 500).astype(np.int32),
    "int64": RANDOM.integers(-(1 << 23), 1 << 23, 500),
    "bool": np.array([True, False, True]),
}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_casts(dtype, cache):
    x = NUMBERS[dtype]
    made = model([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)], {"x": x})
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32).astype(BF16)
        for result in run_both(made, {"x": x}, cache):
            assert result.dtype == BF16
            np.testing.assert_array_equal(result.astype(np.float32), expected.astype(np.float32))
    limit = 100 if np.dtype(dtype).kind in "iu" else np.inf
    with np.errstate(all="ignore"):
        back = EVERY if np.dtype(dtype).kind in "fb" else random(500, scale=30)
        back = np.abs(back) if dtype == "uint8" else back
        back = np.clip(back.astype(np.float32), -limit, limit).astype(BF16) if limit == 100 else back
        expected = back.astype(np.float32).astype(dtype)
    made = model(
        [helper.make_node("Cast", ["x"], ["y"], to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))], {"x": back}
    )
    for result in run_both(made, {"x": back}, cache):
        np.testing.assert_array_equal(result, expected)


def mlp() -> tuple[list[onnx.NodeProto], dict[str, Array], dict[str, Array]]:
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["o"], transB=1),
        helper.make_node("Softmax", ["o"], ["y"], axis=-1),
    ]
    weights = {"w1": random(96, 64, scale=0.1), "b1": random(96), "w2": random(10, 96, scale=0.1), "b2": random(10)}
    return nodes, {"x": random(7, 64)}, weights


def convolutions() -> tuple[list[onnx.NodeProto], dict[str, Array], dict[str, Array]]:
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Conv", ["r", "w2"], ["d"], pads=[1, 1, 1, 1], group=32),
        helper.make_node("Conv", ["d", "w3"], ["e"]),
        helper.make_node("Add", ["e", "r"], ["a"]),
        helper.make_node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["y"]),
    ]
    weights = {
        "w1": random(32, 3, 3, 3, scale=0.3),
        "b1": random(32),
        **{"s": random(32), "b": random(32), "m": random(32), "v": np.abs(random(32)) + BF16.type(0.5)},
        "w2": random(32, 1, 3, 3, scale=0.3),
        "w3": random(32, 32, 1, 1, scale=0.2),
    }
    return nodes, {"x": random(1, 3, 32, 32)}, weights


def attention() -> tuple[list[onnx.NodeProto], dict[str, Array], dict[str, Array]]:
    nodes = [
        *(helper.make_node("MatMul", ["x", f"w{c}"], [c]) for c in "qkv"),
        *(helper.make_node("Reshape", [c, "heads"], [f"{c}h"]) for c in "qkv"),
        helper.make_node("Transpose", ["qh"], ["qt"], perm=[0, 2, 1, 3]),
        helper.make_node("Transpose", ["kh"], ["kt"], perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["vh"], ["vt"], perm=[0, 2, 1, 3]),
        helper.make_node("MatMul", ["qt", "kt"], ["scores"]),
        helper.make_node("Mul", ["scores", "scale"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["shares"], axis=-1),
        helper.make_node("MatMul", ["shares", "vt"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["back", "flat"], ["joined"]),
        helper.make_node("Add", ["joined", "x"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "g", "b"], ["normal"]),
        helper.make_node("Gelu", ["normal"], ["y"]),
    ]
    weights = {
        **{f"w{c}": random(64, 64, scale=0.15) for c in "qkv"},
        "heads": np.array([1, 24, 4, 16]),
        "flat": np.array([1, 24, 64]),
        "scale": np.array(0.25, BF16),
        **{"g": random(64), "b": random(64)},
    }
    return nodes, {"x": random(1, 24, 64)}, weights


@pytest.mark.parametrize("network", [mlp, convolutions, attention], ids=lambda network: network.__name__)
def test_networks(network, cache):
    """A few units away from f32, of the largest number; parts of ten that are the sum of many cancel."""
    nodes, inputs, weights = network()
    opset = 20
    expected = in_single(nodes, inputs, weights, opset)
    made = model(nodes, inputs, weights, opset)
    compiled, meant = run_both(made, inputs, cache)
    for result in (compiled, meant):
        assert result.dtype == BF16 and result.shape == expected.shape
        worst = np.abs(result.astype(np.float32) - expected).max() / np.abs(expected).max()
        assert worst < 4 * UNIT
    imported = import_onnx(made)
    assert {a.dtype for n, a in imported.parameters.items() if a.size > 1} <= {BF16, np.dtype(np.int64)}


def test_quantized_by_scales_of_bfloat16(cache):
    x, scale = random(6, 40, scale=3), np.array(0.0292, BF16)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    constants = {"s": scale, "z": np.array(3, np.int8)}
    steps = np.clip(np.rint(x / scale).astype(np.float32) + 3, -128, 127)
    expected = ((steps - 3) * scale.astype(np.float32)).astype(BF16)
    for result in run_both(model(nodes, {"x": x}, constants), {"x": x}, cache):
        np.testing.assert_array_equal(result.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize(
    ("operator", "arrays", "expected"),
    [
        ("Add", [1.0, 2**-8], 1.0),
        ("Div", [1.0, 3.0], 0.333984375),
        ("Sqrt", [2.0], 1.4140625),
        ("Clip", [7.0, 0.0, 6.0], 6.0),
        ("Max", [7.0, 9.0], 9.0),
        ("Pow", [3.0, 5.0], 243.0),
        ("Neg", [3.0], -3.0),
        ("Cast", [2.75], 2.75),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_computed_while_importing(operator, arrays, expected, cache):
    """What is made of constants is rounded, too; the rest is a product."""
    names = [f"c{i}" for i in range(len(arrays))]
    attributes = {"to": TensorProto.BFLOAT16} if operator == "Cast" else {}
    nodes = [
        helper.make_node(operator, names, ["c"], **attributes),
        helper.make_node("Mul", ["x", "c"], ["y"]),
    ]
    x = np.array([1, -2, 4], BF16)
    made = model(nodes, {"x": x}, {n: np.array(a, BF16) for n, a in zip(names, arrays, strict=True)})
    for result in run_both(made, {"x": x}, cache):
        assert result.dtype == BF16
        np.testing.assert_array_equal(result.astype(np.float32), x.astype(np.float32) * expected)


def test_artefact_and_command(tmp_path: Path, cache: KernelCache):
    """Parameters lie in it as the kernels read them; a .npy file has the bytes of bfloat16, without their type."""
    nodes, inputs, weights = mlp()
    module = tw.compile(model(nodes, inputs, weights), cache=cache, processes=1)
    expected = module.run(inputs)["y"]
    module.save(tmp_path / "m.tw")
    np.testing.assert_array_equal(Module.load(tmp_path / "m.tw").run(inputs)["y"].view(np.uint16), expected.view("u2"))
    assert all(a.dtype == np.float32 for a in module.parameters.values())
    np.save(tmp_path / "x.npy", inputs["x"])
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        words = ["run", str(tmp_path / "m.tw"), "--input", f"x={tmp_path / 'x.npy'}", "--out", str(tmp_path)]
        assert main(words) == 0
        assert main(["run", str(tmp_path / "m.tw"), "--random", "1"]) == 0
    assert shown.getvalue().count("bfloat16") == 2
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy").view("u2"), expected.view("u2"))


def test_operators_that_take_only_f32_are_refused():
    """Celu of opset 12 takes no half precision either; that of 28 does."""
    made = model([helper.make_node("Celu", ["x"], ["y"])], {"x": random(3)})
    message = r"Celu .* does not follow the ONNX standard: input 0 is a tensor\(bfloat16\), not a tensor\(float\)"
    with pytest.raises(tw.TileworkError, match=message):
        import_onnx(made)


def test_other_inputs_are_refused(cache: KernelCache):
    module = tw.compile(model(*mlp()), cache=cache, processes=1)
    with pytest.raises(tw.UsageError, match=r"'x' is float32, the module takes bfloat16: .*astype\(ml_dtypes.bfloat16"):
        module.run({"x": np.zeros((7, 64), np.float32)})
