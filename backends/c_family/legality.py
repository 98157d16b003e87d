"""What C cannot express."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import Operation

from tilework.analysis.accesses import memory_space
from tilework.backends.c_family.emitter import Handlers
from tilework.dialects.isa import amx
from tilework.dialects.support.bfloat16 import computes_in_bfloat16
from tilework.dialects.support.diagnostics import name_of


def accepts(op: Operation, handlers: Handlers) -> str | None:
    """Why an operation has no counterpart in C, or None where it has one. handlers: what is known where it stands."""
    is_tile = isinstance(op, memref.AllocaOp) and memory_space(op.memref) == amx.SCOPE
    if is_tile or op.dialect_name() == amx.Amx.name:
        return f"'{op.name}' works on tiles of a processor, for which C has no words: compile for a target without them"
    if computes_in_bfloat16(op):
        return f"'{op.name}' computes with bf16: run loop-widen-bfloat16 before"
    return None if type(op) in handlers else f"the C backend does not know '{name_of(op)}' here"
