"""The host waits for devices before it reads what they made."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import body_of
from tilework.dialects.loop import CallOp, WaitOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.tilework import device_of_buffer
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class InsertWaits(TileworkPass):
    """Wait for a device before a tensor is copied out of its memory, and for all of them before the function returns.

    loop.call @conv ins(%d) outs(%y) : memref<.., #tilework.device<"npu0">>, ..       loop.call @conv ins(%d) ..
    memref.copy %y, %h : memref<.., #tilework.device<"npu0">> to memref<..>      ->   loop.wait "npu0"
    func.return                                                                       memref.copy %y, %h ..
                                                                                      func.return

    A device runs kernels in the order of their calls, and what is copied to it is read before the copy returns, so
    that nothing else has to wait. Requires graph-to-te.
    """

    name = "host-insert-waits"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not op.is_declaration:
            _wait_in(body_of(op), frozenset())


def _wait_in(block: Block, busy: Set[str]) -> Set[str]:
    """Insert the waits of a block that is begun while these devices are busy; those that are when it ends."""
    for op in list(block.ops):
        match op:
            case CallOp() if op.device is not None:
                busy = busy | {op.device}
            case memref.CopyOp():
                source = device_of_buffer(op.source.type)
                if source is not None and source in busy and device_of_buffer(op.destination.type) != source:
                    _insert_wait(source, op)
                    busy = busy - {source}
            case ReturnOp():
                for device in sorted(busy):
                    _insert_wait(device, op)
            case _:
                busy = _wait_in_regions(op, busy)
    return busy


def _wait_in_regions(op: Operation, busy: Set[str]) -> Set[str]:
    """The same for the regions of a loop or a choice, which may run again, or not at all."""
    calls = (inside for inside in op.walk() if isinstance(inside, CallOp))
    begun = busy | {call.device for call in calls if call.device is not None}
    for region in op.regions:
        for block in region.blocks:
            _wait_in(block, begun)
    return begun


def _insert_wait(device: str, op: Operation) -> None:
    wait = WaitOp(device)
    copy_location(wait, op)
    Rewriter.insert_op(wait, InsertPoint.before(op))
