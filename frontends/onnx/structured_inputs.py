"""Inputs that are sequences or optionals, put together of tensors that are the inputs in their place."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from xdsl.ir import SSAValue

from tilework.algebra.errors import UsageError
from tilework.frontends.onnx.types import numpy_type, type_text
from tilework.frontends.onnx.values import AnyValue, OptionalValue, Value, ValueSequence
from tilework.runtime.arrays import dtype_named
from tilework.runtime.given_inputs import Form, TensorForm

Argument = Callable[[onnx.ValueInfoProto], SSAValue]
"""Makes an input of a tensor that is declared so."""


def structured(name: str, type_: onnx.TypeProto, form: Form, argument: Argument) -> AnyValue:
    """The input of that name and type, of that form. Raises UsageError for a form that the type does not have."""
    match type_.WhichOneof("value"), form:
        case "optional_type", None:
            return OptionalValue(None, type_text(type_.optional_type.elem_type))
        case "optional_type", _:
            element = structured(name, type_.optional_type.elem_type, form, argument)
            assert not isinstance(element, OptionalValue)  # the standard has no optionals of optionals
            return OptionalValue(element, type_text(type_.optional_type.elem_type))
        case "sequence_type", tuple():
            element = type_.sequence_type.elem_type
            values = [_tensor(f"{name}_{i}", element, part, argument) for i, part in enumerate(form)]
            return ValueSequence(tuple(values), element.tensor_type.elem_type)
        case _:
            return _tensor(name, type_, form, argument)


def _tensor(name: str, type_: onnx.TypeProto, form: Form, argument: Argument) -> Value:
    """A tensor of that form as an input: with the sizes that are declared, each open one else a symbol of its own."""
    declared = type_.tensor_type
    if not isinstance(form, TensorForm) or type_.WhichOneof("value") != "tensor_type":
        raise UsageError(f"input '{name}' is to be a {type_text(type_)}; what is given is of another form")
    if declared.elem_type != numpy_type(dtype_named(form.dtype)):
        raise UsageError(f"input '{name}' is to be a {type_text(type_)}; what is given is of {form.dtype}")
    open_shape = [None] * form.rank
    shape = [*declared.shape.dim] if declared.HasField("shape") else None
    if shape is not None and len(shape) != form.rank:
        raise UsageError(f"input '{name}' is to have {len(shape)} axes; what is given has {form.rank}")
    info = onnx.helper.make_tensor_value_info(name, declared.elem_type, open_shape)
    if shape is not None:
        info.type.tensor_type.shape.CopyFrom(declared.shape)
        for dim in info.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")  # which may be another size for each element of a sequence
    return argument(info)
