"""When the buffers of a host function are in use: from which operation of its body to which."""

from __future__ import annotations

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.accesses import VIEWS
from tilework.dialects.diagnostics import CompileError


def top_level(op: Operation, body: Block) -> Operation:
    """The operation of `body` that is `op` or holds it."""
    while op.parent is not body:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def buffer_uses(buffer: SSAValue, body: Block, steps: dict[Operation, int]) -> list[int]:
    """The steps of `body` that access a buffer, under whatever name; taking a view of it is no access.

    An operation with regions counts as one step; its memref results count as names of every buffer that it uses.
    Raises CompileError where the buffer is returned.
    """
    found: list[int] = []
    names, seen = [buffer], {buffer}
    while names:
        for use in names.pop().uses:
            op = use.operation
            outer = top_level(op, body)
            if isinstance(op, func.ReturnOp):
                raise CompileError("a temporary is returned: a host function writes its results to arguments", op)
            aliases = {r for o in (op, outer) for r in o.results if isinstance(r.type, MemRefType)} - seen
            names += aliases
            seen |= aliases
            if not isinstance(op, (*VIEWS, memref.DeallocOp, memref.DimOp)):
                found.append(steps[outer])
    return found
