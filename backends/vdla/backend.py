"""The back end for VDLA: a function of operations on units is a stream of instructions."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilework.algebra.errors import UsageError
from tilework.backends.base import Backend
from tilework.backends.element_types import bytes_of
from tilework.backends.vdla.emit import places_in_dram, stream_of
from tilework.dialects import arith
from tilework.dialects.isa.vdla import StoreOp, VdlaOp
from tilework.dialects.loop import ApplyOp
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.runtime.devices.vdla.assembly import print_stream
from tilework.runtime.devices.vdla.encoding import encode
from tilework.runtime.devices.vdla.program import Buffer, Program
from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets import Target
from tilework.targets.vdla.target import VdlaTarget


class VdlaBackend(Backend):
    """Streams for the three units, as text and as bytes."""

    kind = "vdla"
    text_file = "vdla.s"
    hosts = False
    functions = True
    formats: ClassVar = {
        "vdla-asm": lambda module, target: print_stream(_stream(module, target)),
        "vdla-bin": lambda module, target: _bytes(module, target),
    }

    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        known = VdlaOp | ApplyOp | scf.ForOp | scf.YieldOp | func.ReturnOp | memref.AllocaOp | memref.AllocOp
        if isinstance(op, known) or op.dialect_name() == arith.Arith.name:
            return None
        return f"no unit runs '{name_of(op)}': lower kernels by loop-to-vdla first"

    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        function = _function(module)
        places, _ = places_in_dram(function, VdlaTarget.of(target))
        buffers = tuple(_buffer(argument, place) for argument, place in zip(function.args, places, strict=True))
        return Program(_bytes(module, target), buffers).encode()


def _buffer(argument: SSAValue, place: int) -> Buffer:
    type_ = memref_of(argument)
    size = type_.element_count() * bytes_of(type_.element_type)
    return Buffer(place, size, any(isinstance(use.operation, StoreOp) for use in argument.uses))


def _bytes(module: ModuleOp, target: Target) -> bytes:
    """The bytes of a program's stream. Raises CompileError for an operand that no field holds."""
    stream = _stream(module, target)
    try:
        return encode(stream)
    except UsageError as error:
        raise CompileError(str(error), module) from error


def _stream(module: ModuleOp, target: Target) -> Stream:
    """The stream of the one function of a program."""
    return stream_of(_function(module), VdlaTarget.of(target))


def _function(module: ModuleOp) -> func.FuncOp:
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    if len(functions) != 1:
        names = ", ".join(f"@{function.sym_name.data}" for function in functions) or "none"
        raise CompileError(f"a stream is of one function, and the program has {len(functions)}: {names}", module)
    return functions[0]
