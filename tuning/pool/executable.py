"""Static programs for boards: code, a table of the memory that it takes, and the runner in `c/board.c`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

import tilework.runtime
from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.nibbles import is_narrow
from tilework.runtime.arrays import dtype_named
from tilework.runtime.manifest import Manifest
from tilework.tuning.measuring.server import step_of

_RUNNER = Path(__file__).with_name("c")
_PARALLEL = Path(tilework.runtime.__file__).with_name("c") / "tilework_parallel.c"
_FLAGS = ("-std=gnu11", "-O2", "-pthread")


@dataclass(frozen=True)
class Buffer:
    """Memory that code takes. role: as in `c/board.h`. dtype: the name of numpy's type, "uint8" for scratch memory."""

    role: str
    dtype: str
    size: int
    """The size in elements."""

    @property
    def row(self) -> str:
        """The line of the table."""
        dtype = dtype_named(self.dtype)
        kind, epsilon = _kind(dtype)
        return f"{{{self.role}, '{kind}', {dtype.itemsize}, {dtype.itemsize * self.size}u, {epsilon!r}}}"


def kernel_source(entry: str, buffers: Sequence[Buffer], symbols: Sequence[int] = ()) -> str:
    """C that calls a kernel: `void entry(ptr..., int64 symbols..., int32 threads)`."""
    pointers = [f"memory[{i}]" for i in range(len(buffers))]
    types = [*["void *"] * len(buffers), *["int64_t"] * len(symbols), "int32_t"]
    arguments = [*pointers, *(f"INT64_C({symbol})" for symbol in symbols), "threads"]
    call = f"  {entry}({', '.join(arguments)});\n  return 0;"
    return _source(buffers, f"void {entry}({', '.join(types)});", call)


def module_source(manifest: Manifest, buffers: Sequence[Buffer], symbols: Sequence[int]) -> str:
    """C that calls the entry of a module: the buffers are its inputs, outputs, parameters, and its arena."""
    outputs = len(manifest.inputs)
    parameters = outputs + len(manifest.outputs)
    declared = "void **, void **, void **, void *, int64_t *, int32_t, void *"
    places = f"memory, memory + {outputs}, memory + {parameters}, memory[{len(buffers) - 1}]"
    values = ", ".join(f"INT64_C({symbol})" for symbol in (*symbols, 0))
    call = f"  int64_t symbols[] = {{{values}}};\n  return {manifest.entry}({places}, symbols, threads, 0);"
    return _source(buffers, f"int32_t {manifest.entry}({declared});", call)


def _source(buffers: Sequence[Buffer], declaration: str, call: str) -> str:
    rows = "\n".join(f"  {buffer.row}," for buffer in buffers)
    return (
        f'#include "board.h"\n\n{declaration}\n\n'
        f"const struct buffer buffers[] = {{\n{rows}\n}};\nconst int buffer_count = {len(buffers)};\n\n"
        f"int32_t call(void **memory, int32_t threads) {{\n{call}\n}}\n"
    )


def _kind(dtype: np.dtype[Any]) -> tuple[str, float]:
    """How a board compares numbers of a type, and the step from 1 to the next one."""
    if dtype.kind in "biu" or is_narrow(dtype):
        return "i" if dtype.kind == "i" else "u", 0.0
    kinds = {"float16": "h", "float32": "f", "float64": "d", "bfloat16": "b"}
    if dtype.name not in kinds:
        raise UsageError(f"boards know no numbers of type {dtype.name}")
    return kinds[dtype.name], step_of(dtype)


class Linker:
    """Links programs with a C compiler, in a folder that ends with the `with`. The runner is compiled once."""

    def __init__(self, compiler: str):
        self.compiler = compiler
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def program(self, objects: Sequence[bytes], source: str) -> bytes:
        """A static executable. Raises TileworkError where there is no such compiler, or it refuses."""
        folder = self._prepared()
        names = [f"code{i}.o" for i in range(len(objects))]
        for name, content in zip(names, objects, strict=True):
            (folder / name).write_bytes(content)
        (folder / "table.c").write_text(source, encoding="utf-8")
        files = ["table.c", *names, "board.o", "tilework_parallel.o"]
        self._run(folder, [*_FLAGS, f"-I{_RUNNER}", "-static", "-s", *files, "-lm", "-o", "program"])
        return (folder / "program").read_bytes()

    def _prepared(self) -> Path:
        if self._folder is not None:
            return Path(self._folder.name)
        made = tempfile.TemporaryDirectory()
        try:
            self._run(Path(made.name), [*_FLAGS, "-c", str(_RUNNER / "board.c"), str(_PARALLEL)])
        except BaseException:
            made.cleanup()
            raise
        self._folder = made
        return Path(made.name)

    def _run(self, folder: Path, arguments: Sequence[str]) -> None:
        if shutil.which(self.compiler) is None:
            raise TileworkError(f"programs for boards are linked by '{self.compiler}', which is not there: install it")
        done = subprocess.run([self.compiler, *arguments], cwd=folder, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            said = next(
                (line for line in done.stderr.splitlines() if "error" in line or "undefined" in line), done.stderr
            )
            raise TileworkError(f"{self.compiler} cannot link a program for the board: {said.strip()}")
