"""C compilers and emulators, where this machine has them, and what is compiled with them."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tilework.runtime
from tilework.algebra.c_names import c_name
from tilework.backends.c_family.emit_kernel import emit_kernels
from tilework.backends.c_family.spelling import C11
from tilework.dialects.loop import KernelOp

WARNINGS = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi")
PARALLEL = Path(tilework.runtime.__file__).parent / "c" / "tilework_parallel.c"


@cache
def has_compiler(compiler: str = "gcc") -> bool:
    """Whether there is a compiler, new enough to know shuffles of vectors."""
    if shutil.which(compiler) is None:
        return False
    probe = subprocess.run(
        [compiler, "-x", "c", "-", "-fsyntax-only"],
        input="#if !__has_builtin(__builtin_shufflevector)\n#error too old\n#endif\n",
        capture_output=True,
        text=True,
    )
    return probe.returncode == 0


def need_compiler(compiler: str = "gcc") -> None:
    """Skip the test where there is no such compiler."""
    if not has_compiler(compiler):
        pytest.skip(f"there is no {compiler} that knows shuffles of vectors on this machine")


def run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command that has to succeed."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done


def shared_library(text: str, folder: Path, compiler: str = "gcc", flags: Sequence[str] = ("-O1", "-march=native")):
    """C code, with the threads of its parallel loops, loaded into this process."""
    source, library = folder / "kernels.c", folder / "kernels.so"
    source.write_text(text)
    files = [source, PARALLEL]
    run(
        [
            compiler,
            *WARNINGS,
            "-ffp-contract=off",
            *flags,
            "-shared",
            "-fPIC",
            "-pthread",
            *files,
            "-o",
            library,
            "-lm",
        ],
        folder,
    )
    return ctypes.CDLL(str(library))


def kernel_functions(
    module: ModuleOp, folder: Path, compiler: str = "gcc", flags: Sequence[str] = ("-O1", "-march=native")
) -> dict[str, Callable[..., None]]:
    """The kernels of a module by name, compiled by way of C: called with arrays and symbols, and `threads`."""
    library = shared_library(emit_kernels(module, C11), folder, compiler, flags)
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    return {kernel.sym_name.data: _function(library, kernel) for kernel in kernels}


def _function(library: ctypes.CDLL, kernel: KernelOp) -> Callable[..., None]:
    buffers, symbols = sum(kernel.group_sizes[:3]), kernel.group_sizes[3]
    function = getattr(library, c_name(kernel.sym_name.data))
    function.argtypes = [ctypes.c_void_p] * buffers + [ctypes.c_int64] * symbols + [ctypes.c_int32]
    function.restype = None

    def call(*arguments: np.ndarray | int, threads: int = 1) -> None:
        assert len(arguments) == buffers + symbols
        function(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments), threads)

    return call
