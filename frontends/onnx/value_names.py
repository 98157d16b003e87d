"""What ONNX and messages call values and their types."""

from __future__ import annotations

from typing import TypeGuard

from tilework.dialects.support.shapes import dims_of
from tilework.dialects.support.shapes import element_type as element_type_of
from tilework.frontends.onnx.types import ELEMENT_TYPES, numpy_type, tensor_text, type_name
from tilework.frontends.onnx.values import AnyValue, Known, OptionalValue, Value, ValueSequence

SHOWN = 4
"""How many elements of a sequence a message shows."""


def onnx_name(value: AnyValue) -> str:
    """What ONNX calls the type of a value, as in `tensor(float)`."""
    match value:
        case ValueSequence():
            return f"seq({tensor_text(value.element)})"
        case OptionalValue():
            return f"optional({value.holds})"
        case _:
            return tensor_text(element_number(value))


def kind_name(value: AnyValue) -> str:
    """What messages call a value of this kind."""
    match value:
        case ValueSequence():
            return "a sequence"
        case OptionalValue():
            return "an optional"
        case _:
            return "a tensor"


def element_number(value: Value) -> int:
    """ONNX's number of the element type of a value."""
    if isinstance(value, Known):
        return numpy_type(value.dtype)
    return next(number for number, type_ in ELEMENT_TYPES.items() if type_ == element_type_of(value.type))


def is_integer(value: AnyValue) -> TypeGuard[Known]:
    """Whether a value is of integers known while importing, symbolic dimensions among them."""
    return isinstance(value, Known) and value.dtype.kind in "iu"


def type_text(value: AnyValue) -> str:
    """What messages call the type of a value, as in `2x3xf32`."""
    if isinstance(value, ValueSequence):
        shown = [type_text(v) for v in value.values[:SHOWN]]
        return f"seq({', '.join(shown if len(value.values) <= SHOWN else [*shown, '...'])})"
    if isinstance(value, OptionalValue):
        return f"optional({'' if value.value is None else type_text(value.value)})"
    if isinstance(value, Known):
        number = numpy_type(value.dtype)
        element = (
            "index" if is_integer(value) and value.is_symbolic else str(ELEMENT_TYPES.get(number, type_name(number)))
        )
        return "x".join([*map(str, value.array.shape), element])
    return "x".join([*map(str, dims_of(value.type)), str(element_type_of(value.type))])
