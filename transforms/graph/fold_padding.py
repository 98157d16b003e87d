"""Let convolution and pooling pad for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.graph.base import ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.movement import PadOp
from tilework.dialects.graph.pooling import MaxPoolOp
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class FoldPadding(GraphPatternPass):
    """Add a pad of the spatial axes to the padding of the convolution or max pooling that reads it.

        %0 = graph.pad %x {pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 0.0}
        %1 = graph.conv %0, %w {pads = [0, 0, 0, 0], ...}
    ->
        %1 = graph.conv %x, %w {pads = [1, 1, 1, 1], ...}

    A convolution pads with zeros, max pooling with minus infinity. Requires nothing; a pad that others read too stays.
    """

    name = "graph-fold-padding"


class PadConvolution(RewritePattern):
    """conv(pad(x, 0)) is a convolution of x that pads as much more itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        pad = op.input.owner
        if not isinstance(pad, PadOp):
            return
        pads = _padding_together(op, pad, 0.0)
        if pads is None:
            return
        _read_unpadded(op, pad, pads, rewriter)


class PadMaxPool(RewritePattern):
    """max_pool(pad(x, -inf)) is a pooling of x that pads as much more itself, if that is less than a window.

    Else some windows would have no element. With ceil_mode, the last window's place depends on what counts as padding.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MaxPoolOp, rewriter: PatternRewriter) -> None:
        pad, spans = op.input.owner, op.windows.spans
        if not isinstance(pad, PadOp) or op.ceil_mode.value.data:
            return
        pads = _padding_together(op, pad, float("-inf"))
        if pads is None:
            return
        if any(p >= span for p, span in zip(pads, (*spans, *spans), strict=True)):
            return
        _read_unpadded(op, pad, pads, rewriter)


def _padding_together(reader: ConvOp | MaxPoolOp, pad: PadOp, fill: float) -> Sequence[int] | None:
    """The padding of an operator with that of a pad; None where that fills with another number, or is not known, or
    not of the spatial axes alone."""
    ends = pad.ends()
    if ends is None:
        return None
    before, after = ends
    if pad.value.value.data != fill or any(before[:2]) or any(after[:2]):
        return None
    return [own + more for own, more in zip(reader.pads.get_values(), (*before[2:], *after[2:]), strict=True)]


def _read_unpadded(reader: ConvOp | MaxPoolOp, pad: PadOp, pads: Sequence[int], rewriter: PatternRewriter) -> None:
    """Let an operator read what a pad does, and pad for itself."""
    reader.properties["pads"] = ints(pads)
    reader.operands[0] = pad.input
    rewriter.notify_op_modified(reader)
    if not pad.result.uses:
        rewriter.erase(pad)
