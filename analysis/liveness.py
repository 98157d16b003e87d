"""When the buffers of a host function are in use: from which operation to which."""

from __future__ import annotations

from itertools import count
from typing import TypeAlias

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tilework.analysis.accesses import VIEWS
from tilework.dialects.support.diagnostics import CompileError

Span: TypeAlias = "tuple[int, int]"
"""The first and the last step that an operation takes; one with regions begins before and ends after all inside."""


def top_level(op: Operation, body: Block) -> Operation:
    """The operation of `body` that is `op` or holds it."""
    while op.parent is not body:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def spans_of(body: Block) -> dict[Operation, Span]:
    """The steps of every operation in a block, as they follow each other in the text."""
    spans: dict[Operation, Span] = {}
    steps = count()

    def number(block: Block) -> None:
        for op in block.ops:
            first = last = next(steps)
            for inside in (b for region in op.regions for b in region.blocks):
                number(inside)
                last = next(steps)
            spans[op] = first, last

    number(body)
    return spans


def buffer_uses(buffer: SSAValue, spans: dict[Operation, Span]) -> list[Span]:
    """The steps that access a buffer, under whatever name; taking a view of it is no access.

    A loop around an access, but not around the buffer's allocation, accesses it in all of its steps. Memref results of
    an operation with regions count as names of every buffer that it uses. Raises CompileError where the buffer is
    returned.
    """
    owner = buffer.owner
    home = owner if isinstance(owner, Block) else owner.parent
    while True:
        assert home is not None
        found = _uses_inside(buffer, home, spans)
        if found is not None:
            return found
        home = home.parent_block()


def _uses_inside(buffer: SSAValue, home: Block, spans: dict[Operation, Span]) -> list[Span] | None:
    """The steps of operations of `home`; None where it hands the buffer on to the block around it."""
    found: list[Span] = []
    names, seen = [buffer], {buffer}
    while names:
        for use in names.pop().uses:
            op = use.operation
            outer = top_level(op, home)
            if isinstance(op, func.ReturnOp):
                raise CompileError("a temporary is returned: a host function writes its results to arguments", op)
            if outer is op and op.has_trait(IsTerminator):
                return None
            aliases = {r for o in (op, outer) for r in o.results if isinstance(r.type, MemRefType)} - seen
            names += aliases
            seen |= aliases
            if not isinstance(op, (*VIEWS, memref.DeallocOp, memref.DimOp)):
                found.append(spans[outer])
    return found
