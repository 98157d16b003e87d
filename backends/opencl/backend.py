"""The back end for OpenCL: every launch of a kernel is a function of OpenCL C."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.backends.base import Backend
from tilework.backends.c_family.emit_launches import device_handlers, emit_launched
from tilework.backends.c_family.legality import accepts
from tilework.backends.c_family.spelling import OPENCL
from tilework.backends.launches import launch_program
from tilework.dialects.loop import CallOp
from tilework.dialects.support.diagnostics import name_of
from tilework.targets import Target


class OpenClBackend(Backend):
    """OpenCL C 1.2."""

    kind = "opencl"
    text_file = "opencl.cl"
    hosts = False
    formats: ClassVar = {"opencl": lambda module, target: emit_launched(module, OPENCL)}

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        if type(op) in device_handlers() or isinstance(op, CallOp):
            return accepts(op)
        return f"OpenCL C has no '{name_of(op)}' here"

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return launch_program(module, emit_launched(module, OPENCL)).encode()
