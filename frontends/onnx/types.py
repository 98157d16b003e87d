"""Element types and dimensions: from ONNX to tensor types, with symbols for what is not a number."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.support.diagnostics import TileworkError
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.frontends.onnx.given import DependsOnInputs

ELEMENT_TYPES: dict[int, Attribute] = {
    TensorProto.FLOAT: f32,
    TensorProto.FLOAT16: f16,
    TensorProto.BFLOAT16: bf16,
    TensorProto.DOUBLE: f64,
    TensorProto.BOOL: i1,
    TensorProto.INT8: IntegerType(8),
    TensorProto.INT16: IntegerType(16),
    TensorProto.INT32: IntegerType(32),
    TensorProto.INT64: IntegerType(64),
    TensorProto.UINT8: IntegerType(8, Signedness.UNSIGNED),
    TensorProto.UINT16: IntegerType(16, Signedness.UNSIGNED),
    TensorProto.UINT32: IntegerType(32, Signedness.UNSIGNED),
    TensorProto.UINT64: IntegerType(64, Signedness.UNSIGNED),
    TensorProto.INT4: IntegerType(4),
    TensorProto.INT2: IntegerType(2),
    TensorProto.UINT4: IntegerType(4, Signedness.UNSIGNED),
    TensorProto.UINT2: IntegerType(2, Signedness.UNSIGNED),
    TensorProto.FLOAT8E4M3FN: Float8E4M3FNType(),
    TensorProto.FLOAT8E4M3FNUZ: Float8E4M3FNUZType(),
    TensorProto.FLOAT8E5M2: Float8E5M2Type(),
    TensorProto.FLOAT8E5M2FNUZ: Float8E5M2FNUZType(),
    TensorProto.FLOAT8E8M0: Float8E8M0FNUType(),
    TensorProto.FLOAT4E2M1: Float4E2M1FNType(),
}
"""The types below a byte are stored, moved and converted only."""

ADDRESSABLE = 1 << 47
"""Bytes that a process can have on today's machines."""

UNKNOWN = -1
"""The size that some exporters write for one that they do not know."""

RESERVED = {"floordiv", "ceildiv", "mod", "min", "max", "ge", "eq", "reduce"}
"""Words of the syntax of index expressions."""


def element_type(onnx_type: int, what: str) -> Attribute:
    """The element type for an ONNX data type; `what` has it, says the error."""
    if onnx_type not in ELEMENT_TYPES:
        raise TileworkError(
            f"{what} holds elements of type {type_name(onnx_type)}, which Tilework does not compute with"
        )
    return ELEMENT_TYPES[onnx_type]


def type_name(onnx_type: int) -> str:
    """What ONNX calls a data type; the number itself where it is none."""
    return TensorProto.DataType.Name(onnx_type) if onnx_type in TensorProto.DataType.values() else str(onnx_type)


def type_text(type_: onnx.TypeProto) -> str:
    """What ONNX calls a type, as in `seq(tensor(float))`."""
    match type_.WhichOneof("value"):
        case "sequence_type":
            return f"seq({type_text(type_.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({type_text(type_.optional_type.elem_type)})"
        case _:
            return tensor_text(type_.tensor_type.elem_type)


def tensor_text(onnx_type: int) -> str:
    """What ONNX calls the type of tensors of a data type, as in `tensor(float)`."""
    return f"tensor({type_name(onnx_type).lower()})"


def numpy_element_type(array: NDArray[Any], what: str) -> Attribute:
    """The element type of an array; `what` it is, says the error."""
    return element_type(numpy_type(array.dtype), what)


def numpy_name(onnx_type: int) -> str:
    """What numpy calls an ONNX data type."""
    return onnx.helper.tensor_dtype_to_np_dtype(onnx_type).name


def numpy_type(dtype: np.dtype[Any]) -> int:
    """The ONNX data type of numpy's."""
    return onnx.helper.np_dtype_to_tensor_dtype(dtype)


def require_addressable(type_: TensorType[Attribute], what: str) -> None:
    """Refuse a tensor that no address space holds, before sizes are computed with; `what` it is, says the error."""
    size = prod(d.constant or 1 for d in dims_of(type_)) * numpy_dtype(type_.element_type).itemsize
    if size > ADDRESSABLE:
        raise TileworkError(f"{what} would be of {size} bytes; no address space holds that")


class Symbols:
    """Identifiers for a model's symbolic dimensions: one for each of its names, a new one for each nameless one."""

    def __init__(self) -> None:
        self._of_name: dict[str, str] = {}

    def named(self, name: str) -> Expr:
        """The symbol of a `dim_param`; letters that no identifier has become underscores."""
        if name not in self._of_name:
            self._of_name[name] = self._unused(name)
        return var(self._of_name[name])

    def nameless(self, hint: str) -> Expr:
        """A symbol of its own."""
        return self.named(f"?{hint}") if f"?{hint}" not in self._of_name else self.nameless(hint + "_")

    def _unused(self, name: str) -> str:
        base = re.sub(r"\W", "_", name.lstrip("?"), flags=re.ASCII)
        base = base if re.match(r"[A-Za-z_]", base) else f"_{base}"
        base = base + "_" if base in RESERVED else base
        symbol, n = base, 1
        while symbol in self._of_name.values():
            symbol, n = f"{base}_{n}", n + 1
        return symbol


def value_type(value: onnx.ValueInfoProto, symbols: Symbols) -> TensorType[Attribute]:
    """The type of a graph input. Raises TileworkError for anything but a tensor of known rank."""
    what = f"input '{value.name}'"
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        text = f"{what} is a {(kind or 'value without a type').removesuffix('_type')}, not a tensor"
        raise DependsOnInputs(text, frozenset([value.name])) if is_structured(value.type) else TileworkError(text)
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        raise TileworkError(f"{what} has no shape; not even its rank is known")
    sizes = zip(tensor.shape.dim, declared_sizes(tensor.shape, what), strict=True)
    dims = [_dim(d, size, symbols, f"{value.name}_{axis}") for axis, (d, size) in enumerate(sizes)]
    type_ = tensor_type(dims, element_type(tensor.elem_type, what))
    require_addressable(type_, what)
    return type_


def is_structured(type_: onnx.TypeProto) -> bool:
    """Whether a type is one of sequences or optionals, of tensors in the end."""
    return type_.WhichOneof("value") in ("sequence_type", "optional_type")


def declared_sizes(shape: onnx.TensorShapeProto, what: str) -> list[int | None]:
    """The sizes that a shape is declared with, None where that is left open; `what` has it, says the error."""
    sizes = [d.dim_value if d.HasField("dim_value") and d.dim_value != UNKNOWN else None for d in shape.dim]
    if negative := [size for size in sizes if size is not None and size < 0]:
        raise TileworkError(f"{what} is declared with a size of {negative[0]}; sizes are not negative")
    return sizes


def _dim(dim: onnx.TensorShapeProto.Dimension, size: int | None, symbols: Symbols, hint: str) -> Expr:
    if size is not None:
        return const(size)
    return symbols.named(dim.dim_param) if dim.dim_param else symbols.nameless(hint)
