"""Kernels, and perhaps the host function that calls them, as one file of C."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.emit_host import add_host
from tilework.backends.c_family.emit_kernel import add_kernels
from tilework.backends.c_family.spelling import Spelling
from tilework.backends.host_signature import find_host


def emit_module(module: ModuleOp, spelling: Spelling) -> str:
    """The text of the file. Raises what its parts raise."""
    file = FileText(spelling.head)
    add_kernels(file, module, spelling)
    if find_host(module) is not None:
        add_host(file, module, spelling)
    return str(file)
