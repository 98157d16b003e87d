"""Let convolution and pooling pad for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tilework.analysis.functions import graphs_of
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.movement import PadOp
from tilework.dialects.graph.pooling import MaxPoolOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class FoldPadding(TileworkPass):
    """Add a pad of the spatial axes to the padding of the convolution or max pooling that reads it.

        %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 0.0}
        %1 = graph.conv %0, %w {pads = [0, 0, 0, 0], ...}
    ->
        %1 = graph.conv %x, %w {pads = [1, 1, 1, 1], ...}

    A convolution pads with zeros, max pooling with minus infinity. Requires nothing; a pad that others read too stays.
    """

    name = "graph-fold-padding"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if op.is_declaration:
            return
        for reader in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, ConvOp | MaxPoolOp)]:
            pad = reader.input.owner
            if isinstance(pad, PadOp):
                _fold(reader, pad)


def _fold(reader: ConvOp | MaxPoolOp, pad: PadOp) -> None:
    fill = 0.0 if isinstance(reader, ConvOp) else float("-inf")
    ends = pad.ends()
    if ends is None:
        return
    before, after = ends
    if pad.value.value.data != fill or any(before[:2]) or any(after[:2]):
        return
    rank = len(before) - 2
    own = reader.pads.get_values()
    pads = [*_sum(own[:rank], before[2:]), *_sum(own[rank:], after[2:])]
    if isinstance(reader, MaxPoolOp) and not _suits_pooling(reader, pads):
        return
    reader.properties["pads"] = ints(pads)
    reader.operands[0] = pad.input
    if not pad.result.uses:
        pad.detach()
        pad.erase()


def _sum(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _suits_pooling(reader: MaxPoolOp, pads: Sequence[int]) -> bool:
    """Whether pooling may pad this much: less than a window, so that each window has an element.

    With ceil_mode, the last window's place depends on what counts as padding.
    """
    spans = reader.windows.spans
    return not reader.ceil_mode.value.data and all(p < span for p, span in zip(pads, (*spans, *spans), strict=True))
