"""Tensors between kernels get the layouts in which the kernels together are expected to be fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import const
from tilework.analysis.functions import graphs_of
from tilework.analysis.layout_classes import CHANNELS
from tilework.analysis.parameters import is_compiled
from tilework.analysis.precision import precision_of
from tilework.analysis.program_targets import target_of
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.algorithms import algorithms_for
from tilework.transforms.graph.layout_search import Layouts, LayoutSearch, in_blocks, put_in_blocks


@dataclass(frozen=True)
class ChooseLayouts(TileworkPass):
    """Put tensors between kernels into blocks of channels where the rules expect that to make all kernels faster.

    %y = graph.fused "conv" (%x, %w) -> (1x64x56x56)       %y = graph.fused "conv" (%x, %w) -> (1x4x56x56x16)
      ...                                              ->    ... graph.pack {axis = 1, block = 16} ...
    %z = graph.fused "max_pool" (%y)                       %z = graph.fused "max_pool" (%y)
                                                             %a = graph.unpack ...

    A block fills a line of the caches where channels do, else a vector. What a kernel costs in every layout of what it
    reads and makes is asked of its rule, with the algorithm that is best there; the sum over all kernels is made small
    by changing one tensor's layout after another. So a kernel changes between layouts where that costs least, if at
    all. Tensors that views connect change together, and what callers see stays. Requires graph-fuse-operators; leaves
    as many kernels as there were.

    This is an algorithm and no pattern: what a tensor's layout costs depends on the layouts of all tensors around it.
    """

    name = "choose-layouts"
    anchor: ClassVar = FuncOp

    precision: str = "default"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        precision = precision_of(self.precision)  # refused where there is nothing to compile, too
        if not is_compiled(op):
            return
        target = target_of(op)
        for graph in graphs_of(op):
            layouts = LayoutSearch.of(graph, target, algorithms_for(target, precision, graph)).best()
            if layouts:
                _Rewriting(layouts).rewrite(graph)


class _Rewriting:
    """Kernels and views that read or make packed tensors, made anew in program order."""

    def __init__(self, layouts: Layouts):
        self._layouts = layouts
        self._in_blocks: dict[SSAValue, SSAValue] = {}
        """The tensors in blocks, by what they were before."""

    def rewrite(self, graph: Block) -> None:
        """Rewrite all groups into their layouts."""
        done = [op for op in graph.ops if not self._layouts.keys().isdisjoint((*op.operands, *op.results))]
        for op in done:
            new = self._group(op) if isinstance(op, FusedOp) else self._view(op)
            new.attributes |= op.attributes
            copy_location(new, op)
            Rewriter.insert_op(new, InsertPoint.before(op))
            for before, after in zip(op.results, new.results, strict=True):
                after.name_hint = before.name_hint
                if before in self._layouts:
                    self._in_blocks[before] = after
                else:
                    before.replace_all_uses_with(after)
        for op in reversed(done):
            op.detach()
            op.erase()

    def _group(self, group: FusedOp) -> FusedOp:
        body = group.clone()
        put_in_blocks(body, in_blocks(group, self._layouts))
        yielded = body.body.block.last_op
        assert yielded is not None
        operands = [self._in_blocks.get(v, v) for v in group.inputs]
        new = FusedOp(group.label.data, operands, list(yielded.operand_types), body.detach_region(0))
        body.erase()
        return new

    def _view(self, view: Operation) -> Operation:
        operands = [self._in_blocks[v] for v in view.operands]
        block = self._layouts[view.operands[0]]
        match view:
            case ConcatOp():
                return ConcatOp.of(*operands, axis=view.axis)
            case ReshapeOp():
                n, channels, *image = dims_of(view.result.type)
                dims = (n, channels // block, *image, const(block))
                return ReshapeOp.of(*operands, shape=DimsAttr(dims))
            case SliceOp():
                return _slice(view, operands[0], block)
            case _:
                raise AssertionError(f"{view.name} is no view")


def _slice(view: SliceOp, operand: SSAValue, block: int) -> SliceOp:
    """The slice of a tensor whose channels are counted in blocks."""
    sizes = [block if axis == CHANNELS else 1 for axis in view.axes.get_values()]
    starts, stops = (
        ints(end // size for end, size in zip(ends.get_values(), sizes, strict=True))
        for ends in (view.starts, view.stops)
    )
    return SliceOp.of(operand, axes=view.axes, starts=starts, stops=stops, steps=view.steps)
