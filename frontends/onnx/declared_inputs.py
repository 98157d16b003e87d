"""What an ONNX model declares that it takes, without importing it."""

from __future__ import annotations

from typing import Any

from tilework.dialects.support.shapes import dims_of
from tilework.frontends.onnx.load import load_model
from tilework.frontends.onnx.types import Symbols, is_structured, numpy_name, type_text, value_type
from tilework.runtime.tensor_spec import TensorSpec


def declared_inputs(source: Any) -> tuple[list[TensorSpec], frozenset[str]]:
    """The inputs that have to be given, and the names of those that are sequences or optionals.

    In place of a numpy dtype, the latter have what ONNX calls their type, and no shape. source: as `load_model` takes.
    """
    graph, symbols = load_model(source).model.graph, Symbols()
    initializers = {tensor.name for tensor in graph.initializer}
    given = [value for value in graph.input if value.name not in initializers]
    structured = frozenset(value.name for value in given if is_structured(value.type))
    specs: list[TensorSpec] = []
    for value in given:
        if value.name in structured:
            specs.append(TensorSpec(value.name, type_text(value.type), ()))
        else:
            dims = dims_of(value_type(value, symbols))
            shape = tuple(str(d) if d.constant is None else d.constant for d in dims)
            specs.append(TensorSpec(value.name, numpy_name(value.type.tensor_type.elem_type), shape))
    return specs, structured
