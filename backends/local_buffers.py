"""What a local buffer of a kernel may be on a processor: constant in size, and with others no larger than a stack."""

from __future__ import annotations

from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX

from tilework.analysis.accesses import memory_space
from tilework.backends.element_types import bytes_of, stored_as
from tilework.dialects.support.diagnostics import CompileError

STACK_LIMIT = 800 << 10
"""How many bytes of local buffers one function may have: a thread's stack may be a megabyte, and caches are less."""

DEVICE_SCOPES = ("shared", "warp")
"""Memory that only devices with threads of their own have."""


def check_scope(op: memref.AllocaOp) -> None:
    """Raise CompileError for a buffer in memory that a processor does not have."""
    if (scope := (memory_space(op.memref) or "").partition(".")[0]) in DEVICE_SCOPES:
        raise CompileError(f"a CPU has no {scope} memory; use scope local or register", op)


def element_count(op: memref.AllocaOp) -> int:
    """How many elements a buffer has. Raises CompileError where that is not known."""
    shape = op.memref.type.get_shape()
    if DYNAMIC_INDEX in shape:
        raise CompileError(f"a local buffer has constant extents, not {op.memref.type}", op)
    return prod(shape)


def bytes_with(op: memref.AllocaOp, taken: int, function: str) -> int:
    """The local bytes of a function that has taken so many, with this buffer's. CompileError if there are too many."""
    type_ = op.memref.type
    total = taken + element_count(op) * bytes_of(stored_as(type_.element_type, op), op)
    if total > STACK_LIMIT:
        raise CompileError(
            f"local buffer '{op.memref.name_hint or 'local'}' of type {type_} brings the stack of '{function}' to "
            f"{total} bytes: at most {STACK_LIMIT} fit; compute it at an inner loop, or at the root, where it becomes "
            "scratch",
            op,
        )
    return total
