"""Links object code into this process: no linker, no file, a few milliseconds for fifty kernels."""

# llvmlite has no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from tilework.runtime.compatibility import check_runs_on
from tilework.runtime.openmp import OpenMPRuntime, openmp_runtime
from tilework.targets import parse_target
from tilework.targets.host import host_target

_LIBRARY = "tilework"


class NativeLibrary:
    """Code linked into the process; the addresses it gives hold as long as the object lives."""

    def __init__(self, objects: Sequence[bytes], symbols: Mapping[str, int]):
        _initialize()
        self._jit = llvm.create_lljit_compiler(use_jit_link=True)
        builder = llvm.JITLibraryBuilder().add_current_process()
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        for image in objects:
            builder.add_object_img(image)
        self._trackers = [builder.link(self._jit, _LIBRARY)]

    def get_function(self, name: str) -> int:
        """The address of a function. Raises LookupError where no object defines it or something it needs is missing."""
        try:
            tracker = self._jit.lookup(_LIBRARY, name)
        except RuntimeError as error:
            raise LookupError(f"no function '{name}' in the linked objects: {error}") from None
        self._trackers.append(tracker)
        return tracker[name]


@dataclass(frozen=True)
class Code:
    """Linked code: the entry may be called as long as the library lives."""

    entry: Callable[..., Any]
    library: NativeLibrary
    runtime: OpenMPRuntime


def linked(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> Code:
    """The function `entry` of objects for `target`, with arguments and a result of these types of ctypes.

    Raises TileworkError where this machine lacks something that the target has.
    """
    check_runs_on(parse_target(target), host_target())
    runtime = openmp_runtime()
    library = NativeLibrary(objects, runtime.symbols)
    return Code(ctypes.CFUNCTYPE(result, *types)(library.get_function(entry)), library, runtime)


def load_objects(objects: Sequence[bytes], symbols: Mapping[str, int] | None = None) -> NativeLibrary:
    """Link relocatable object files with each other, this process's libc and libm, and `symbols` (name -> address).

    By default the symbols are those of the OpenMP runtime.
    """
    return NativeLibrary(objects, openmp_runtime().symbols if symbols is None else symbols)


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
