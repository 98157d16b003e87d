"""Vectors on devices whose threads compute with one number at a time."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.loop import ForOp, KernelOp, Kind, KindAttr
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    return "a vectorized loop" if isinstance(op, ForOp) and op.kind.data is Kind.VECTORIZED else None


@dataclass(frozen=True)
class UnrollLanes(PatternPass):
    """Unroll vectorized loops: a thread of a device computes with the lanes one after the other.

    loop.for %i = 0 to 4 "i" vectorized { .. }  ->  loop.for %i = 0 to 4 "i" unrolled { .. }

    Lanes that lie side by side in memory are one access all the same where the code generator, or the device's
    compiler, knows that they are aligned. Requires nothing; leaves no vectorized loops.
    """

    name = "loop-unroll-lanes"
    anchor = KernelOp
    legal_after = staticmethod(_legal)


class LanesOneByOne(RewritePattern):
    """The lanes of a vectorized loop are its iterations, unrolled."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if op.kind.data is Kind.VECTORIZED:
            op.properties["kind"] = KindAttr(Kind.UNROLLED)
            rewriter.notify_op_modified(op)
