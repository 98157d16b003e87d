"""Links compiled modules into this process, with the threads that their parallel loops run on."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tilework.runtime.compatibility import check_runs_on
from tilework.runtime.devices.llvm.native_library import NativeLibrary
from tilework.runtime.devices.llvm.workers import linking, worker_symbols
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class Code:
    """Linked code: the entry, which lies at the address, may be called as long as the library lives."""

    entry: Callable[..., Any]
    address: int
    library: NativeLibrary


class Linked:
    """The function `entry` of objects for `target`, with arguments and a result of these types of ctypes.

    workers: the object file of the threads, for a process that has none yet; compiled if not given.
    """

    def __init__(
        self,
        objects: Sequence[bytes],
        target: str,
        entry: str,
        types: Sequence[Any],
        result: Any,
        workers: bytes | None = None,
    ):
        self._objects, self._target, self._entry = objects, target, entry
        self._type = ctypes.CFUNCTYPE(result, *types)
        self._workers = workers
        self._code: Code | None = None

    def code(self) -> Code:
        """Linked by the first call. Raises TileworkError where this machine lacks something that the target has."""
        if self._code is None:
            with linking:
                if self._code is None:
                    self._code = self._link()
        return self._code

    def _link(self) -> Code:
        check_runs_on(CpuTarget.of(parse_target(self._target), "llvm"), host_target())
        library = NativeLibrary(self._objects, worker_symbols(self._workers))
        address = library.get_function(self._entry)
        return Code(self._type(address), address, library)


def load_objects(objects: Sequence[bytes]) -> NativeLibrary:
    """Link relocatable object files with each other, this process's libc and libm, and what parallel loops call."""
    with linking:
        return NativeLibrary(objects, worker_symbols())
