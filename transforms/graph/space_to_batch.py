"""Dilated convolutions become dense ones of images that each hold every d-th pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, values_from_parameters
from tilework.analysis.precision import Precision, precision_of
from tilework.analysis.program_targets import target_of
from tilework.dialects.graph.base import GraphOp, ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.movement import PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.base import TileworkPass

IMAGE_AXES = 2


@dataclass(frozen=True)
class SpaceToBatch(TileworkPass):
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
    anchor: ClassVar = FuncOp
    numerics: ClassVar = "reassociates"

    precision: str = "default"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        precision = precision_of(self.precision)
        if not is_compiled(op):
            return
        known = values_from_parameters(op)
        for conv in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, ConvOp)]:
            if conv.weight in known and conv.input not in known and _is_worth(conv, precision):
                _replace(conv)


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
    """Of the direct sum, for each channel and filter of an image: of pixels with the taps that are not padding."""
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


def _replace(conv: ConvOp) -> None:
    d = conv.windows.dilations[0]
    made: list[GraphOp] = []

    def make(op: GraphOp) -> SSAValue:
        made.append(op)
        return op.results[0]

    image = _padded_to_multiple(conv, d)
    n, c, *extents = dims_of(image.results[0].type)
    rows, columns = (e // d for e in extents)
    split = make(ReshapeOp.of(make(image), shape=DimsAttr((n, c, rows, const(d), columns, const(d)))))
    phases = make(TransposeOp.of(split, permutation=ints([0, 3, 5, 1, 2, 4])))
    batch = make(ReshapeOp.of(phases, shape=DimsAttr((n * d * d, c, rows, columns))))
    ones = ints([1, 1])
    dense = ConvOp.of(batch, conv.weight, strides=ones, pads=ints([0] * 4), dilations=ones, groups=conv.groups)
    _, filters, *sizes = dims_of(dense.result.type)
    apart = make(ReshapeOp.of(make(dense), shape=DimsAttr((n, const(d), const(d), filters, *sizes))))
    rows, columns = (e * d for e in sizes)
    together = make(TransposeOp.of(apart, permutation=ints([0, 3, 4, 1, 5, 2])))
    whole = make(ReshapeOp.of(together, shape=DimsAttr((n, filters, rows, columns))))
    make(_cut(whole, dims_of(conv.result.type)[2:]))
    for op in made:
        copy_location(op, conv)
    made[-1].results[0].name_hint = conv.result.name_hint
    Rewriter.insert_op(made[:-1], InsertPoint.before(conv))
    Rewriter.replace_op(conv, made[-1])


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
