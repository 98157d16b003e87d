"""The back end for NVIDIA's devices: PTX by way of LLVM, and CUDA C for people to read."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import Float16Type, Float32Type, ModuleOp
from xdsl.ir import Operation

from tilework.analysis.warps import is_of_warp, why_apart
from tilework.backends.base import Backend
from tilework.backends.c_family.emit_launches import emit_launched as emit_c
from tilework.backends.c_family.spelling import CUDA
from tilework.backends.cuda.emit_ptx import INTRINSICS, as_processor, device_handlers, emit_launched
from tilework.backends.element_types import element_of
from tilework.backends.elementary import VECTOR_FUNCTIONS
from tilework.backends.launches import launch_program
from tilework.backends.llvm.emit_math import FUNCTIONS
from tilework.dialects.loop import CallOp, IntrinsicOp
from tilework.dialects.support.diagnostics import name_of
from tilework.runtime.devices.llvm.compile import assembly
from tilework.targets import Target
from tilework.targets.gpu.target import GpuTarget


class CudaBackend(Backend):
    """PTX."""

    kind = "cuda"
    text_file = "cuda.ptx"
    hosts = False
    formats: ClassVar = {
        "ptx": lambda module, target: _ptx(module, target),
        "cuda": lambda module, target: emit_c(module, CUDA),
    }

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        if isinstance(op, CallOp):
            return None
        if type(op) not in device_handlers():
            return f"PTX has no '{name_of(op)}' here"
        if isinstance(op, IntrinsicOp):
            return INTRINSICS.why_no_code(op) or (why_apart(op) if is_of_warp(op) else None)
        return _why_no_function(op)

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        return launch_program(module, _ptx(module, target)).encode()


def _ptx(module: ModuleOp, target: Target) -> str:
    device = GpuTarget.of(target)
    return assembly(emit_launched(module, device), as_processor(device))


def _why_no_function(op: Operation) -> str | None:
    """LLVM ends the process at a function that it has no code for: there is no library of them on a device."""
    name = FUNCTIONS.get(type(op))
    if name is None:
        return None
    element = element_of(op.results[0].type)
    if name in VECTOR_FUNCTIONS and isinstance(element, Float32Type | Float16Type):
        return None
    return f"there is no '{name_of(op)}' on {element} for NVIDIA's devices yet: compute it on the host"
