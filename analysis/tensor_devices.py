"""In whose memory the tensors of a graph are."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tilework.analysis.post_dominators import VIEW
from tilework.analysis.program_targets import DEVICE, HOST, device_of
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import CopyOp, FusedOp, ParameterOp


def device_of_tensor(value: SSAValue) -> str:
    """The device that a tensor is on: that of the kernel that makes it; arguments and parameters are on the host."""
    owner = value.owner
    while isinstance(owner, ReshapeOp) and VIEW in owner.attributes:
        owner = owner.input.owner
    if isinstance(owner, CopyOp):
        return owner.device.data
    if isinstance(owner, ParameterOp):
        named = owner.attributes.get(DEVICE)
        return named.data if isinstance(named, StringAttr) else HOST
    return device_of(owner) if isinstance(owner, FusedOp) else HOST


def device_reading(op: Operation) -> str | None:
    """The device that an operation reads its operands on; None for one that reads them wherever they are."""
    if isinstance(op, CopyOp) or (isinstance(op, ReshapeOp) and VIEW in op.attributes):
        return None
    return device_of(op) if isinstance(op, FusedOp) else HOST
