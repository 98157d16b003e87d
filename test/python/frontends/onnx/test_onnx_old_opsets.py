"""Models of opsets 1 to 6: what they write otherwise means what later ones say; what numpy says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import Array, check, refusal

from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(1)

X = RANDOM.standard_normal((2, 3, 4, 5)).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.1)
OF_CHANNELS = POSITIVE[0, :, 0, 0]
SPREAD = OF_CHANNELS[:, None, None]
TRUTHS = X > 0

EVERY = (1, 2, 3, 4, 5)
BEFORE_7 = (1, 5, 6)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@dataclass(frozen=True)
class Case:
    """A node of these inputs, those of `known` initializers, and the results in these opsets."""

    op: str
    inputs: Sequence[Array]
    wanted: Sequence[Array]
    opsets: Sequence[int]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    known: Sequence[int] = ()

    def __str__(self) -> str:
        return f"{self.op}-{self.attributes}-{[*self.known]}"

    def model(self, opset: int) -> onnx.ModelProto:
        names, outputs = (
            [f"{kind}{i}" for i in range(len(part))]
            for kind, part in zip("xy", (self.inputs, self.wanted), strict=True)
        )
        arrays = dict(zip(names, self.inputs, strict=True))
        graph = helper.make_graph(
            [helper.make_node(self.op, names, outputs, **self.attributes)],
            "old",
            # as in the files of then, initializers are among the inputs
            [
                helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                for n, a in arrays.items()
            ],
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            [numpy_helper.from_array(arrays[f"x{i}"], f"x{i}") for i in self.known],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=3)

    @property
    def feeds(self) -> dict[str, Array]:
        return {f"x{i}": array for i, array in enumerate(self.inputs) if i not in self.known}


def numbers(*given: float) -> Array:
    return np.array(given, np.float32)


ARITHMETIC: dict[str, Callable[..., Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Less": np.less,
    "Greater": np.greater,
}

BROADCASTING = [
    *(
        Case(op, [POSITIVE, OF_CHANNELS], [rule(POSITIVE, SPREAD)], BEFORE_7, {"broadcast": 1, "axis": 1})
        for op, rule in ARITHMETIC.items()
    ),
    # known beforehand, both or one
    *(
        Case(op, [POSITIVE[0], OF_CHANNELS], [rule(POSITIVE[0], SPREAD)], (1, 6), {"broadcast": 1, "axis": 0}, known)
        for op, rule in ARITHMETIC.items()
        for known in ((1,), (0, 1))
    ),
    *(
        Case(
            op,
            [TRUTHS, TRUTHS[0, :, 0, 0]],
            [rule(TRUTHS, TRUTHS[0, :, 0, 0, None, None])],
            (1, 6),
            {"broadcast": 1, "axis": 1},
            known,
        )
        for op, rule in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor))
        for known in ((), (0, 1))
    ),
    Case(
        "Equal",
        [np.array([[1, 2], [3, 2]]), np.array([3, 2])],
        [np.array([[False, True], [True, True]])],
        (1, 6),
        {"broadcast": 1},
    ),
    Case("Add", [X, X], [X + X], EVERY),
    Case("Not", [TRUTHS], [~TRUTHS], (1,)),
    Case("PRelu", [X, OF_CHANNELS], [np.where(X < 0, X * SPREAD, X)], BEFORE_7),
    Case(
        "Gemm",
        [X[0, 0], X[0, 0].T, X[0, 0, 0, :4]],
        [X[0, 0] @ X[0, 0].T / 2 + X[0, 0, 0, :4]],
        BEFORE_7,
        {"alpha": 0.5, "broadcast": 1},
    ),
    *(
        Case(op, [X, X * 2, X - 1], [rule(rule(X, X * 2), X - 1)], (1, 6))
        for op, rule in (("Max", np.maximum), ("Sum", np.add))
    ),
]

IN_PLACE = {"consumed_inputs": [0]}
"""What then said which memory a result may take."""

STATISTICS = [np.abs(RANDOM.standard_normal(3)).astype(np.float32) for _ in range(4)]


def normalized(x: Array) -> Array:
    scale, bias, mean, variance = (s[:, None, None] for s in STATISTICS)
    return (x - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias


WRITTEN_OTHERWISE = [
    *(
        Case(op, [X], [rule(X)], (1, 5), IN_PLACE)
        for op, rule in (("Relu", lambda x: np.maximum(x, 0)), ("Abs", np.abs))
    ),
    Case("Clip", [X], [np.clip(X, -0.5, 0.3)], (1, 6), {"min": -0.5, "max": 0.3}),
    Case("Clip", [X], [np.maximum(X, -0.5)], (1, 6), {"min": -0.5, **IN_PLACE}),
    Case("Clip", [X[0, 0]], [X[0, 0]], (1,), {}, [0]),
    Case("Selu", [X], [np.where(X > 0, X, 1.6732 * np.expm1(X)).astype(np.float32) * np.float32(1.0507)], (1, 5)),
    Case(
        "BatchNormalization",
        [X, *STATISTICS],
        [normalized(X)],
        (1, 5),
        {"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]},
        range(1, 5),
    ),
    Case("BatchNormalization", [X, *STATISTICS], [normalized(X)], (6,), {"is_test": 1}, range(1, 5)),
    Case("Dropout", [X], [X], (1, 6), {"is_test": 1, "ratio": 0.3}),
    Case("Cast", [X], [X.astype(np.float64)], (1, 5), {"to": "DOUBLE"}),
    Case("Cast", [X[0, 0]], [X[0, 0].astype(np.int32)], (1, 5), {"to": "INT32"}, [0]),
    Case("Concat", [X, X + 1], [np.concatenate([X, X + 1], 1)], (1, 3)),
    Case("Concat", [X, X + 1], [np.concatenate([X, X + 1], 2)], EVERY, {"axis": 2}),
    Case("Reshape", [X], [X.reshape(2, -1)], (1, 4), {"shape": [0, -1]}),
    Case("Reshape", [X, np.array([6, 20])], [X.reshape(6, 20)], (5, 6), {}, [1]),
    Case("Split", [X], [X[:, :1], X[:, 1:]], EVERY, {"axis": 1, "split": [1, 2]}),
    Case("Split", [X, numbers(1, 2)], [X[:, :1], X[:, 1:]], (1,), {"axis": 1}, [1]),
    Case("Split", [X], [X[:1], X[1:]], (2, 5)),
    Case("Tile", [X, numbers(3), numbers(1)], [np.tile(X, (1, 3, 1, 1))], (1, 5), {}, [1, 2]),
    Case("Tile", [X, np.array([1, 2, 1, 3])], [np.tile(X, (1, 2, 1, 3))], (6,), {}, [1]),
    Case("Pad", [X], [np.pad(X, ((0, 0), (0, 0), (1, 2), (0, 1)))], (2, 6), {"pads": [0, 0, 1, 0, 0, 0, 2, 1]}),
    Case("Upsample", [X], [X.repeat(2, 2).repeat(3, 3)], (1, 6), {"height_scale": 2.0, "width_scale": 3.0}),
    Case(
        "LpPool",
        [X],
        [np.abs(sliding_window_view(X, (2, 2), (2, 3))).sum((-1, -2))],
        (1,),
        {"kernel_shape": [2, 2], "p": 1.0},
    ),
    Case("GlobalLpPool", [X], [np.sqrt((X * X).sum((2, 3), keepdims=True))], (1,), {"p": 2.0}),
    Case("ReduceSum", [X], [X.sum(1)], (1, 5), {"axes": [1], "keepdims": 0}),
    Case("Slice", [X], [X[:, 1:3]], (1, 5), {"axes": [1], "starts": [1], "ends": [3]}),
    Case("TopK", [X], [-np.sort(-X, -1)[..., :2], np.argsort(-X, -1)[..., :2]], (1, 6), {"k": 2}),
]


@pytest.mark.parametrize("case", [*BROADCASTING, *WRITTEN_OTHERWISE], ids=str)
def test_operators(case: Case):
    for opset in case.opsets:
        imported = import_onnx(case.model(opset))
        results = run_function(imported.module, "main", list(case.feeds.values()), imported.parameters)
        for result, wanted in zip(results, case.wanted, strict=True):
            assert result.dtype == wanted.dtype and result.shape == wanted.shape
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


def test_linear_interpolation_was_called_bilinear():
    """From opset 7 on it is linear."""
    made = Case("Upsample", [X], [X], (), {"height_scale": 2.0, "width_scale": 2.0, "mode": "bilinear"}).model(6)
    later = Case("Upsample", [X, numbers(1, 1, 2, 2)], [X], (), {"mode": "linear"}, [1]).model(9)
    results: list[Array] = []
    for model in (made, later):
        imported = import_onnx(model)
        results += run_function(imported.module, "main", [X], imported.parameters)
    assert results[0].shape == (2, 3, 8, 10)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("ir_version", [1, 2, 3])
def test_a_network(ir_version: int, cache: KernelCache):
    """Files older than version 3 do not say of which opset they are: it is the first one."""
    weights = RANDOM.standard_normal((4, 3, 3, 3)).astype(np.float32)
    bias = RANDOM.standard_normal(4).astype(np.float32)
    product = RANDOM.standard_normal((4, 6)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["a", "b"], ["c"], broadcast=1, axis=1),
        helper.make_node("Relu", ["c"], ["d"], consumed_inputs=[0]),
        helper.make_node("GlobalAveragePool", ["d"], ["e"]),
        helper.make_node("Reshape", ["e"], ["f"], shape=[0, -1]),
        helper.make_node("MatMul", ["f", "m"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"]),
    ]
    known = {"w": weights, "b": bias, "m": product}
    inputs = [helper.make_tensor_value_info(n, 1, a.shape) for n, a in {"x": X, **known}.items()]
    constants = [numpy_helper.from_array(array, name) for name, array in known.items()]
    graph = helper.make_graph(nodes, "network", inputs, [helper.make_empty_tensor_value_info("y")], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 1)], ir_version=ir_version)
    if ir_version < 3:
        model.ClearField("opset_import")
    convolution = helper.make_graph(nodes[:1], "convolution", inputs[:2], [helper.make_empty_tensor_value_info("a")])
    [a] = ReferenceEvaluator(convolution, opsets={"": 11}).run(None, {"x": X, "w": weights})
    g = np.maximum(a + bias[:, None, None], 0).mean((2, 3)) @ product
    y = np.exp(g - g.max(1, keepdims=True))
    check(model, {"x": X}, cache, [y / y.sum(1, keepdims=True)])


def test_refusals():
    """What the standard left open, or says in two ways."""
    said = refusal(Case("Pad", [X], [X], (), {"paddings": [0, 0, 1, 0, 0, 0, 2, 1]}).model(1))
    assert "in which order opset 1 has the paddings of several axes, the standard says in two ways" in said
    said = refusal(Case("Split", [X], [X, X], ()).model(1))
    assert "it does not say along which axis, for which opset 1 has no default" in said
    said = refusal(Case("LpPool", [X], [X], ()).model(1))
    assert "it does not say how large its windows are (kernel_shape)" in said
    assert "'NUMBER' is no element type" in refusal(Case("Cast", [X], [X], (), {"to": "NUMBER"}).model(1))
    said = refusal(Case("Add", [X, X[0]], [X], (), {"broadcast": 1, "axis": 2}).model(1))
    assert "the right operand does not fit at axis 2" in said
    said = refusal(Case("Add", [X, OF_CHANNELS], [X], ()).model(1))
    assert "operands differ in shape and the node does not ask to broadcast them" in said
