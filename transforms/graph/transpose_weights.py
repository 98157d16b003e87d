"""Products with parameters become layers, whose weights have one row per output."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.parameters import values_from_parameters
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.movement import TransposeOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer


@dataclass(frozen=True)
class TransposeWeights(GraphPatternPass):
    """Turn `graph.matmul` by a matrix that depends on parameters only into `graph.dense` by its transpose.

    %y = graph.matmul %x, %w : (8x64, 64x32)   ->   %v = graph.transpose %w {permutation = [1, 0]}
                                                    %y = graph.dense %x, %v : (8x64, 32x64)

    A block of outputs then is a block of rows of the weight, which `pack-parameters` can put in one piece. Run it
    before graph-fold-parameters, which computes the transpose once. Requires nothing.
    """

    name = "graph-transpose-weights"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        return [TransposeWeight(values_from_parameters(op))]


@dataclass(frozen=True)
class TransposeWeight(RewritePattern):
    """matmul(x, w) is dense(x, w'), where w is a matrix that is known before the first run and x is not.

    known: the values that depend on parameters only.
    """

    known: Set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter) -> None:
        if op.right not in self.known or op.left in self.known or len(dims_of(op.right.type)) != 2:
            return
        weight = Writer(rewriter, op).insert(TransposeOp.of(op.right, permutation=ints([1, 0])))
        dense = DenseOp.of(op.left, weight)
        copy_location(dense, op)
        rewriter.replace(op, dense)
