"""Convolutions and products get the algorithm that the target's rules expect to be fastest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.functions import graphs_of
from tilework.analysis.precision import precision_of
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.graph.algorithms import (
    Algorithms,
    algorithms_for,
    product_with_parameter,
    use_algorithm,
)
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class ChooseAlgorithms(GraphPatternPass):
    """Compute convolutions and layers by the algorithms that the rules for their kernels expect to be fastest.

    %y = graph.fused "conv" (%x, %w) {         %u = graph.winograd_weight %w {tile = 4}
      %c = graph.conv %a, %b              ->   %y = graph.fused "conv" (%x, %u) {
                                                 %c = graph.winograd_conv %a, %v {tile = 4}

    Only with weights that are parameters: `graph-fold-parameters` moves their transform into @prepare. `precision` is
    "default", which allows results that differ by about 1e-5 of the largest in the tensor, or "strict", which allows
    Winograd's algorithm with tiles that are as accurate as the direct sum. The algorithms are the files of
    `rules/algorithms`; what several kernels prepare alike, `cse` makes one. Requires graph-fuse-operators.
    """

    name = "choose-algorithms"
    numerics: ClassVar = "reassociates"

    precision: str = "default"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        target, precision = target_of(op), precision_of(self.precision)
        return [UseFastest({graph: algorithms_for(target, precision, graph) for graph in graphs_of(op)})]

    def run(self, ctx: Context, op: Operation) -> None:
        precision_of(self.precision)  # refused where there is nothing to compile, too
        super().run(ctx, op)


@dataclass(frozen=True)
class UseFastest(RewritePattern):
    """A kernel computes its convolution or layer by the fastest algorithm, of a weight that is transformed for it.

    algorithms: those for the kernels of each graph.
    """

    algorithms: Mapping[Block, Algorithms]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        product, graph = product_with_parameter(op), op.parent_block()
        if product is None or graph is None or not is_on_host(op):
            return
        algorithm = self.algorithms[graph].best_for(op).algorithm
        if algorithm is None:
            return
        assert isinstance(product.weight, BlockArgument)
        weight, argument = product.weight.index, algorithm.argument(product)
        made = {weight: algorithm.transform(op.inputs[weight], product)}
        if argument is not None:  # what several kernels prepare alike is made one by `cse`
            made[argument] = [algorithm.prepare(product, op.inputs[argument])]
        for index, operations in made.items():
            op.operands[index] = _inserted(operations, op, op.inputs[index], rewriter)
        use_algorithm(product, algorithm)
        rewriter.notify_op_modified(op)


def _inserted(made: Sequence[Operation], group: FusedOp, value: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    """What is made of an operand, by operations that are inserted in front of a group."""
    for op in made:
        op.results[0].name_hint = value.name_hint
        copy_location(op, group)
    rewriter.insert(made, InsertPoint.before(group))
    return made[-1].results[0]
