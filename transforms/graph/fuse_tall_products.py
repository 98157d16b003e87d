"""One kernel of a transposition and the product that sums along it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.tall_products import sums_much
from tilework.dialects.graph.dense import MatmulOp
from tilework.dialects.graph.movement import TransposeOp
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.fuse_operators import outline
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class FuseTallProducts(GraphPatternPass):
    """Put the transposition of a tall matrix and the product that sums along it into one graph.fused.

    %t = graph.transpose %x {permutation = [1, 0]}         %y = graph.fused "transpose_matmul" (%x, %z) {
    %y = graph.matmul %t, %z                          ->     %t = graph.transpose %a {permutation = [1, 0]}
                                                             %r = graph.matmul %t, %b
                                                             graph.yield %r
                                                           }

    A product of few results that sums very many terms, as `X'X` and `X'y` of a table with many rows, reads both
    matrices row by row, so that the transposed one need not be in memory: writing it would take as long as the product.
    Of a transposition that several operators read, each product gets its own. Run it before graph-fuse-operators.
    Requires nothing.
    """

    name = "graph-fuse-tall-products"


class FuseTransposition(RewritePattern):
    """matmul(transpose(x), z), of few results that each sum many terms, becomes one kernel."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter) -> None:
        transpose = op.left.owner
        if not isinstance(transpose, TransposeOp):
            return
        if tuple(transpose.permutation.get_values()) != (1, 0) or len(dims_of(op.right.type)) != 2:
            return
        rows, length = dims_of(op.left.type)
        if not sums_much(rows, dims_of(op.right.type)[1], length):
            return
        if not transpose.result.has_one_use():
            transpose = transpose.clone()
            rewriter.insert(transpose)
            rewriter.replace(op, product := MatmulOp.of(transpose.result, op.right))
            op = product
        rewriter.notify_op_modified(outline([transpose, op]))
