"""Modules as text."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer


def module_text(module: ModuleOp) -> str:
    """The module as `.mlir`."""
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue() + "\n"


@dataclass(frozen=True)
class LoweredModule:
    """What `lower` returns: `print` writes `module` as `.mlir`."""

    module: ModuleOp

    def __str__(self) -> str:
        return module_text(self.module)
