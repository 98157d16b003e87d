"""Finds an OpenMP runtime for parallel loops: one ABI (`GOMP_parallel`) serves libgomp, libiomp5 and LLVM's libomp.

A runtime that the process has loaded already is preferred: two of them would keep two sets of spinning threads. Else
the first one found among Intel's wheel, scikit-learn's bundled one, the system's and PyTorch's. With none, parallel
loops run on one thread, and `OpenMPRuntime.description` says so.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from tilework.targets.host import physical_cores

SYMBOLS = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")

_LIBRARY_NAME = re.compile(r"lib(gomp|iomp5|omp)\b[^/]*\.(so|dylib)[.\d]*")

_WAITING = {"GOMP_SPINCOUNT": "2500", "KMP_BLOCKTIME": "1"}
"""How long idle threads spin, unless the user said so: about 0.1 ms for libgomp, 1 ms for the others.

A thread that spins holds its core, and where another process keeps the second one busy, the thread that it waits for is
put on that core, too: each parallel loop takes as long as threads spin. A BERT's 53 kernels, 7.5 ms when nobody else
computes, took 50 ms beside one busy process with a count of 10000, 28 with 3000 and 24 with 2000. With less than 10000
threads may fall asleep between kernels: a MobileNet took 2 to 5 % longer when nobody else computed. Two parallel loops
in a row cost 0.4 us.
"""
_WAITING_CHOICES = ("OMP_WAIT_POLICY", *_WAITING)

_FIRST_PROCESS = os.getpid()
"""The process that imported this file, of which the others are children made by fork."""


@dataclass(frozen=True)
class OpenMPRuntime:
    """A loaded runtime. symbols: name -> address of `SYMBOLS`. path: its file, or None for the serial stand-in."""

    path: str | None
    symbols: Mapping[str, int]
    process: int
    """The process that loaded it, or may have: a child made by fork has the code but not the threads."""

    @property
    def is_parallel(self) -> bool:
        return self.path is not None

    @property
    def survives_fork(self) -> bool:
        """Whether a parallel loop may run in a forked child: libgomp would wait there for threads that do not exist."""
        return self.path is not None and "libgomp" not in os.path.basename(self.path)

    @property
    def description(self) -> str:
        """One line for `tilework doctor`."""
        if self.path is None:
            return "none found: parallel loops run on one thread (install scikit-learn or intel-openmp)"
        pinned = os.environ.get("OMP_PROC_BIND")
        warning = f"; OMP_PROC_BIND={pinned} pins Python's main thread to one core" if pinned else ""
        return self.path + warning


_loading = Lock()


def openmp_runtime() -> OpenMPRuntime:
    """The runtime of this process, found and loaded at the first call."""
    with _loading:
        return _load()


@cache
def _load() -> OpenMPRuntime:
    physical_cores()  # before OMP_PROC_BIND can pin this thread
    loaded = loaded_libraries()
    for path in (*loaded, *installed_libraries()):
        symbols = _open(path)
        if symbols:
            return OpenMPRuntime(path, symbols, _FIRST_PROCESS if path in loaded else os.getpid())
    return OpenMPRuntime(None, _serial_symbols(), os.getpid())


def _open(path: str) -> dict[str, int] | None:
    """The addresses of `SYMBOLS` in a library, or None where it is absent, broken or lacks one (as Windows' vcomp)."""
    with _short_waiting():
        try:
            library = ctypes.CDLL(path)
            symbols = {name: _address(library, name) for name in SYMBOLS}
            library.omp_get_max_threads()  # libiomp5 reads its environment only now
        except (OSError, AttributeError):
            return None
    return symbols


def _address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return address


@contextmanager
def _short_waiting() -> Generator[None]:
    """The environment with `_WAITING` in it, for a runtime to read while it loads; subprocesses must not inherit it."""
    if any(name in os.environ for name in _WAITING_CHOICES):
        yield
        return
    os.environ.update(_WAITING)
    try:
        yield
    finally:
        for name in _WAITING:
            del os.environ[name]


def loaded_libraries() -> list[str]:
    """The OpenMP runtimes that this process has loaded, in the order of their addresses."""
    if sys.platform == "darwin":
        paths = _darwin_images()
    elif sys.platform == "linux":
        mapped = Path("/proc/self/maps").read_text().splitlines()
        paths = [line.split(maxsplit=5)[-1] for line in mapped if "omp" in line]
    else:
        return []
    return list(dict.fromkeys(path for path in paths if _LIBRARY_NAME.fullmatch(os.path.basename(path))))


def _darwin_images() -> list[str]:
    dyld = ctypes.CDLL(None)
    dyld._dyld_get_image_name.restype = ctypes.c_char_p
    return [dyld._dyld_get_image_name(index).decode() for index in range(dyld._dyld_image_count())]


def installed_libraries() -> list[str]:
    """Runtimes that could be loaded, best first: paths in wheels, and names for the system's loader to find."""
    intel = [path for name in ("libiomp5.so", "libiomp5.dylib") for path in Path(sys.prefix, "lib").glob(name)]
    wheels = [*intel, *_in_wheel("sklearn", "../scikit_learn.libs/libgomp*", ".dylibs/libomp.dylib")]
    system = ["libgomp.so.1", "libomp.so.5", "libomp.dylib"]
    torch = _in_wheel("torch", "lib/libgomp*", "lib/libiomp5*", "lib/libomp.dylib")
    return [*map(str, wheels), *system, *map(str, torch)]


def _in_wheel(package: str, *patterns: str) -> list[Path]:
    """Files of an installed package, which is not imported for it."""
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # a module without a spec, which somebody put in the package's place
        return []
    if spec is None or spec.origin is None:
        return []
    folders = [(Path(spec.origin).parent / pattern).parent.resolve() for pattern in patterns]
    return [path for folder, pattern in zip(folders, patterns, strict=True) for path in folder.glob(Path(pattern).name)]


_SERIAL = """
define void @GOMP_parallel(ptr %body, ptr %data, i32 %num_threads, i32 %flags) {
  call void %body(ptr %data)
  ret void
}
define i32 @omp_get_thread_num() {
  ret i32 0
}
define i32 @omp_get_num_threads() {
  ret i32 1
}
"""


def _serial_symbols() -> dict[str, int]:
    """The same ABI on one thread, for a machine without a runtime. Lives as long as the process."""
    from tilework.backends.llvm.compile import compile_ir  # rarely needed, and native.py imports this file
    from tilework.runtime.native import NativeLibrary
    from tilework.targets.host import host_target

    library = NativeLibrary([compile_ir(_SERIAL, host_target())], {})
    _kept_alive.append(library)
    return {name: library.get_function(name) for name in SYMBOLS}


_kept_alive: list[object] = []
