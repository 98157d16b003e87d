"""What may stand for a model on the command line: an ONNX file, an artefact, or a network by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from tilework.algebra.errors import TileworkError, UsageError
from tilework.api import compile as compile_model
from tilework.dialects.graph.base import is_float
from tilework.frontends.onnx import ImportedModel, import_onnx
from tilework.runtime.arrays import dtype_named
from tilework.runtime.module import Module
from tilework.runtime.shapes import SymbolicShape
from tilework.runtime.tensor_spec import TensorSpec
from tilework.tools.bench.networks.catalogue import NETWORK, network_model
from tilework.tools.light_models import load_light_model
from tilework.tools.progress import shown_progress

Array: TypeAlias = NDArray[Any]

LIGHT = "light:"
_ZIP = b"PK\x03\x04"


def import_model(source: str) -> ImportedModel:
    """The graph of an ONNX file, or of "light:NAME" or "net:NAME" with random weights."""
    if is_named(source):
        return import_onnx(named_model(source))
    check_uncompiled(source)
    return import_onnx(source)


def is_named(source: str) -> bool:
    """Is it a network by name, no file?"""
    return source.startswith((LIGHT, NETWORK))


def named_model(source: str) -> ModelProto:
    """The network of "light:NAME" or "net:NAME". Raises UsageError where there is none."""
    return network_model(source) if source.startswith(NETWORK) else load_light_model(source.removeprefix(LIGHT))


def check_uncompiled(source: str) -> None:
    """Raise a UsageError for an artefact."""
    if is_artefact(source):
        raise UsageError(f"{source} is compiled already: give the ONNX model")


def open_model(source: str, target: str | None = None) -> Module:
    """A module that can be run: loaded where `source` is an artefact, else compiled, by default for this machine."""
    if is_artefact(source):
        if target is not None:
            raise UsageError(f"{source} is compiled already: --target is for ONNX models")
        return Module.load(source)
    imported = import_model(source)
    with shown_progress(title_of(source)) as progress:
        return compile_model(imported.module, target or "llvm", imported.parameters, progress=progress)


def title_of(source: str) -> str:
    """A short name: the file's without its folder and ending, or the network's."""
    return source.partition(":")[2] if is_named(source) else Path(source).stem


def is_artefact(source: str) -> bool:
    """Does the file begin as what `Module.save` writes?"""
    try:
        with open(source, "rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except OSError:
        return False


# ---- Inputs ----------------------------------------------------------------------------------------------------------


def read_array(path: str) -> Array:
    """The array in a .npy file. Raises TileworkError where there is none."""
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise TileworkError(f"{path} is not a .npy file: {error}") from None
    if isinstance(array, np.lib.npyio.NpzFile):
        raise TileworkError(f"{path} is not a .npy file: it holds several arrays")
    return array


def as_declared(array: Array, spec: TensorSpec) -> Array:
    """What was in a file for an input: of bfloat16, which numpy lacks, that has the bytes and not the type."""
    dtype = dtype_named(spec.dtype)
    is_bytes = array.dtype == np.dtype((np.void, dtype.itemsize)) and dtype.kind == "V"
    return array.view(dtype) if is_bytes else array


def symbol_sizes(module: Module, dims: Mapping[str, int], given: Mapping[str, Array] | None = None) -> dict[str, int]:
    """A size for every symbol of the module: from the arrays given, else from `dims`, else 1.

    Raises UsageError for a name in `dims` that is no symbol, or a size that is not that of the arrays.
    """
    known = module.manifest.symbols
    for name in dims:
        if name not in known:
            there = f"the model's are {', '.join(known)}" if known else "the model has none"
            raise UsageError(f"--dim {name}: there is no symbolic dimension '{name}'; {there}")
    sizes = {symbol: dims.get(symbol, 1) for symbol in known}
    for spec in module.manifest.inputs:
        shape = (given or {})[spec.name].shape if spec.name in (given or {}) else ()
        for dim, extent in zip(spec.shape, shape, strict=False):
            if not isinstance(dim, str) or dim not in sizes:
                continue
            if dims.get(dim, extent) != extent:
                raise UsageError(f"--dim {dim}={dims[dim]}: {dim} is {extent} in the array for input '{spec.name}'")
            sizes[dim] = extent
    return sizes


def random_array(spec: TensorSpec, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    """Standard normal floating-point numbers; zeros and ones of other types, which are valid as indices too."""
    shape = SymbolicShape(spec.shape).evaluate(sizes)
    dtype = dtype_named(spec.dtype)
    try:
        numbers = rng.standard_normal(shape) if is_float(dtype) else rng.integers(0, 2, shape)
        return numbers.astype(dtype)
    except (MemoryError, OverflowError, ValueError):  # more bytes than there are, or can be counted
        raise UsageError(f"input '{spec.name}' of shape {tuple(shape)} does not fit into memory: see --dim") from None


def parse_dims(words: list[str]) -> dict[str, int]:
    """`["N=4"]` -> `{"N": 4}`. Raises UsageError for anything else."""
    dims: dict[str, int] = {}
    for word in words:
        name, _, size = word.partition("=")
        if not name or not size.isdecimal():
            raise UsageError(f"--dim {word}: write --dim NAME=SIZE, as in --dim N=4")
        if name in dims:
            raise UsageError(f"--dim {name} is given twice")
        dims[name] = int(size)
    return dims
