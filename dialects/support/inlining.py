"""Putting the body of an operation in its place: what several canonicalizations end in."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator


def replace_by_block(op: Operation, block: Block, rewriter: PatternRewriter) -> None:
    """Replace `op` by what `block`, a body of it without arguments, holds; a terminator's operands are the results."""
    values: list[SSAValue] = []
    last = block.last_op
    if last is not None and last.has_trait(IsTerminator):
        values = list(last.operands)
        rewriter.erase(last)
    rewriter.inline_block(block, InsertPoint.before(op))
    rewriter.replace(op, [], values)
