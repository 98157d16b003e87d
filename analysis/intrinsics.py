"""Intrinsics on buffers among loads and stores: what they touch, and which loops will become them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import loops_around
from tilework.dialects.loop import ForOp, StoreOp
from tilework.dialects.loop.annotations import TENSORIZE
from tilework.dialects.loop.parts import PartsOp


def written_buffers(op: Operation) -> set[SSAValue]:
    """The arguments and allocations that an operation and what it holds write to, views counted with what they view."""
    return {root_buffer(buffer) for inner in op.walk() for buffer in _written_by(inner)}


def _written_by(op: Operation) -> Iterator[SSAValue]:
    match op:
        case StoreOp():
            yield op.memref
        case PartsOp():
            yield from (part.memref for part in op.parts if part.form.is_written)
        case _:
            pass


def intrinsic_buffers(op: Operation) -> set[SSAValue]:
    """The arguments and allocations of which intrinsics on buffers in a kernel or a loop read or write a part."""
    return {root_buffer(part.memref) for inner in op.walk() if isinstance(inner, PartsOp) for part in inner.parts}


def is_tensorized(loop: ForOp) -> bool:
    """Whether a loop is to become an intrinsic, or part of one."""
    return any(TENSORIZE in around.attributes for around in (loop, *loops_around(loop)))
