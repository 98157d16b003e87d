"""The back end for C compilers: every kernel is a file of C, and so is the host function."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.backends.base import Backend
from tilework.backends.c_family.emit_host import HOST_HANDLERS, emit_host
from tilework.backends.c_family.emit_kernel import emit_kernels, kernel_handlers
from tilework.backends.c_family.emit_module import emit_module
from tilework.backends.c_family.legality import accepts
from tilework.backends.c_family.spelling import C11
from tilework.backends.host_signature import HostInfo, with_own_entry
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.diagnostics import name_of
from tilework.targets import Target


class CBackend(Backend):
    """C11 with the vectors of GCC and clang."""

    kind = "c"
    text_file = "c.c"
    formats: ClassVar = {"c": lambda module, target: emit_module(module, C11)}

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        known = kernel_handlers() if isinstance(around, KernelOp) else HOST_HANDLERS
        return accepts(op) or (None if type(op) in known else f"the C backend does not know '{name_of(op)}' here")

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return emit_kernels(module, C11).encode()

    def compile_host(self, module: ModuleOp, target: Target) -> tuple[bytes, HostInfo]:
        text, info = with_own_entry(*emit_host(module, C11))
        return text.encode(), info
