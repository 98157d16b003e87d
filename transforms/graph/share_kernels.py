"""Numbers that are all that distinguishes kernels become arguments."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, BlockArgument, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.group_content import content_of
from tilework.analysis.layout_classes import CHANNELS
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.program_targets import is_on_host
from tilework.analysis.views import has_constant_strides
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.movement import SliceOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.patterns import GraphPatternPass

Numbered: TypeAlias = ConstantOp | SliceOp

NUMBERS: Mapping[type[Operation], Sequence[str]] = {ConstantOp: ("value",), SliceOp: ("starts", "stops")}
"""The properties of these operators hold numbers that a kernel can be given instead."""


@dataclass(frozen=True)
class ShareKernels(GraphPatternPass):
    """Take the numbers out of kernels that are the same but for these, so that one is compiled for all of them.

    %y = graph.fused "mul" (%x) {                     %c = arith.constant dense<0.02> : tensor<f32>
      %c = arith.constant dense<0.02>                 %y = graph.fused "mul" (%x, %c) {
      graph.mul %a, %c                          ->      graph.mul %a, %b
    %z = graph.fused "mul" (%y) {                     %d = arith.constant dense<0.03> : tensor<f32>
      %d = arith.constant dense<0.03>                 %z = graph.fused "mul" (%y, %d) {
      graph.mul %a, %d                                  graph.mul %a, %b

    %y = graph.fused "slice" (%x) {                   %p = graph.slice %x {graph.view, starts = [8], stops = [16]}
      graph.slice %a {starts = [8], stops = [16]} ->  %y = graph.fused "slice" (%p) {
                                                        graph.slice %a {starts = [0], stops = [8]}

    Such are the scales of quantized networks, one for every tensor, and the parts that a tensor is split into. Numbers
    that are the same in all of them stay. Of an image that kernels make, channels are not taken apart: they may come to
    lie in blocks. On devices numbers are parts of instructions, and stay. Requires graph-fuse-operators;
    graph-fold-parameters behind it makes parameters of the numbers.
    """

    name = "graph-share-kernels"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        groups = [o for o in self.operations(op) if isinstance(o, FusedOp) and is_on_host(o)]
        return [TakeNumbersOut(_telling_apart(groups))]


@dataclass(frozen=True)
class TakeNumbersOut(RewritePattern):
    """A kernel of a number n is a kernel of an operand, which is n.

    numbers: for each kernel, those by which it differs from others that compute the same but for such.
    """

    numbers: Mapping[FusedOp, Sequence[Numbered]]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        for number in self.numbers.get(op, ()):
            _take_out(op, number, rewriter)


def _telling_apart(groups: Iterable[FusedOp]) -> dict[FusedOp, list[Numbered]]:
    """For each group, the numbers by which it differs from those that are the same but for numbers."""
    alike: dict[Hashable, list[FusedOp]] = {}
    for group in groups:
        but_for: dict[Operation, Sequence[str]] = {number: NUMBERS[type(number)] for number in _numbered(group)}
        alike.setdefault(content_of(group.body.block, but_for), []).append(group)
    found: dict[FusedOp, list[Numbered]] = {}
    for same in alike.values():
        numbered = [_numbered(group) for group in same]
        differ = [len({_numbers(op) for op in one}) > 1 for one in zip(*numbered, strict=True)]
        for group, own in zip(same, numbered, strict=True):
            found[group] = [number for number, differs in zip(own, differ, strict=True) if differs]
    return found


def _numbered(group: FusedOp) -> list[Numbered]:
    """The constants of one element in a group, and the slices of what it reads that it could read as views."""
    return [
        op
        for op in group.body.block.ops
        if (isinstance(op, ConstantOp) and prod(d.offset for d in dims_of(op.result.type)) == 1)
        or (isinstance(op, SliceOp) and _can_be_view(group, op))
    ]


def _numbers(op: Numbered) -> Hashable:
    return tuple(op.properties[name] for name in NUMBERS[type(op)])


def _can_be_view(group: FusedOp, part: SliceOp) -> bool:
    """Whether what a slice reads can be a view of an operand of the group."""
    argument = part.input
    if not isinstance(argument, BlockArgument) or not has_constant_strides(argument) or not all(part.ranges().values()):
        return False
    is_image = len(part.dims(0)) > CHANNELS + 1
    made_here = not isinstance(group.operands[argument.index].owner, Block)
    return not (is_image and made_here and CHANNELS in part.ranges())


def _take_out(group: FusedOp, number: Numbered, rewriter: PatternRewriter) -> None:
    """Let a group take as a further operand a constant of its own, or the part of an operand that a slice reads."""
    if isinstance(number, SliceOp):
        _give(group, _part_in_front(group, number, rewriter))
        number.operands[0] = group.body.block.args[-1]
        _drop_unused(group)
    else:
        number.detach()
        rewriter.insert(number, InsertPoint.before(group))
        uses = list(number.result.uses)
        _give(group, number)
        for use in uses:
            use.operation.operands[use.index] = group.body.block.args[-1]
    rewriter.notify_op_modified(group)


def _give(group: FusedOp, made: Numbered) -> None:
    """Let a group take what is made in front of it as a further operand."""
    body = group.body.block
    body.insert_arg(made.result.type, len(body.args)).name_hint = made.result.name_hint
    group.operands = [*group.operands, made.result]


def _part_in_front(group: FusedOp, part: SliceOp, rewriter: PatternRewriter) -> SliceOp:
    """A view in front of a group that begins where a slice inside did, which reads from its beginning now."""
    whole, kept = part.input, part.ranges()
    assert isinstance(whole, BlockArgument)
    first = {axis: min(taken) for axis, taken in kept.items()}
    stops = ints(max(taken) + 1 for taken in kept.values())
    source = group.operands[whole.index]
    view = SliceOp.of(source, axes=part.axes, starts=ints(first.values()), stops=stops, steps=ints([1] * len(kept)))
    view.attributes[VIEW] = UnitAttr()
    copy_location(view, part)
    rewriter.insert(view, InsertPoint.before(group))
    part.properties["starts"] = ints(taken[0] - first[axis] for axis, taken in kept.items())
    beyond = (taken[-1] + (1 if taken.step > 0 else -1) - first[axis] for axis, taken in kept.items())
    part.properties["stops"] = ints(beyond)
    return view


def _drop_unused(group: FusedOp) -> None:
    """Drop the operands that nothing in a group reads."""
    body = group.body.block
    group.operands = [v for v, argument in zip(group.operands, body.args, strict=True) if argument.uses]
    for argument in [a for a in body.args if not a.uses]:
        body.erase_arg(argument)
