"""What C cannot express."""

from __future__ import annotations

from xdsl.ir import Operation

from tilework.backends.c_family.emit_intrinsics import INTRINSICS
from tilework.dialects.loop import IntrinsicOp, KernelOp
from tilework.dialects.support.bfloat16 import computes_in_bfloat16
from tilework.dialects.support.diagnostics import CompileError


def accepts(op: Operation) -> str | None:
    """Why an operation of a kernel has no counterpart in C, or None where it has one."""
    if isinstance(op, IntrinsicOp):
        return INTRINSICS.why_no_code(op)
    if computes_in_bfloat16(op):
        return f"'{op.name}' computes with bf16: run loop-widen-bfloat16 before"
    return None


def refuse_illegal(kernel: KernelOp) -> None:
    """Raise CompileError, about the operation, for the first one that C cannot express."""
    for op in kernel.walk():
        if (reason := accepts(op)) is not None:
            raise CompileError(reason, op)
