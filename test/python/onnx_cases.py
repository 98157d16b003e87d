"""A node with its inputs, as a model, and what others say that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import Array

onnxruntime.set_default_logger_severity(4)


@dataclass
class Case:
    """One node. Inputs are shapes (random numbers) or arrays; `constants` of them are initializers, by position."""

    op: str
    inputs: Sequence[Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: Sequence[int] = ()
    opset: int = 13
    outputs: int = 1
    runtime_lacks_it: bool = False
    """onnxruntime refuses the case; onnx's own (slow) reference does not."""

    def __str__(self) -> str:
        shapes = "_".join(
            "x".join(map(str, np.shape(x) if isinstance(x, np.ndarray) else x or ())) for x in self.inputs
        )
        shown = "_".join(f"{name}={value}" for name, value in self.attributes.items())
        return f"{self.op}{self.opset}-{shapes}-{shown}"


def int64(*values: int) -> Array:
    return np.array(values, np.int64)


def build(case: Case) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of the one node, and feeds for its inputs."""
    rng = np.random.default_rng(0)
    names: list[str] = []
    arrays: dict[str, Array] = {}
    for i, given in enumerate(case.inputs):
        names.append("" if given is None else f"x{i}")
        if given is not None:
            arrays[f"x{i}"] = given if isinstance(given, np.ndarray) else rng.standard_normal(given).astype(np.float32)
    constants = {f"x{i}" for i in case.constants}
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, **case.attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in arrays.items()
        if name not in constants
    ]
    initializers = [numpy_helper.from_array(arrays[name], name) for name in sorted(constants)]
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], case.op, inputs, infos, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)
    return model, {name: array for name, array in arrays.items() if name not in constants}


def reference(case: Case, model: onnx.ModelProto, feeds: dict[str, Array]) -> list[Array]:
    """What others say that the node makes."""
    if case.runtime_lacks_it:
        return ReferenceEvaluator(model).run(None, feeds)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
