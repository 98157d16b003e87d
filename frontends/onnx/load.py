"""Read a ModelProto from a path, bytes or a ModelProto, and arrays from its TensorProtos. Weights are not copied."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import numpy_helper

from tilework.dialects.support.diagnostics import TileworkError, UsageError

Array = NDArray[Any]

PACKED_BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
"""The bits of element types that are packed into bytes, by numpy's name."""


FIRST_TO_SAY_OPSET = 3
"""The version of the file format since which models say of which opset they are."""

OPSET_OF_OLD_FILES = 1
"""The opset that models in older versions of the format are of."""


@dataclass(frozen=True)
class Source:
    """A model with what messages call it and where its external data lie: None for a model that was not a file."""

    model: onnx.ModelProto
    title: str
    folder: Path | None


def load_model(source: str | os.PathLike[str] | bytes | onnx.ModelProto) -> Source:
    """Read a model. Raises TileworkError for what is not one, or not a whole one."""
    if isinstance(source, onnx.ModelProto):
        return _checked(Source(source, "the model", None))
    if isinstance(source, bytes):
        return _checked(Source(_parse(source, "the model"), "the model", None))
    if not isinstance(source, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        kind = type(source).__name__
        raise UsageError(f"a model is a path, bytes or an onnx.ModelProto, or a graph module; this is of type {kind}")
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror}") from error
    return _checked(Source(_parse(data, str(path)), str(path), path.parent))


def _parse(data: bytes, title: str) -> onnx.ModelProto:
    try:
        return onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise TileworkError(f"{title} is not an ONNX model, or was cut short ({len(data)} bytes)") from error


def _checked(source: Source) -> Source:
    model, title = source.model, source.title
    if not model.HasField("graph") or not model.ir_version:
        raise TileworkError(f"{title} is not an ONNX model, or was cut short: it holds no graph")
    says_opset = any(entry.domain == "" or entry.domain.startswith("ai.onnx") for entry in model.opset_import)
    if not says_opset and model.ir_version >= FIRST_TO_SAY_OPSET:
        raise TileworkError(f"{title} does not say which ONNX opset it imports, or was cut short")
    return source


def to_array(tensor: onnx.TensorProto, folder: Path | None) -> Array:
    """The elements of a tensor, from the model or from its side file. Raises TileworkError."""
    if tensor.data_type not in onnx.TensorProto.DataType.values() or not tensor.data_type:
        raise TileworkError(f"the elements of '{tensor.name}' are of the unknown type {tensor.data_type}")
    if min(tensor.dims, default=0) < 0:
        raise TileworkError(f"the shape of '{tensor.name}' is {list(tensor.dims)}; sizes are not negative")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return _external_array(tensor, folder)
    try:
        array = numpy_helper.to_array(tensor)
        return array.astype(np.str_) if tensor.data_type == onnx.TensorProto.STRING else array
    except (ValueError, TypeError, KeyError) as error:
        raise TileworkError(
            f"the elements of '{tensor.name}' do not fit its shape {list(tensor.dims)}: {error}"
        ) from error


def _external_array(tensor: onnx.TensorProto, folder: Path | None) -> Array:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise TileworkError(f"the elements of '{tensor.name}' lie in '{location}': load the model by its path")
    if tensor.data_type == onnx.TensorProto.STRING:
        raise TileworkError(f"the elements of '{tensor.name}' are strings, which a side file cannot hold")
    path = _inside(folder, location, tensor.name)
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
    packed = PACKED_BITS.get(dtype.name)
    size = prod(tensor.dims) * dtype.itemsize if packed is None else -(-prod(tensor.dims) * packed // 8)
    offset, length = (_number(entries, key, default, tensor.name) for key, default in (("offset", 0), ("length", size)))
    if not path.is_file():
        raise TileworkError(f"the elements of '{tensor.name}' are missing: there is no file {path}")
    if length != size or offset < 0 or offset + size > path.stat().st_size:
        raise TileworkError(f"{path} does not hold the {size} bytes of '{tensor.name}' at offset {offset}")
    if size == 0:
        return np.zeros(tuple(tensor.dims), dtype)
    if packed is not None:
        raw = np.memmap(path, np.uint8, "r", offset, (size,)).tobytes()
        return numpy_helper.to_array(onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=raw))
    return np.memmap(path, dtype, "r", offset, tuple(tensor.dims))


def _number(entries: Mapping[str, str], key: str, default: int, name: str) -> int:
    try:
        return int(entries.get(key, default))
    except ValueError as error:
        raise TileworkError(f"the {key} of the elements of '{name}' is '{entries[key]}', not a number") from error


def _inside(folder: Path, location: str, name: str) -> Path:
    """The side file's path. A model may read what lies in its own folder only, links followed."""
    try:
        path = Path(os.path.realpath(folder / location))
        path.exists()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise TileworkError(f"the elements of '{name}' lie in {location!r}, which is no file name: {reason}") from error
    if not location or not path.is_relative_to(os.path.realpath(folder)):
        raise TileworkError(f"the elements of '{name}' lie in '{location}', outside the model's folder {folder}")
    return path
