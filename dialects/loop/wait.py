"""Waiting for a device."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def


@irdl_op_definition
class WaitOp(IRDLOperation):
    """Wait, on the host, until a device has run every kernel that it was asked to run.

    loop.wait "npu0"
    """

    name = "loop.wait"
    device = prop_def(StringAttr)
    assembly_format = "$device attr-dict"

    def __init__(self, device: str):
        super().__init__(properties={"device": StringAttr(device)})
