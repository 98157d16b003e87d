"""How code of the C back end is loaded: the machine's C compiler makes a shared library of it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, cast

import tilework.runtime
from tilework.algebra.errors import TileworkError
from tilework.runtime.cache import default_cache
from tilework.runtime.compatibility import check_runs_on
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target, physical_cores
from tilework.targets.cpu.target import CpuTarget

FLAGS = ("-std=gnu11", "-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-Wno-psabi", "-pthread")
PARALLEL = Path(tilework.runtime.__file__).with_name("c") / "tilework_parallel.c"


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> CompiledC:
    """The function `entry` of files of C."""
    return CompiledC(objects, target, entry, ctypes.CFUNCTYPE(result, *types))


@dataclass(frozen=True)
class Library:
    """A library in this process. The entry may be called as long as this lives."""

    entry: Callable[..., Any]
    address: int
    library: ctypes.CDLL


class CompiledC:
    """Files of C that are compiled when the entry is first asked for."""

    def __init__(self, sources: Sequence[bytes], target: str, entry: str, type_: Any):
        self._sources, self._target, self._entry, self._type = sources, target, entry, type_
        self._lock = Lock()
        self._loaded: Library | None = None

    def code(self) -> Library:
        """Compile and load, once. Raises TileworkError where this machine lacks what the target has, or a compiler."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> Library:
        check_runs_on(cast("CpuTarget", parse_target(self._target)), host_target())
        with ThreadPoolExecutor(physical_cores()) as pool:
            objects = list(pool.map(_compiled, (*self._sources, PARALLEL.read_bytes())))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for number, content in enumerate(objects):
                (folder / f"{number}.o").write_bytes(content)
            _run(["-shared", "-pthread", *(f"{n}.o" for n in range(len(objects))), "-lm", "-o", "code.so"], folder)
            try:
                library = ctypes.CDLL(str(folder / "code.so"))
            except OSError as error:  # a snippet may call what there is not
                reason = str(error).partition(": ")[2] or str(error)
                raise TileworkError(f"the code that {_compiler()} made cannot be loaded: {reason}") from None
        entry = self._type((self._entry, library))
        return Library(entry, ctypes.cast(entry, ctypes.c_void_p).value or 0, library)


_DEFINED = re.compile(r"(\w+)\s*\([^()]*\)\s*\{")
_KEYWORDS = {"if", "for", "while", "switch"}
_defined: dict[str, str] = {}
_libraries: list[ctypes.CDLL] = []


def define(source: str) -> None:
    """Compile functions of C, or of C++ where they are `extern "C"`, for code that is linked later to call by name.

    They stay for as long as the process lives. Raises TileworkError for what the machine's compiler does not take, and
    for another function of a name that is defined already.
    """
    names = [name for name in _DEFINED.findall(source) if name not in _KEYWORDS]
    if names and all(_defined.get(name) == source for name in names):
        return
    if taken := [name for name in names if name in _defined]:
        raise TileworkError(f"there is another C function '{taken[0]}' in this process already: choose another name")
    language = "c++" if 'extern "C"' in source else "c"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "code.c").write_text(source, encoding="utf-8")
        _run(["-x", language, "-O3", "-march=native", "-fPIC", "-shared", "code.c", "-o", "code.so"], folder)
        _libraries.append(ctypes.CDLL(str(folder / "code.so"), mode=ctypes.RTLD_GLOBAL))
    _defined.update(dict.fromkeys(names, source))


def _compiled(source: bytes) -> bytes:
    """The object file of one file of C, from the cache if it is there."""
    kept = default_cache()
    key = hashlib.sha256(b"\0".join([_version().encode(), " ".join(FLAGS).encode(), source])).hexdigest()
    found = kept.get(key)
    if found is not None:
        return found[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "code.c").write_bytes(source)
        _run([*FLAGS, "-c", "code.c", "-o", "code.o"], folder)
        made = (folder / "code.o").read_bytes()
    kept.put(key, made, {})
    return made


def _run(arguments: Sequence[str], folder: Path) -> None:
    done = subprocess.run([_compiler(), *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise TileworkError(f"{_compiler()} does not take the code: {done.stderr.strip()}")


@cache
def _version() -> str:
    return subprocess.run([_compiler(), "--version"], capture_output=True, text=True).stdout


def _compiler() -> str:
    """The C compiler that the environment names, else `cc`. Raises TileworkError where it is not there."""
    name = os.environ.get("CC", "cc")
    if shutil.which(name) is None:
        raise TileworkError(f"code of C runs here once it is compiled, and there is no '{name}': install it or set CC")
    return name
