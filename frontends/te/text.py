"""Modules as text."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.support.unique_printer import UniquePrinter
from tilework.runtime.display import code_html


def module_text(module: ModuleOp) -> str:
    """The module as `.mlir`."""
    stream = StringIO()
    UniquePrinter(stream).print_op(module)
    return stream.getvalue() + "\n"


@dataclass(frozen=True)
class LoweredModule:
    """What `lower` returns: `print` writes `module` as `.mlir`."""

    module: ModuleOp

    def __str__(self) -> str:
        return module_text(self.module)

    def _repr_html_(self) -> str:
        return code_html(str(self))
