"""Long sums are as exact as numpy's, and products that sum many terms as the BLAS's; tall products of every form."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import tilework as tw
from tilework.tools.bench import sums

LENGTHS = (10, 100, 1000, 20_000, 300_007)
SEEDS = 20
TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.float16: TensorProto.FLOAT16}


def model(nodes: Sequence[Any], inputs: Mapping[str, Sequence[int | str]], dtype: type = np.float32) -> ModelProto:
    values = [helper.make_tensor_value_info(name, TYPES[dtype], shape) for name, shape in inputs.items()]
    graph = helper.make_graph(nodes, "sums", values, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def root_mean_square(errors: Sequence[Any]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.parametrize("kind", ["sum", "mean", "norm", "rows", "columns", "pool", "product", "vector", "xty"])
@pytest.mark.parametrize("length", LENGTHS)
def test_errors_are_at_most_three_times_those_of_numpy(kind: str, length: int):
    what = sums.KINDS[kind]
    run = tw.compile(sums.model(what, length, np.dtype(np.float32))).run
    errors: tuple[list[Any], list[Any]] = ([], [])
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        feeds = {name: rng.random(shape, np.float32) for name, shape in what.shapes(length).items()}
        exact = what.numpy({name: value.astype(np.float64) for name, value in feeds.items()})
        for found, value in zip(errors, (run(feeds)["y"], what.numpy(feeds)), strict=True):
            found.append(np.mean(((value - exact) / exact) ** 2) ** 0.5)
    # Half a unit of the last place, which rounding the exact result takes, is no error: numpy's may be less by chance.
    assert root_mean_square(errors[0]) <= 3 * max(root_mean_square(errors[1]), 2.0**-25)


@pytest.mark.parametrize("shape", [("n", 5), (3, "n")])
def test_sums_of_a_length_that_is_not_known(shape: tuple[int | str, ...]):
    axis = shape.index("n")
    module = tw.compile(model([helper.make_node("ReduceMean", ["x"], ["y"], axes=[axis], keepdims=0)], {"x": shape}))
    for n in (1, 63, 64, 65, 513, 70_001, 600_000):
        x = np.random.default_rng(n).random([n if isinstance(s, str) else s for s in shape], np.float32)
        np.testing.assert_allclose(module.run({"x": x})["y"], x.mean(axis, dtype=np.float64), rtol=4e-7)


def test_what_is_not_finite_stays_so_in_blocks():
    x = np.ones((4, 200_000), np.float32)
    x[0, 150_000], x[1, 3], x[2, 70_000], x[2, 70_001] = np.inf, np.nan, np.inf, -np.inf
    module = tw.compile(model([helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], {"x": [200_000]}))
    for row, expected in zip(x, (np.inf, np.nan, np.nan, 200_000), strict=True):
        np.testing.assert_equal(module.run({"x": row})["y"], np.float32(expected))


def transposed_product(left: str, right: str, result: str = "y") -> list[Any]:
    return [helper.make_node("Transpose", [left], ["t"]), helper.make_node("MatMul", ["t", right], [result])]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=haswell", "llvm -mcpu=haswell -num-cores=3"])
@pytest.mark.parametrize(("rows", "columns"), [(20_011, 7), (4_999, 33), (2_500, 100), (65_536, 64), (16_000, 261)])
def test_a_table_times_itself(rows: int, columns: int, target: str, dtype: type):
    """Results are symmetric to the last bit, whether or not half of them are computed."""
    module = tw.compile(model(transposed_product("x", "x"), {"x": [rows, columns]}, dtype), target=target)
    x = (np.random.default_rng(rows).standard_normal((rows, columns)) / rows**0.5).astype(dtype)
    y = module.run({"x": x})["y"]
    np.testing.assert_array_equal(y, y.T)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, wide.T @ wide, atol={np.float16: 1e-3, np.float32: 1e-6, np.float64: 1e-14}[dtype])


def test_a_table_with_any_number_of_rows():
    module = tw.compile(model(transposed_product("x", "z"), {"x": ["n", 40], "z": ["n", 3]}))
    for n in (0, 1, 511, 513, 20_001):
        rng = np.random.default_rng(n)
        x, z = rng.standard_normal((n, 40), np.float32), rng.standard_normal((n, 3), np.float32)
        found = module.run({"x": x, "z": z})["y"]
        np.testing.assert_allclose(found, x.T.astype(np.float64) @ z, atol=1e-6 * max(n, 1))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([("Relu", ["p"], {})], lambda p: np.maximum(p, 0)),
        ([("Div", ["p", "count"], {})], lambda p: p / 9000),
        ([("Div", ["p", "count"], {}), ("Softmax", ["q0"], {"axis": 1})], None),
    ],
)
def test_what_follows_a_tall_product(after: list[Any], expected: Callable[[Any], Any] | None):
    nodes, last = transposed_product("x", "x", "p"), "p"
    for i, (op, inputs, attributes) in enumerate(after):
        last = "y" if i == len(after) - 1 else f"q{i}"
        nodes.append(helper.make_node(op, inputs, [last], **attributes))
    m = model(nodes, {"x": [9000, 48]})
    m.graph.initializer.append(helper.make_tensor("count", TensorProto.FLOAT, [], [9000.0]))
    x = np.random.default_rng(0).standard_normal((9000, 48), np.float32)
    p = x.T.astype(np.float64) @ x
    if expected is None:
        shifted = np.exp(p / 9000 - (p / 9000).max(1, keepdims=True))
        wanted = shifted / shifted.sum(1, keepdims=True)
    else:
        wanted = expected(p)
    np.testing.assert_allclose(
        tw.compile(m).run({"x": x})["y"], wanted, rtol=2e-5, atol=1e-3 if len(after) == 1 else 1e-6
    )
