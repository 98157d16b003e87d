"""What `opt-tool -t` can write of kernels and perhaps a host: LLVM IR as emitted, assembly, an object, or C."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from tilework.backends.c_family.emit_module import emit_module as emit_c
from tilework.backends.c_family.spelling import C11
from tilework.backends.host_signature import find_host
from tilework.backends.llvm.emit_host import emit_host_function
from tilework.backends.llvm.emit_kernel import add_kernels
from tilework.backends.llvm.text import ModuleText
from tilework.runtime.devices.llvm.compile import assembly, compile_ir
from tilework.targets import Target, parse_target


def emit_module(module: ModuleOp, target: Target) -> str:
    """Kernels and host in one LLVM module, as text."""
    text = ModuleText(target)
    add_kernels(text, module)
    if find_host(module) is not None:
        emit_host_function(text, module)
    return str(text)


def _write_llvmir(module: ModuleOp, stream: IO[Any]) -> None:
    stream.write(emit_module(module, parse_target("llvm")))


def _write_assembly(module: ModuleOp, stream: IO[Any]) -> None:
    stream.write(assembly(emit_module(module, parse_target("llvm")), parse_target("llvm")))


def _write_object(module: ModuleOp, stream: IO[Any]) -> None:
    stream.write(compile_ir(emit_module(module, parse_target("llvm")), parse_target("llvm")))


def _write_c(module: ModuleOp, stream: IO[Any]) -> None:
    stream.write(emit_c(module, C11))


TARGETS: dict[str, Callable[[ModuleOp, IO[Any]], None]] = {
    "llvmir": _write_llvmir,
    "asm": _write_assembly,
    "obj": _write_object,
    "c": _write_c,
}
"""Name -> writer of a module to a stream, of bytes for `obj` and of text for the others."""
