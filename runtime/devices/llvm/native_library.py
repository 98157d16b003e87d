"""Object code linked into this process: no linker, no file, a few milliseconds for fifty kernels."""

# llvmlite has no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import llvmlite.binding as llvm

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


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
