"""Convolutions and products get the algorithm that the target's rules expect to be fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.precision import precision_of
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.algorithms import (
    Algorithms,
    Fast,
    Product,
    Words,
    algorithms_for,
    product_with_parameter,
    transform_weight,
    use_fast,
)
from tilework.transforms.graph.words_of_groups import argument_for_words, words_axis, words_group, words_of


@dataclass(frozen=True)
class ChooseAlgorithms(TileworkPass):
    """Let a convolution take Winograd's algorithm, a product of matrices Strassen's or numbers of bfloat16, one of
    bytes words, and a layer with few rows weights of 24 or 28 bits, where the rule for its kernel expects that to be
    faster.

    %y = graph.fused "conv" (%x, %w) {         %u = graph.winograd_weight %w {tile = 4}
      %c = graph.conv %a, %b              ->   %y = graph.fused "conv" (%x, %u) {
                                                 %c = graph.winograd_conv %a, %v {tile = 4}

    Only with weights that are parameters: `graph-fold-parameters` moves their transform into @prepare. `precision` is
    "default", which allows results that differ by about 1e-5 of the largest in the tensor, or "strict", which allows
    Winograd's algorithm with tiles that are as accurate as the direct sum. Words are the same memory where their bytes
    are side by side, in rows or in blocks of channels; else a kernel more puts them together. Requires
    graph-fuse-operators.
    """

    name = "choose-algorithms"
    anchor: ClassVar = FuncOp
    numerics: ClassVar = "reassociates"

    precision: str = "default"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        precision = precision_of(self.precision)
        if not is_compiled(op):
            return
        target = target_of(op)
        for graph in graphs_of(op):
            _choose(graph, algorithms_for(target, precision, graph))


def _choose(graph: Block, algorithms: Algorithms) -> None:
    """Let every group of a graph take the fastest of them."""
    words: dict[tuple[SSAValue, int], SSAValue] = {}
    for group in [o for o in graph.ops if isinstance(o, FusedOp) and is_on_host(o)]:
        product = product_with_parameter(group)
        fast = None if product is None else algorithms.best_for(group).fast
        if product is not None and fast is not None:
            assert isinstance(product.weight, BlockArgument)
            number = product.weight.index
            group.operands[number] = _transform(group, number, fast, product)
            if isinstance(fast, Words):
                _take_words(group, product, fast.apart, words)
            use_fast(product, fast)


def _take_words(group: FusedOp, product: Product, apart: bool, known: dict[tuple[SSAValue, int], SSAValue]) -> None:
    """Let the operand whose bytes are multiplied be words: the same memory, or made by a kernel, once for all."""
    argument = argument_for_words(product, apart)
    assert argument is not None
    operand, axis = group.inputs[argument.index], words_axis(product, apart)
    if (operand, axis) not in known:
        if apart:
            words = words_group(operand, axis)
        else:
            [words] = words_of(operand, axis)
            words.attributes[VIEW] = UnitAttr()
        copy_location(words, group)
        Rewriter.insert_op(words, InsertPoint.before(group))
        known[operand, axis] = words.results[0]
    group.operands[argument.index] = known[operand, axis]


def _transform(group: FusedOp, number: int, fast: Fast, product: Product) -> SSAValue:
    """Transform the weight that is an operand of the group, in front of it."""
    weight = group.inputs[number]
    ops = transform_weight(weight, product, fast)
    for op in ops:
        op.results[0].name_hint = weight.name_hint
        copy_location(op, group)
    Rewriter.insert_op(ops, InsertPoint.before(group))
    return ops[-1].results[0]
