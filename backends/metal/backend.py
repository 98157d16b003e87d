"""The back end for Metal: every launch of a kernel is a function of the Metal shading language."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import math
from xdsl.dialects.builtin import Float64Type, ModuleOp
from xdsl.ir import Operation

from tilework.backends.base import Backend
from tilework.backends.c_family.emit_launches import device_handlers, emit_launched
from tilework.backends.c_family.legality import accepts
from tilework.backends.c_family.spelling import METAL
from tilework.backends.element_types import element_of
from tilework.backends.launches import launch_program
from tilework.dialects.loop import CallOp
from tilework.dialects.support.diagnostics import name_of
from tilework.targets import Target

_NO_FUNCTIONS = (math.ExpM1Op, math.Log1pOp)
"""Functions that are in none of Metal's libraries, nor among our own."""


class MetalBackend(Backend):
    """The Metal shading language, as text: nothing here runs it."""

    kind = "metal"
    text_file = "metal.metal"
    hosts = False
    formats: ClassVar = {"metal": lambda module, target: emit_launched(module, METAL)}

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        if isinstance(op, CallOp):
            return None
        if type(op) not in device_handlers() or isinstance(op, _NO_FUNCTIONS):
            return f"Metal has no '{name_of(op)}' here"
        if any(isinstance(element_of(value.type), Float64Type) for value in (*op.operands, *op.results)):
            return f"Metal has no numbers of double precision, on which '{name_of(op)}' is: compute it on the host"
        return accepts(op)

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return launch_program(module, emit_launched(module, METAL)).encode()
