"""Erasing what a rewrite has left without a use."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.dialects.graph.base import GraphOp


def erase_unused(value: SSAValue) -> None:
    """Erase what computes a value that nothing reads any more, and what computed only that."""
    op = value.owner
    if isinstance(op, GraphOp) and not any(result.uses for result in op.results):
        operands = list(op.operands)
        op.detach()
        op.erase()
        for operand in operands:
            erase_unused(operand)
