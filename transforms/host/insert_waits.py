"""The host waits for devices before it reads what they made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import memref
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.functions import body_of
from tilework.dialects.loop import CallOp, WaitOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.tilework import device_of_buffer
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class InsertWaits(PatternPass):
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

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        return [WaitFirst(_waits_of(op))]


@dataclass(frozen=True)
class WaitFirst(RewritePattern):
    """A copy, or the end of a function, that needs what devices are busy with comes behind a wait for them.

    waits: the devices, by the operations that have to wait.
    """

    waits: Mapping[Operation, Sequence[str]]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.CopyOp | ReturnOp, rewriter: PatternRewriter) -> None:
        for device in self.waits.get(op, ()):
            wait = WaitOp(device)
            copy_location(wait, op)
            rewriter.insert(wait)


def _waits_of(function: FuncOp) -> Mapping[Operation, Sequence[str]]:
    """The devices that each operation of a function has to wait for."""
    waits: dict[Operation, Sequence[str]] = {}
    if not function.is_declaration:
        _follow(body_of(function), frozenset(), waits)
    return waits


def _follow(block: Block, busy: Set[str], waits: dict[Operation, Sequence[str]]) -> Set[str]:
    """Note the waits of a block that is begun while these devices are busy; those that are when it ends."""
    for op in block.ops:
        match op:
            case CallOp() if op.device is not None:
                busy = busy | {op.device}
            case memref.CopyOp():
                source = device_of_buffer(op.source.type)
                if source is not None and source in busy and device_of_buffer(op.destination.type) != source:
                    waits[op] = [source]
                    busy = busy - {source}
            case ReturnOp():
                waits[op] = sorted(busy)
            case _:
                busy = _follow_regions(op, busy, waits)
    return busy


def _follow_regions(op: Operation, busy: Set[str], waits: dict[Operation, Sequence[str]]) -> Set[str]:
    """The same for the regions of a loop or a choice, which may run again, or not at all."""
    calls = (inside for inside in op.walk() if isinstance(inside, CallOp))
    begun = busy | {call.device for call in calls if call.device is not None}
    for region in op.regions:
        for block in region.blocks:
            _follow(block, begun, waits)
    return begun
