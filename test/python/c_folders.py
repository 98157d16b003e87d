"""Folders of C that are written, built by `make` and run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import need_compiler, run

import tilework as tw
from tilework.algebra.c_names import c_name
from tilework.runtime.arrays import dtype_named
from tilework.runtime.c_library import write_library
from tilework.runtime.cache import KernelCache
from tilework.runtime.module import Module


def write(model: Any, folder: Path, name: str, target: str, cache: KernelCache) -> Module:
    """Compile a model and write its library."""
    m = tw.compile(model, target=target, cache=cache)
    write_library(folder, name, m.manifest, m.objects, m.parameters)
    return m


def make(folder: Path, *arguments: str, compiler: str = "gcc") -> None:
    """Build the library and its example; any warning is an error."""
    need_compiler(compiler)
    if shutil.which("make") is None:
        pytest.skip("there is no make on this machine")
    run(["make", f"CC={compiler}", "CFLAGS=-O0 $(ARCH) -Werror", *arguments], folder)


def example(
    folder: Path, m: Module, inputs: Mapping[str, np.ndarray], *words: str, runner: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """What the example makes of inputs, by the names of the outputs."""
    symbols: dict[str, int] = {}
    for spec in m.manifest.inputs:
        array = inputs[spec.name]
        (folder / f"{c_name(spec.name)}.in").write_bytes(array.tobytes())
        symbols |= {dim: size for dim, size in zip(spec.shape, array.shape, strict=True) if isinstance(dim, str)}
    given = [*(f"{s}={n}" for s, n in symbols.items()), *(f"{c_name(n)}={c_name(n)}.in" for n in inputs)]
    run([*runner, folder / "example", *given, *words], folder)
    return {
        spec.name: np.fromfile(folder / f"{c_name(spec.name)}.raw", dtype_named(spec.dtype))
        for spec in m.manifest.outputs
    }


def need_emulator(architecture: str) -> list[str]:
    """The command that runs a program of another architecture."""
    emulator = f"qemu-{architecture}"
    if shutil.which(emulator) is None:
        pytest.skip(f"there is no {emulator} on this machine")
    return [emulator]
