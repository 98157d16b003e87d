"""Convolutions get the algorithm that the target's rules expect to be fastest."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.analysis.functions import body_of
from tilework.analysis.parameters import is_compiled
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.structure import FusedOp, ParameterOp
from tilework.dialects.graph.winograd import WinogradConvOp, WinogradWeightOp, winograd_tiles
from tilework.dialects.locations import copy_location
from tilework.lowering.te_kernels import build_kernel, content_of
from tilework.rules.registry import choose_rule
from tilework.targets.parse import parse_target
from tilework.targets.target import Target
from tilework.transforms.base import TileworkPass

PRODUCTS = {"default": 6, "strict": 4}
"""How many products along an axis a Winograd tile may take at each precision: as accurate as the direct sum with 4,
within about 1e-5 of the largest result with 6."""


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
        check_precision(self.precision)
        if not is_compiled(op):
            return
        chooser = _Chooser(parse_target(self.target), PRODUCTS[self.precision])
        for group in [o for o in body_of(op).ops if isinstance(o, FusedOp)]:
            for conv in [o for o in group.body.block.ops if isinstance(o, ConvOp)]:
                chooser.choose(group, conv)


def check_precision(precision: str) -> None:
    """Raise UsageError for a precision that there is not."""
    if precision not in PRODUCTS:
        hint = did_you_mean(str(precision), PRODUCTS)
        raise UsageError(f"unknown precision '{precision}': it is {' or '.join(PRODUCTS)}{hint}")


class _Chooser:
    """Asks once for every distinct kernel: networks repeat themselves."""

    def __init__(self, target: Target, products: int):
        self.target = target
        self.products = products
        self.known: dict[Hashable, int | None] = {}
        self.transformed: dict[tuple[SSAValue, int], SSAValue] = {}

    def choose(self, group: FusedOp, conv: ConvOp) -> None:
        """Rewrite the convolution of a group, if another algorithm is expected to be faster."""
        weight = conv.weight
        if not isinstance(weight, BlockArgument) or not isinstance(group.inputs[weight.index].owner, ParameterOp):
            return
        key = (content_of(group.body.block), weight.index)
        if key not in self.known:
            self.known[key] = min(self._options(group, conv), key=lambda option: option[0])[1]
        tile = self.known[key]
        if tile is not None:
            value = group.inputs[weight.index]
            if (value, tile) not in self.transformed:
                self.transformed[value, tile] = _transform(value, tile, group)
            group.operands[weight.index] = self.transformed[value, tile]
            _rewrite(conv, tile)

    def _options(self, group: FusedOp, conv: ConvOp) -> Iterator[tuple[float, int | None]]:
        """Estimated cycles, with the tile of outputs; the direct sum, which has none, first."""
        yield self._cycles(group), None
        place = list(group.body.block.ops).index(conv)
        for tile in winograd_tiles(conv, self.products):
            trial = group.clone()
            copy = list(trial.body.block.ops)[place]
            assert isinstance(copy, ConvOp)
            _rewrite(copy, tile)
            yield self._cycles(trial), tile
            trial.erase()

    def _cycles(self, group: FusedOp) -> float:
        kernel = build_kernel(group.label.data, group)
        parameters = frozenset(i for i, v in enumerate(group.inputs) if isinstance(v.owner, ParameterOp))
        return choose_rule(kernel, self.target).cycles(kernel, self.target, parameters)


def _transform(weight: SSAValue, tile: int, group: FusedOp) -> SSAValue:
    """Transform a weight in front of the group."""
    op = WinogradWeightOp.of(weight, tile=IntegerAttr(tile, i64))
    op.result.name_hint = weight.name_hint
    copy_location(op, group)
    Rewriter.insert_op(op, InsertPoint.before(group))
    return op.result


def _rewrite(conv: ConvOp, tile: int) -> None:
    """Make a convolution inside a group take a transformed weight."""
    weight, block = conv.weight, conv.parent_block()
    assert isinstance(weight, BlockArgument) and block is not None
    size = IntegerAttr(tile, i64)
    transform = WinogradWeightOp.of(weight, tile=size)
    transformed = block.insert_arg(transform.result.type, weight.index)
    transformed.name_hint = weight.name_hint
    transform.erase()
    winograd = WinogradConvOp.of(conv.input, transformed, tile=size, pads=conv.pads)
    copy_location(winograd, conv)
    winograd.result.name_hint = conv.result.name_hint
    Rewriter.replace_op(conv, winograd)
    block.erase_arg(weight)
