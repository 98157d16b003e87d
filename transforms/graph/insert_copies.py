"""Tensors that another device reads are copied to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.program_targets import DEVICE, HOST
from tilework.analysis.tensor_devices import device_of_tensor, device_reading
from tilework.dialects.graph.structure import CopyOp, FusedOp, ParameterOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class InsertCopies(GraphPatternPass):
    """Insert a copy where a tensor is made on one device and read on another.

    %y = graph.fused "conv" (%x) ... attributes {device = "npu0"}       %d = graph.copy %x to "npu0"
    func.return %y                                                 ->   %y = graph.fused "conv" (%d) ...
                                                                        %h = graph.copy %y to "host"
                                                                        func.return %h

    All readers on a device share one copy. From one device to another it goes by way of the host. Parameters are not
    copied while the program runs: they are uploaded when it is loaded. A view is where its operand is; every other
    operation outside of a group reads the host's memory.
    Requires graph-fuse-operators; leaves every group with operands in the memory of its device.
    """

    name = "graph-insert-copies"

    def operations(self, op: Operation) -> Iterable[Operation]:
        operations = list(super().operations(op))
        groups = (o for o in operations if isinstance(o, FusedOp))
        return operations if any(DEVICE in group.attributes for group in groups) else ()


class CopyOperands(RewritePattern):
    """An operation reads, in place of a tensor on another device, a copy on its own."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        device = device_reading(op)
        if device is None:
            return
        for index, value in enumerate(op.operands):
            if device_of_tensor(value) != device:
                op.operands[index] = _on(device, value, op, rewriter)
                rewriter.notify_op_modified(op)


def _on(device: str, value: SSAValue, reader: Operation, rewriter: PatternRewriter) -> SSAValue:
    """The tensor in the memory of a device: made there before for another reader, or now."""
    source = value.owner
    if isinstance(source, ParameterOp):
        new: ParameterOp | CopyOp = ParameterOp(source.sym_name.data, value.type)
        new.attributes[DEVICE] = StringAttr(device)
    else:
        copies = (use.operation for use in value.uses if isinstance(use.operation, CopyOp))
        found = next((c for c in copies if c.device.data == device and c.parent is reader.parent), None)
        if found is not None:
            return found.result
        if HOST not in (device, device_of_tensor(value)):
            value = _on(HOST, value, reader, rewriter)
        new = CopyOp(value, device)
    new.result.name_hint = value.name_hint
    copy_location(new, reader)
    rewriter.insert(new, InsertPoint.before(reader))
    return new.result
