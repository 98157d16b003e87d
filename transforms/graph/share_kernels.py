"""Numbers that are all that distinguishes kernels become arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import graphs_of
from tilework.analysis.group_content import content_of
from tilework.analysis.parameters import is_compiled
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.shapes import dims_of
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class ShareKernels(TileworkPass):
    """Take the numbers out of kernels that are the same but for these, so that one is compiled for all of them.

    %y = graph.fused "mul" (%x) {                     %c = arith.constant dense<0.02> : tensor<f32>
      %c = arith.constant dense<0.02>                 %y = graph.fused "mul" (%x, %c) {
      graph.mul %a, %c                          ->      graph.mul %a, %b
    %z = graph.fused "mul" (%y) {                     %d = arith.constant dense<0.03> : tensor<f32>
      %d = arith.constant dense<0.03>                 %z = graph.fused "mul" (%y, %d) {
      graph.mul %a, %d                                  graph.mul %a, %b

    Such are the scales of quantized networks, one for every tensor. Numbers that are the same in all of them stay.
    Requires graph-fuse-operators; graph-fold-parameters behind it makes parameters of the numbers.
    """

    name = "graph-share-kernels"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        alike: dict[Hashable, list[FusedOp]] = {}
        for group in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, FusedOp)]:
            alike.setdefault(content_of(group.body.block, but_for=_numbers(group)), []).append(group)
        for groups in alike.values():
            numbers = [_numbers(group) for group in groups]
            differ = [len({op.value for op in one}) > 1 for one in zip(*numbers, strict=True)]
            for group, own in zip(groups, numbers, strict=True):
                _take_out(group, [number for number, differs in zip(own, differ, strict=True) if differs])


def _numbers(group: FusedOp) -> list[ConstantOp]:
    """The constants of one element in a group."""
    constants = (op for op in group.body.block.ops if isinstance(op, ConstantOp))
    return [op for op in constants if prod(d.offset for d in dims_of(op.result.type)) == 1]


def _take_out(group: FusedOp, numbers: Sequence[ConstantOp]) -> None:
    """Let a group take constants of its own as further operands."""
    body = group.body.block
    for number in numbers:
        argument = body.insert_arg(number.result.type, len(body.args))
        argument.name_hint = number.result.name_hint
        number.result.replace_all_uses_with(argument)
        number.detach()
        Rewriter.insert_op(number, InsertPoint.before(group))
        group.operands = [*group.operands, number.result]
