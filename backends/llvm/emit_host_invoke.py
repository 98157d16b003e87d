"""Calls of host functions: tables on the stack, and a frame behind the caller's in the arena.

A function that is called is like the entry, but for one more number behind its symbols: the address where the room for
frames ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilework.backends.frames import LEAST_FRAME, STACK_BYTES, TOO_DEEP
from tilework.backends.llvm.emit_host_memory import HostEmitter
from tilework.backends.llvm.emit_index import IndexWriter
from tilework.backends.llvm.emitter import Handlers
from tilework.backends.llvm.text import global_name
from tilework.dialects.loop import InvokeOp


def entry_frame_end(e: HostEmitter) -> str:
    """The entry's address of the end of the room for frames."""
    start = e.text.value("ptrtoint ptr %arena to i64")
    return e.text.value(f"add i64 {start}, {e.dims_text(e.frame_bytes + STACK_BYTES)}", "frames.end")


def callee_frame_end(e: HostEmitter, symbols: int) -> str:
    """The same in a function that is called and has so many symbols."""
    slot = e.text.value(f"getelementptr i64, ptr %symbols, i64 {symbols}")
    return e.text.value(f"load i64, ptr {slot}, align 8", "frames.end")


def _invoke(e: HostEmitter, op: InvokeOp) -> None:
    """A call that fails, as it has no room or for a reason of its own, fails the caller."""
    text, callee = e.text, e.invoked[op.function_name]
    inputs = _table(e, "ptr", [e.get(v) for v in op.inputs])
    outputs = _table(e, "ptr", [e.get(v) for v in op.outputs])
    symbols = _table(e, "i64", [*(e.get(v) for v in op.symbols), e.frame_end])
    given = dict(zip(callee.symbols, (e.get(v) for v in op.symbols), strict=True))
    own = _frame(e, e.dims_text(e.frame_bytes))
    needed = _frame(e, IndexWriter(text, lambda key: given[str(key)]).expr(callee.frame_bytes))
    frame = text.value(f"getelementptr i8, ptr %arena, i64 {own}", "frame")
    end = text.value(f"add i64 {text.value(f'ptrtoint ptr {frame} to i64')}, {needed}")
    e.return_unless(text.value(f"icmp ule i64 {end}, {e.frame_end}"), TOO_DEEP)
    arguments = f"ptr {inputs}, ptr {outputs}, ptr %parameters, ptr {frame}, ptr {symbols}, i32 {e.threads}"
    status = text.value(f"call i32 {global_name(op.function_name)}({arguments}, ptr %devices)", "status")
    succeeded, failed = text.fresh("succeeded"), text.fresh("failed")
    text.branch_if(text.value(f"icmp eq i32 {status}, 0"), succeeded, failed)
    text.start(failed)
    e.leave(status)
    text.start(succeeded)


def _frame(e: HostEmitter, size: str) -> str:
    """The bytes of a frame, at a multiple of 64."""
    most = e.text.value(f"call i64 @llvm.smax.i64(i64 {size}, i64 {LEAST_FRAME})")
    return e.text.value(f"and i64 {e.text.value(f'add i64 {most}, 63')}, -64")


def _table(e: HostEmitter, type_: str, values: Sequence[str]) -> str:
    """Values side by side on the stack."""
    table = e.text.entry(f"alloca [{max(len(values), 1)} x {type_}], align 8", "table")
    for i, value in enumerate(values):
        slot = e.text.value(f"getelementptr {type_}, ptr {table}, i64 {i}")
        e.text.line(f"store {type_} {value}, ptr {slot}, align 8")
    return table


INVOKE_HANDLERS: Handlers = {InvokeOp: _invoke}
