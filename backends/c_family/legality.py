"""What C cannot express."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import Operation

from tilework.analysis.accesses import memory_space
from tilework.dialects.isa import amx
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.bfloat16 import computes_in_bfloat16
from tilework.dialects.support.diagnostics import CompileError


def accepts(op: Operation) -> str | None:
    """Why an operation of a kernel has no counterpart in C, or None where it has one."""
    is_tile = isinstance(op, memref.AllocaOp) and memory_space(op.memref) == amx.SCOPE
    if is_tile or op.dialect_name() == amx.Amx.name:
        return f"'{op.name}' works on tiles of a processor, for which C has no words: compile for a target without them"
    if computes_in_bfloat16(op):
        return f"'{op.name}' computes with bf16: run loop-widen-bfloat16 before"
    return None


def refuse_illegal(kernel: KernelOp) -> None:
    """Raise CompileError, about the operation, for the first one that C cannot express."""
    for op in kernel.walk():
        if (reason := accepts(op)) is not None:
            raise CompileError(reason, op)
