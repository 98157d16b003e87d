"""Dilated convolutions become dense ones of images that each hold every d-th pixel."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.analysis.parameters import values_from_parameters
from tilework.analysis.precision import Precision, precision_of
from tilework.analysis.program_targets import target_of
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.movement import PadOp, SliceOp, TransposeOp
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer

IMAGE_AXES = 2


@dataclass(frozen=True)
class SpaceToBatch(GraphPatternPass):
    """Convolve the d x d phases of an image, each of every d-th pixel, in place of windows with a dilation of d.

    %y = graph.conv %x, %w                    %p = (n, c, P, d, Q, d) of %x, padded
        {dilations = [d, d], ...}        ->   %q = (n * d * d, c, P, Q) of it transposed
                                              %r = graph.conv %q, %w {dilations = [1, 1], ...}
                                              %y = the same way back

    The sums have the same terms, and lines of the caches hold neighbours; Winograd's algorithm is for such windows
    only. Of f32, where weights are parameters, windows are square and move by one, and that algorithm, as far as
    `precision` ("default" or "strict") allows it, would take fewer products for the phases than the direct sum does; it
    is left to later passes to use it. Others stay.
    Requires nothing; behind graph-fold-padding it sees all padding.
    """

    name = "graph-space-to-batch"
    numerics: ClassVar = "reassociates"

    precision: str = "default"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        return [ConvolvePhases(values_from_parameters(op), precision_of(self.precision))]


@dataclass(frozen=True)
class ConvolvePhases(RewritePattern):
    """A convolution with a dilation of d is, pixel by pixel of d x d, the dense one of the phase that the pixel is of.

    known: the values that depend on parameters only; precision: what Winograd's algorithm may do to it.
    """

    known: Set[SSAValue]
    precision: Precision

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        if op.weight not in self.known or op.input in self.known or not _is_worth(op, self.precision):
            return
        result = _convolved_by_phases(op, Writer(rewriter, op))
        rewriter.replace(op, [], [result])


def _is_worth(conv: ConvOp, precision: Precision) -> bool:
    windows, result = conv.windows, dims_of(conv.result.type)
    if len(windows.kernel) != IMAGE_AXES or conv.dtype() != f32 or conv.groups.value.data != 1:
        return False
    dilation, other = windows.dilations
    if dilation == 1 or dilation != other or set(windows.strides) != {1}:
        return False
    if windows.kernel[0] == 1 or windows.kernel[0] != windows.kernel[1]:
        return False
    channels, filters = conv.dims(0)[1], result[1]
    if not all(e.constant for e in (*conv.dims(0)[1:], *result[1:])):
        return False
    fewest, measured = min(channels.offset, filters.offset), target_of(conv).measured
    products = _products_of_phases(conv, precision) / _products(conv)
    return products + measured.moved_channels / fewest <= measured.winograd_products


def _products(conv: ConvOp) -> int:
    """The multiplications of the direct sum, for each channel and filter of an image: of pixels with the taps that are
    not padding."""
    windows, total = conv.windows, 1
    for extent, count, before in zip(conv.dims(0)[2:], dims_of(conv.result.type)[2:], windows.before, strict=True):
        taps = (t * windows.dilations[0] - before for t in range(windows.kernel[0]))
        total *= sum(max(min(count.offset, extent.offset - t) - max(-t, 0), 0) for t in taps)
    return max(total, 1)


def _products_of_phases(conv: ConvOp, precision: Precision) -> int:
    """The same of all phases by Winograd's algorithm, in tiles of which the fewest products are needed."""
    dilation, window = conv.windows.dilations[0], conv.windows.kernel[0]
    phases = [ceildiv(e, dilation).offset for e in dims_of(conv.result.type)[2:]]

    def products(tile: int) -> int:
        return dilation**2 * prod(-(-size // tile) for size in phases) * (tile + window - 1) ** 2

    return min(map(products, range(1, max(precision.products - window + 1, 1) + 1)))


def _convolved_by_phases(conv: ConvOp, write: Writer) -> SSAValue:
    """The result of a convolution, by way of a batch of all phases."""
    d = conv.windows.dilations[0]
    image = write.insert(_padded_to_multiple(conv, d))
    n, c, *extents = dims_of(image.type)
    rows, columns = (e // d for e in extents)
    split = write.reshape(image, (n, c, rows, const(d), columns, const(d)))
    phases = write.insert(TransposeOp.of(split, permutation=ints([0, 3, 5, 1, 2, 4])))
    batch = write.reshape(phases, (n * d * d, c, rows, columns))
    ones = ints([1, 1])
    dense = ConvOp.of(batch, conv.weight, strides=ones, pads=ints([0] * 4), dilations=ones, groups=conv.groups)
    _, filters, *sizes = dims_of(dense.result.type)
    apart = write.reshape(write.insert(dense), (n, const(d), const(d), filters, *sizes))
    rows, columns = (e * d for e in sizes)
    together = write.insert(TransposeOp.of(apart, permutation=ints([0, 3, 4, 1, 5, 2])))
    whole = write.reshape(together, (n, filters, rows, columns))
    return write.insert(_cut(whole, dims_of(conv.result.type)[2:]))


def _padded_to_multiple(conv: ConvOp, d: int) -> PadOp:
    """The image with its padding, and zeros behind it that make its sizes multiples of `d`."""
    windows, extents = conv.windows, conv.dims(0)[2:]
    ends = zip(extents, windows.before, windows.after, strict=True)
    after = [ceildiv(e + (b + a), d) * d - e - b for e, b, a in ends]
    pads = [0, 0, *windows.before, 0, 0, *(e.offset for e in after)]
    return PadOp.of(conv.input, pads=ints(pads), value=FloatAttr(0.0, f32))


def _cut(whole: SSAValue, sizes: Sequence[Expr]) -> SliceOp:
    """The first pixels of an image."""
    stops = ints([e.offset for e in sizes])
    return SliceOp.of(whole, axes=ints([2, 3]), starts=ints([0, 0]), stops=stops, steps=ints([1, 1]))
