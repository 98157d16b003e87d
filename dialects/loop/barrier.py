"""Barriers between threads."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All threads of a block wait for each other here, and see what the others have written before.

    loop.barrier
    """

    name = "loop.barrier"
    assembly_format = "attr-dict"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
