"""Vectors of devices whose threads are the lanes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.loop import ForOp, KernelOp, Kind
from tilework.dialects.loop.control import KindAttr
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    if isinstance(op, ForOp) and op.kind.data is Kind.VECTORIZED:
        return f"loop '{op.axis.data}' is vectorized"
    return None


@dataclass(frozen=True)
class UnrollLanes(PatternPass):
    """Let the lanes of a vectorized loop be statements one after the other.

    loop.for %i = 0 to 4 "i" vectorized { .. }   ->   loop.for %i = 0 to 4 "i" unrolled { .. }

    It is for devices that run a thread in each lane of their vectors: a thread has numbers alone, and what it loads
    from places that follow each other the device's compiler joins. Leaves no vectorized loop.
    """

    name = "loop-unroll-lanes"
    anchor = KernelOp
    legal_after = staticmethod(_legal)


class LanesToStatements(RewritePattern):
    """A vectorized loop is an unrolled one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if op.kind.data is Kind.VECTORIZED:
            op.kind = KindAttr(Kind.UNROLLED)
            rewriter.notify_op_modified(op)
