"""What a copy between the memories of the host and of a device asks of that device: the same for every back end."""

from __future__ import annotations

from typing import Literal

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.utils.hints import isa

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.tilework import device_of_buffer


def copy_asked(op: memref.CopyOp) -> tuple[str, Literal["copy_in", "copy_out"]] | None:
    """The device, and the function of its table that copies; None for a copy inside of the host's memory.

    Raises CompileError for a copy between two devices, and for one of buffers that have gaps between their rows.
    """
    source, target = (device_of_buffer(value.type) for value in (op.source, op.destination))
    if source is None and target is None:
        return None
    if source is not None and target is not None:
        raise CompileError("a tensor goes from one device to another by way of the host", op)
    for value in (op.source, op.destination):
        if not isa(value.type, MemRefType) or not isinstance(value.type.layout, NoneAttr):
            raise CompileError("what is copied to a device, or from it, has no gaps between its rows", op)
    return (target, "copy_in") if target is not None else (str(source), "copy_out")
