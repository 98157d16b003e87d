"""Products with parameters become layers, whose weights have one row per output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, values_from_parameters
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.movement import TransposeOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class TransposeWeights(TileworkPass):
    """Turn `graph.matmul` by a matrix that depends on parameters only into `graph.dense` by its transpose.

    %y = graph.matmul %x, %w : (8x64, 64x32)   ->   %v = graph.transpose %w {permutation = [1, 0]}
                                                    %y = graph.dense %x, %v : (8x64, 32x64)

    A block of outputs then is a block of rows of the weight, which `pack-parameters` can put in one piece. Run it
    before graph-fold-parameters, which computes the transpose once. Requires nothing.
    """

    name = "graph-transpose-weights"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        known = values_from_parameters(op)
        for product in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, MatmulOp)]:
            if product.right in known and product.left not in known and len(dims_of(product.right.type)) == 2:
                _replace(product)


def _replace(product: MatmulOp) -> None:
    transpose = TransposeOp.of(product.right, permutation=ints([1, 0]))
    dense = DenseOp.of(product.left, transpose.result)
    for new in (transpose, dense):
        copy_location(new, product)
    dense.result.name_hint = product.result.name_hint
    Rewriter.insert_op(transpose, InsertPoint.before(product))
    Rewriter.replace_op(product, dense)
