"""Canonicalization of te: conditions that are constant."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.support.inlining import replace_by_block
from tilework.dialects.te import IfThenElseOp


class ConstantChoice(RewritePattern):
    """Conditions that always hold go; a choice that is always the same is replaced by what it chooses."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfThenElseOp, rewriter: PatternRewriter) -> None:
        truths = [p.constant for p in op.conditions]
        open_ = [p for p in op.conditions if p.constant is None]
        if False in truths:
            replace_by_block(op, op.else_body.block, rewriter)
        elif not open_:
            replace_by_block(op, op.then_body.block, rewriter)
        elif len(open_) < len(truths):
            op.set_conditions(open_)
            rewriter.notify_op_modified(op)
