"""Canonicalization of schedules: reorders that change nothing."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.schedule import (
    CacheReadOp,
    CacheWriteOp,
    FuseOp,
    ReindexOp,
    ReorderOp,
    RFactorOp,
    SequenceOp,
    SingletonOp,
    SplitOp,
    StageOp,
)


class IdleReorder(RewritePattern):
    """A reorder of axes that are in this order already is erased; that of a single axis always is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        sequence = op.parent_op()
        assert isinstance(sequence, SequenceOp)
        axes = list(op.axes)
        if len(axes) < 2 or [axis for axis in _order_before(op, sequence.body.block.ops) if axis in axes] == axes:
            rewriter.erase(op)


def _order_before(reorder: ReorderOp, ops: Iterable[Operation]) -> list[SSAValue]:
    """The leaf axes of all stages, those of one stage in its order, where `reorder` stands."""
    leaves: list[SSAValue] = []
    for op in ops:
        match op:
            case StageOp() | CacheWriteOp() | CacheReadOp() | ReindexOp():
                leaves += op.axes
            case RFactorOp():
                leaves = [*leaves, *op.axes, op.rest]
            case SingletonOp():
                leaves = [op.axis, *leaves]
            case SplitOp():
                at = leaves.index(op.axis)
                leaves[at : at + 1] = [op.outer, op.inner]
            case FuseOp():
                leaves[leaves.index(op.axes[0])] = op.fused
                leaves = [axis for axis in leaves if axis not in op.axes]
            case ReorderOp():
                if op is reorder:
                    break
                places = sorted(map(leaves.index, op.axes))
                for place, axis in zip(places, op.axes, strict=True):
                    leaves[place] = axis
            case _:
                pass
    return leaves
