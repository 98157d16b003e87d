"""Canonicalization of loop: what an operation shows by itself. What takes ranges of indices is `loop-simplify`'s."""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.loop.access import ApplyOp
from tilework.dialects.loop.control import ForOp, IfOp
from tilework.dialects.support.inlining import replace_by_block


class EmptyRange(RewritePattern):
    """A loop from a bound to one that is never larger does not run."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        extent = op.extent.constant
        if extent is not None and extent <= 0:
            rewriter.erase(op)


class ConstantCondition(RewritePattern):
    """Conditions that always hold go; a conditional whose truth is known is replaced by the branch that runs."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        conditions = op.conditions
        open_ = [p for p in conditions if p.constant is None]
        if any(p.constant is False for p in conditions):
            if op.else_body.blocks:
                replace_by_block(op, op.else_body.block, rewriter)
            else:
                rewriter.erase(op)
        elif not open_:
            replace_by_block(op, op.then_body.block, rewriter)
        elif len(open_) < len(conditions):
            op.set_conditions(open_)
            rewriter.notify_op_modified(op)


class TrivialApply(RewritePattern):
    """An index expression that is one operand is that operand; one without operands is a constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ApplyOp, rewriter: PatternRewriter) -> None:
        value = op.value
        if value.as_var is not None:
            rewriter.replace(op, [], [op.index_operands[0]])
        elif value.constant is not None:
            rewriter.replace(op, ConstantOp(IntegerAttr(value.constant, IndexType())))
