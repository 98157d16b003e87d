"""Half-precision models: sums, products and squares are taken in f32, the result rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tilework as tw
from tilework.backends.cache import KernelCache
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function

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
