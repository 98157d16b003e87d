"""Calls of host functions: tables on the stack, and a frame behind the caller's in the arena.

A function that is called is like the entry, but for one more number behind its symbols: the address where the room for
frames ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilework.algebra.c_index import CIndex
from tilework.algebra.c_names import c_name
from tilework.backends.c_family.emit_host_memory import HostEmitter
from tilework.backends.c_family.emit_index import use_index_function
from tilework.backends.c_family.emitter import Handlers
from tilework.backends.frames import LEAST_FRAME, STACK_BYTES, TOO_DEEP
from tilework.dialects.loop import InvokeOp


def entry_frame_end(e: HostEmitter) -> str:
    """The entry's address of the end of the room for frames."""
    return e.variable("int64_t", f"(int64_t)arena + ({e.dims_text(e.frame_bytes + STACK_BYTES)})", "frames_end")


def callee_frame_end(e: HostEmitter, symbols: int) -> str:
    """The same in a function that is called and has so many symbols."""
    return e.variable("int64_t", f"symbols[{symbols}]", "frames_end")


def _invoke(e: HostEmitter, op: InvokeOp) -> None:
    """A call that fails, as it has no room or for a reason of its own, fails the caller."""
    callee = e.invoked[op.function_name]
    inputs = _table(e, "void *", [f"(void *){e.get(v)}" for v in op.inputs])
    outputs = _table(e, "void *", [e.get(v) for v in op.outputs])
    symbols = _table(e, "int64_t ", [*(e.get(v) for v in op.symbols), e.frame_end])
    given = dict(zip(callee.symbols, (e.get(v) for v in op.symbols), strict=True))
    writer = CIndex(lambda key: given[str(key)], lambda name: use_index_function(e, name))
    own, needed = _frame(e, e.dims_text(e.frame_bytes)), _frame(e, writer.operand(callee.frame_bytes))
    frame = e.variable("int64_t", f"(int64_t)arena + {own}", "frame")
    e.return_unless(f"({frame} + {needed} <= {e.frame_end})", TOO_DEEP)
    arguments = f"{inputs}, {outputs}, parameters, (void *){frame}, {symbols}, {e.threads}, {e.device_table}"
    status = e.variable("int32_t", f"{c_name(op.function_name)}({arguments})", "status")
    leave = f"return {status};" if e.heap is None else f"{{ {e.heap.released()} return {status}; }}"
    e.text.line(f"if ({status}) {leave}")


def _frame(e: HostEmitter, size: str) -> str:
    """The bytes of a frame, at a multiple of 64."""
    return e.variable("int64_t", f"(({size} > {LEAST_FRAME} ? {size} : {LEAST_FRAME}) + 63) & -64", "bytes")


def _table(e: HostEmitter, type_: str, values: Sequence[str]) -> str:
    """Values side by side on the stack."""
    table = e.text.fresh("table")
    e.text.line(f"{type_}{table}[] = {{{', '.join(values) or '0'}}};")
    return table


INVOKE_HANDLERS: Handlers = {InvokeOp: _invoke}
