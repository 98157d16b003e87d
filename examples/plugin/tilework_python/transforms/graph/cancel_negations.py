"""Cancel negations of negations."""

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.graph import NegOp
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class CancelNegations(GraphPatternPass):
    """Replace a negation of a negation by what is negated.

        %1 = graph.neg %0
        %2 = graph.neg %1        ->     %0

    Exact: a negation changes the sign and nothing else. A first one that nobody else reads stays behind, dead.
    """

    name = "graph-cancel-negations"


class TwoNegations(RewritePattern):
    """neg(neg(x)) is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.input.owner, NegOp):
            return
        rewriter.replace(op, [], [op.input.owner.input])
