"""The back end for any machine that has a compiler of C."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.backends.base import Backend
from tilework.backends.c_family.emit_host import HOST_HANDLERS, emit_host
from tilework.backends.c_family.emit_kernel import KERNEL_HANDLERS, emit_kernels
from tilework.backends.c_family.emit_module import emit_module
from tilework.backends.c_family.legality import accepts
from tilework.backends.c_family.spelling import C11
from tilework.backends.host_signature import HostInfo, with_own_entry
from tilework.dialects.loop import KernelOp
from tilework.targets import Target


class CBackend(Backend):
    """C11 with vectors of GCC and clang; what is compiled is the text of one file each."""

    kind = "c"
    text_file = "c.c"

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        return accepts(op, KERNEL_HANDLERS if isinstance(around, KernelOp) else HOST_HANDLERS)

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return emit_kernels(module, C11).encode()

    def compile_host(self, module: ModuleOp, target: Target) -> tuple[bytes, HostInfo]:
        text, info = with_own_entry(*emit_host(module, C11))
        return text.encode(), info

    formats: ClassVar = {"c": lambda module, target: emit_module(module, C11)}
