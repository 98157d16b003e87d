"""One kernel of a transposition and the product that sums along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled
from tilework.analysis.tall_products import sums_much
from tilework.dialects.graph.dense import MatmulOp
from tilework.dialects.graph.movement import TransposeOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.fuse_operators import outline


@dataclass(frozen=True)
class FuseTallProducts(TileworkPass):
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
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        for graph in graphs_of(op):
            assert graph.parent is not None
            PatternRewriteWalker(FuseTransposition(), apply_recursively=False).rewrite_region(graph.parent)


class FuseTransposition(RewritePattern):
    """matmul(transpose(x), z), of few results that each sum many terms, becomes one kernel."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter) -> None:
        transpose = op.left.owner
        if isinstance(op.parent_op(), FusedOp) or not isinstance(transpose, TransposeOp):
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
        outline([transpose, op])
