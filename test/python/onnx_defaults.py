"""Models of ONNX whose inputs have defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx_models import Array, node, numbers

DEFAULTS: dict[str, Array] = {
    "w": numbers(8, 3, 3, 3),
    "b": numbers(8, seed=1),
    "d": numbers(8, 10, seed=2),
    "s": np.array(2, np.float32),
}
NETWORK = [
    node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
    node("Relu", "c", "r"),
    node("GlobalAveragePool", "r", "p"),
    node("Flatten", "p", "f"),
    node("MatMul", "f d", "m"),
    node("Mul", "m s", "y"),
]


def with_defaults(
    nodes: Sequence[onnx.NodeProto], dims: Sequence[int | str], defaults: Mapping[str, Array], ir_version: int = 9
) -> onnx.ModelProto:
    """A model of `x` and inputs with a default."""
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, dims)]
    for name, array in defaults.items():
        inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    initializers = [numpy_helper.from_array(array, name) for name, array in defaults.items()]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info("y")], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=ir_version)
