"""The back end for processors: LLVM IR as text, which LLVM compiles to object code."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.backends.base import Backend
from tilework.backends.host_signature import HostInfo, find_host, with_own_entry
from tilework.backends.llvm.emit_host import HOST_HANDLERS, emit_host, emit_host_function
from tilework.backends.llvm.emit_intrinsics import INTRINSICS
from tilework.backends.llvm.emit_kernel import add_kernels, emit_kernels, kernel_handlers
from tilework.backends.llvm.text import ModuleText
from tilework.dialects.loop import IntrinsicOp, KernelOp
from tilework.dialects.support.diagnostics import name_of
from tilework.runtime.devices.llvm.compile import assembly, compile_ir
from tilework.targets import Target


class LLVMBackend(Backend):
    """Object code by way of LLVM IR."""

    kind = "llvm"
    text_file = "llvm.ll"

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        known = kernel_handlers() if isinstance(around, KernelOp) else HOST_HANDLERS
        if isinstance(op, IntrinsicOp):
            return INTRINSICS.why_no_code(op)
        return None if type(op) in known else f"the LLVM backend does not know '{name_of(op)}' here"

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return compile_ir(emit_kernels(module, target), target)

    def compile_host(self, module: ModuleOp, target: Target) -> tuple[bytes, HostInfo]:
        text, info = with_own_entry(*emit_host(module, target))
        # it does nothing but call kernels, and may be one block of thousands of calls
        return compile_ir(text, target, opt_level=1, codegen_level=0), info

    formats: ClassVar = {
        "llvmir": lambda module, target: emit_module(module, target),
        "asm": lambda module, target: assembly(emit_module(module, target), target),
        "obj": lambda module, target: compile_ir(emit_module(module, target), target),
    }


def emit_module(module: ModuleOp, target: Target) -> str:
    """Kernels and host in one LLVM module, as text."""
    text = ModuleText(target)
    add_kernels(text, module)
    if find_host(module) is not None:
        emit_host_function(text, module)
    return str(text)
