"""Erasing what a rewrite has left without a use."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tilework.dialects.graph.base import GraphOp


def erase_unused(value: SSAValue, rewriter: PatternRewriter) -> None:
    """Erase what computes a value that nothing reads any more, and what computed only that."""
    op = value.owner
    if isinstance(op, GraphOp) and not any(result.uses for result in op.results):
        operands = list(op.operands)
        rewriter.erase(op)
        for operand in operands:
            erase_unused(operand, rewriter)
