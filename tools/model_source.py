"""What may stand for a program on the command line: an ONNX or `.mlir` file, an artefact, or a network by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean
from tilework.api import compile as compile_model
from tilework.dialects.graph.base import is_float
from tilework.driver.choose_targets import choose_targets
from tilework.driver.kernel_function import kernel_function
from tilework.driver.kernels import Kernel
from tilework.driver.read_program import add_schedules, is_program_file, kernels_of, level_of, read_program
from tilework.frontends.onnx import ImportedModel, import_onnx
from tilework.runtime.arrays import dtype_named
from tilework.runtime.cache import default_cache
from tilework.runtime.function import Function
from tilework.runtime.module import Module
from tilework.runtime.shapes import SymbolicShape
from tilework.runtime.tensor_spec import TensorSpec
from tilework.targets import target_to_compile_for
from tilework.tools.bench.networks.catalogue import NETWORK, network_model
from tilework.tools.light_models import load_light_model
from tilework.tools.progress import shown_progress

Array: TypeAlias = NDArray[Any]

LIGHT = "light:"
_ZIP = b"PK\x03\x04"


def import_model(source: str, schedules: str | None = None) -> ImportedModel:
    """The graph of an ONNX file, or of "light:NAME" or "net:NAME" with random weights; the program of an `.mlir` file.

    schedules: a file with schedules for some of its kernels, which become a part of the program.
    """
    imported = _imported(source)
    if schedules is not None:
        add_schedules(imported.module, schedules)
    return imported


def _imported(source: str) -> ImportedModel:
    if is_named(source):
        return import_onnx(named_model(source))
    check_uncompiled(source)
    if is_program_file(source):
        return ImportedModel(read_program(source), {}, Path(source).stem)
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


def open_program(
    source: str,
    targets: Mapping[str, str] = MappingProxyType({}),
    schedules: str | None = None,
    kernel: str | None = None,
) -> Module | Function:
    """What can be run: loaded where `source` is an artefact, else compiled, by default for this machine.

    Where it has no function @main, this is one of its kernels. targets: texts by device. schedules: as `import_model`
    takes them.
    """
    if is_artefact(source):
        for flag, given in (("--target", targets), ("--schedule", schedules), ("--kernel", kernel)):
            if given:
                raise UsageError(f"{source} is compiled already: {flag} is for models")
        return Module.load(source)
    imported = import_model(source, schedules)
    if level_of(imported.module) == "kernels":
        choose_targets(imported.module, {d: target_to_compile_for(text) for d, text in targets.items()})
        return kernel_function(kernel_named(imported.module, kernel), default_cache())
    if kernel is not None:
        raise UsageError(f"--kernel {kernel}: {source} has a function @main, which is run as a whole")
    with shown_progress(title_of(source)) as progress:
        return compile_model(imported.module, None, imported.parameters, progress=progress, targets=targets)


def kernel_named(module: ModuleOp, name: str | None) -> Kernel:
    """The kernel of that name, or the only one. Raises UsageError where there is none, or no name says which."""
    kernels = kernels_of(module)
    there = ", ".join(kernels)
    if name is None and len(kernels) > 1:
        raise UsageError(f"the program has several kernels: give --kernel and one of {there}")
    if name is not None and name not in kernels:
        raise UsageError(f"--kernel {name}: the program's kernels are {there}{did_you_mean(name, kernels)}")
    return next(iter(kernels.values())) if name is None else kernels[name]


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


def inputs_of(program: Module | Function) -> tuple[TensorSpec, ...]:
    """What has to be given to a program."""
    return program.manifest.inputs if isinstance(program, Module) else program.inputs


def symbol_sizes(
    program: Module | Function, dims: Mapping[str, int], given: Mapping[str, Array] | None = None
) -> dict[str, int]:
    """A size for every symbol of a program: from the arrays given, else from `dims`, else 1.

    Raises UsageError for a name in `dims` that is no symbol, or a size that is not that of the arrays.
    """
    known = program.manifest.symbols if isinstance(program, Module) else program.info.symbols
    for name in dims:
        if name not in known:
            there = f"the model's are {', '.join(known)}" if known else "the model has none"
            raise UsageError(f"--dim {name}: there is no symbolic dimension '{name}'; {there}")
    sizes = {symbol: dims.get(symbol, 1) for symbol in known}
    for spec in inputs_of(program):
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
