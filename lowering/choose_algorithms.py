"""Convolutions get the algorithm that the target's rules expect to be fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import body_of
from tilework.analysis.parameters import is_compiled
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.locations import copy_location
from tilework.lowering.algorithms import algorithms_for, conv_of_parameter, products_for, use_winograd, winograd_weight
from tilework.targets.parse import parse_target
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class ChooseAlgorithms(TileworkPass):
    """Let a convolution take Winograd's algorithm where the rule for its kernel expects that to be faster.

    %y = graph.fused "conv" (%x, %w) {         %u = graph.winograd_weight %w {tile = 4}
      %c = graph.conv %a, %b              ->   %y = graph.fused "conv" (%x, %u) {
                                                 %c = graph.winograd_conv %a, %v {tile = 4}

    Only with weights that are parameters: `graph-fold-parameters` moves their transform into @prepare. `precision` is
    "default", which allows tiles whose results differ by about 1e-5 of the largest, or "strict", which allows those
    that are as accurate as the direct sum. Requires graph-fuse-operators; leaves as many kernels as there were.
    """

    name = "choose-algorithms"
    anchor: ClassVar = FuncOp
    numerics: ClassVar = "reassociates"

    target: str = "llvm"
    precision: str = "default"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        products = products_for(self.precision)
        if not is_compiled(op):
            return
        algorithms = algorithms_for(parse_target(self.target), products)
        transformed: dict[tuple[SSAValue, int, int], SSAValue] = {}
        for group in [o for o in body_of(op).ops if isinstance(o, FusedOp)]:
            conv = conv_of_parameter(group)
            tile = None if conv is None else algorithms.best_for(group).tile
            if conv is None or tile is None:
                continue
            assert isinstance(conv.weight, BlockArgument)
            number = conv.weight.index
            key = (group.inputs[number], tile, conv.strides.get_values()[0])
            if key not in transformed:
                transformed[key] = _transform(group, number, conv, tile)
            use_winograd(conv, tile)
            group.operands[number] = transformed[key]


def _transform(group: FusedOp, number: int, conv: ConvOp, tile: int) -> SSAValue:
    """Transform the weight that is an operand of the group, in front of it."""
    weight = group.inputs[number]
    op = winograd_weight(weight, conv, tile)
    op.result.name_hint = weight.name_hint
    copy_location(op, group)
    Rewriter.insert_op(op, InsertPoint.before(group))
    return op.result
