"""Operators of ONNX in generated code, at extents with tails, 1 and 0: what onnxruntime computes, a module computes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_cases import Case, build, int64, reference
from operands import dividends, divisors, halves, no_number

import tilework as tw
from tilework.runtime.cache import KernelCache

TRAINING = {"training_mode": 1, "momentum": 0.7}
UNIT = np.linspace(-0.95, 0.95, 37, dtype=np.float32)

ARITHMETIC = [
    *(Case(op, [UNIT]) for op in ("Acos", "Asin", "Atan", "Atanh", "Asinh", "Cosh", "Sinh", "Tan", "Round", "Sign")),
    Case("Acosh", [UNIT + 2]),
    *(Case(op, [np.array([-(2**31), -3, 0, 7], np.int32)]) for op in ("Abs", "Neg", "Sign")),
    *(Case(op, [dividends, divisors], opset=14) for op in ("Div", "Mod")),
    *(Case(op, [dividends.astype(np.uint8), divisors.astype(np.uint8)], opset=14) for op in ("Div", "Mod")),
    Case("Mod", [halves, np.array([[2], [-2], [0.7], [np.inf], [0]], np.float32)], {"fmod": 1}),
    Case("BitShift", [np.array([1, 200], np.uint8), np.array([3, 1], np.uint8)], {"direction": "LEFT"}),
    Case("IsInf", [no_number], {"detect_negative": 0}, opset=10),
    Case("Cast", [np.array([0, 200], np.uint8)], {"to": onnx.TensorProto.FLOAT}),
    *(Case("ReduceLogSumExp", [shape, int64(1)], {}, (1,), opset=18) for shape in ((5, 37), (3, 1), (2, 0))),
    *(Case(op, [(5, 37, 3)], {"axis": axis, "keepdims": axis}) for op in ("ArgMax", "ArgMin") for axis in (0, 1)),
    *(Case(op, [np.full((2, 19), -np.inf, np.float32)], {"axis": 1}) for op in ("ArgMax", "ArgMin")),
    Case("ArgMin", [np.arange(74).reshape(2, 37) % 5], {"axis": 1, "select_last_index": 1}),
    Case("ArgMax", [no_number], {"axis": 1}, runtime_lacks_it=True),
    Case("ReduceMax", [np.arange(-40, -3), int64(0)], {}, (1,), opset=18),
]

NORMALIZATION = [
    # an axis of one element between those that are summed along, in one piece of memory
    *(Case("GroupNormalization", [(2, 2, 1, n), (2,), (2,)], {"num_groups": 1}, (1, 2), opset=21) for n in (3, 40)),
    Case("MeanVarianceNormalization", [(2, 3, 1, 17)], {"axes": [1, 2, 3]}),
    Case("MeanVarianceNormalization", [(1, 1, 1, 19)], {"axes": [0, 1, 2, 3]}),
    *(
        Case("BatchNormalization", [x, (3,), (3,), (3,), np.ones(3, np.float32)], TRAINING, (1, 2), 15, outputs=3)
        for x in ((2, 3, 17, 5), (5, 3), (1, 3, 1))
    ),
    *(Case("LayerNormalization", [(5, n), (n,)], {}, (1,), 17, outputs=3) for n in (1, 37)),
]

MOVEMENT = [
    *(Case("Pad", [(2, 17), int64(0, a, 1, b)], {"mode": "wrap"}, (1,), 19) for a, b in ((3, 18), (-4, 40), (0, 1))),
    *(Case(f"Reduce{kind}", [np.arange(57).reshape(19, 3) > 1, int64(0)], {}, (1,), 20) for kind in ("Max", "Min")),
]

CASES = [*ARITHMETIC, *NORMALIZATION, *MOVEMENT]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_operator(case: Case, cache: KernelCache):
    model, feeds = build(case)
    results = tw.compile(model, cache=cache).run(feeds)
    for result, expected in zip(results.values(), reference(case, model, feeds), strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_halves_in_training_mode(cache: KernelCache):
    """Their mean and variance are those of their numbers in single precision, of which 70000 is one."""
    x = (np.arange(140000).reshape(1, 2, 70000) % 7 * 100).astype(np.float16)
    ones = np.ones(2, np.float16)
    model, feeds = build(
        Case("BatchNormalization", [x, *[ones] * 4], {"training_mode": 1}, (1, 2, 3, 4), 15, outputs=3)
    )
    y, mean, variance = tw.compile(model, cache=cache).run(feeds).values()
    wide = x.astype(np.float32)
    deviation = np.sqrt(wide.var(2, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, (wide - wide.mean(2, keepdims=True)) / deviation + 1, atol=2e-3)
    np.testing.assert_allclose(mean, 0.9 + 0.1 * wide.mean((0, 2)), rtol=1e-3)
    np.testing.assert_allclose(variance, 0.9 + 0.1 * wide.var((0, 2)), rtol=1e-3)


def test_weights_that_are_normalized_are_so_when_compiling(cache: KernelCache):
    """Exporters write so convolutions whose weights are standardized."""
    model, _ = build(
        Case("BatchNormalization", [(1, 3, 40), (3,), (3,), (3,), (3,)], TRAINING, range(5), 15, outputs=3)
    )
    expected = reference(Case("BatchNormalization", []), model, {})[0]
    del model.graph.output[1:]
    module = tw.compile(model, cache=cache)
    assert not module.report.kernels
    np.testing.assert_allclose(module.run({})["y0"], expected, rtol=1e-5, atol=1e-5)


def test_integers_divided_by_what_processors_do_not_divide_by(cache: KernelCache):
    """A quotient by 0 is 0; the least integer by -1 wraps around."""
    least = np.iinfo(np.int64).min
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [3]) for name in "ab"]
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("quotient", "rest")]
    nodes = [helper.make_node("Div", ["a", "b"], ["quotient"]), helper.make_node("Mod", ["a", "b"], ["rest"])]
    graph = helper.make_graph(nodes, "divisions", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    found = tw.compile(model, cache=cache).run({"a": int64(7, least, least), "b": int64(0, -1, 0)})
    np.testing.assert_array_equal(found["quotient"], [0, least, 0])
    np.testing.assert_array_equal(found["rest"], [0, 0, 0])
