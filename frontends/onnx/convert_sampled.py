"""Converters: images read at places between their elements, which other data tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product as combinations

from xdsl.dialects.builtin import BoolAttr, i64
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph import (
    AbsOp,
    AddOp,
    AndOp,
    DivOp,
    FloorOp,
    GatherOp,
    LessOp,
    MaxOp,
    MinOp,
    MulOp,
    NotOp,
    RoiAlignOp,
    RoiPoolOp,
    RoundOp,
    SubOp,
    WhereOp,
)
from tilework.dialects.graph.regions import RegionOp
from tilework.frontends.onnx.axes import sliced
from tilework.frontends.onnx.convert_indexed import along, numbered
from tilework.frontends.onnx.cubics import cubic_weights
from tilework.frontends.onnx.node import Node, converter, float_attr, int_attr, value_dims
from tilework.frontends.onnx.values import Value

MODES = {"bilinear": "linear", "bicubic": "cubic"}
"""What was called otherwise before opset 20."""


@dataclass(frozen=True)
class Tap:
    """An index along one axis, the share of what is there, and where it is inside of the image: None for everywhere."""

    index: Value
    share: Value | None
    is_inside: Value | None


@converter("GridSample", since=16)
def grid_sample(node: Node) -> Value:
    """For each place of the grid, from -1 to 1 across the image, the nearest element or a mean of those around it."""
    mode = node.attribute("mode", "linear")
    mode = MODES.get(mode, mode)
    if mode not in ("linear", "nearest", "cubic"):
        raise node.error(f"mode '{mode}' is not supported")
    dims, grid = node.dims(0), node.dims(1)
    rank = len(dims) - 2
    if mode == "cubic" and rank != 2:
        raise node.error(f"mode 'cubic' takes images of two axes, not of {rank}")
    what = "the grid has a place for each element of the result, as many numbers as the image has axes"
    if rank < 1 or len(grid) != len(dims):
        raise node.error(what)
    wanted = grid[1:-1]
    places = node.of_dims(node.value(1), [dims[0], *wanted, const(rank)], what)
    taps: list[list[Tap]] = []
    for axis, extent in enumerate(dims[2:]):
        at = rank - 1 - axis  # a place begins with the last axis
        column = sliced(node, places, {len(grid) - 1: range(at, at + 1)})
        place = _place(node, node.reshape(column, [dims[0], const(1), *wanted]), extent)
        taps.append(list(_taps(node, mode, place, extent)))
    return reduce(lambda a, b: node.emit(AddOp, a, b), (_term(node, tap, wanted) for tap in combinations(*taps)))


def _place(node: Node, number: Value, extent: Expr) -> Value:
    """A number from -1 to 1 as a place along an axis."""
    half = node.scalar(0.5, number)
    share = node.emit(MulOp, node.emit(AddOp, number, node.scalar(1.0, number)), half)
    if node.attribute("align_corners", 0):
        return node.emit(MulOp, share, node.cast(node.size(extent - 1), node.dtype_of(number)))
    length = node.cast(node.size(extent), node.dtype_of(number))
    return node.emit(SubOp, node.emit(MulOp, share, length), half)


def _moved_inside(node: Node, place: Value, extent: Expr) -> Value:
    """A place along an axis, which stays outside where padding is zero."""
    aligned = bool(node.attribute("align_corners", 0))
    padding = node.attribute("padding_mode", "zeros")
    if padding not in ("zeros", "border", "reflection"):
        raise node.error(f"padding mode '{padding}' is not supported")
    if padding == "zeros":
        return place
    last = node.cast(node.size(extent - 1), node.dtype_of(place))
    if padding == "reflection":
        low = node.scalar(0.0 if aligned else -0.5, place)
        length = node.cast(node.size(extent), node.dtype_of(place))
        place = _reflected(node, place, low, last if aligned else length)
    return node.emit(MinOp, node.emit(MaxOp, place, node.scalar(0.0, place)), last)


def _reflected(node: Node, place: Value, low: Value, span: Value) -> Value:
    """What lies beyond either end of a span is turned back at it, as often as it takes."""
    distance = node.emit(SubOp, place, low)
    period = node.emit(MaxOp, node.emit(AddOp, span, span), node.scalar(1.0, span))  # a span of 0 is all low
    turns = node.emit(FloorOp, node.emit(DivOp, distance, period))
    rest = node.emit(SubOp, distance, node.emit(MulOp, turns, period))
    return node.emit(AddOp, low, node.emit(SubOp, span, node.emit(AbsOp, node.emit(SubOp, rest, span))))


def _taps(node: Node, mode: str, place: Value, extent: Expr) -> Iterator[Tap]:
    """Beyond an end elements are moved inside if four are weighted, and else the place itself is."""
    if mode != "cubic":
        place = _moved_inside(node, place, extent)
    if mode == "nearest":
        yield _tap(node, node.emit(RoundOp, place), None, extent)
        return
    below = node.emit(FloorOp, place)
    share = node.emit(SubOp, place, below)
    if mode == "cubic":
        for n, weight in zip((-1.0, 0.0, 1.0, 2.0), cubic_weights(node, share), strict=True):
            at = node.emit(AddOp, below, node.scalar(n, below))
            yield _tap(node, _moved_inside(node, at, extent), weight, extent)
        return
    one = node.scalar(1.0, place)
    yield _tap(node, below, node.emit(SubOp, one, share), extent)
    yield _tap(node, node.emit(AddOp, below, one), share, extent)


def _tap(node: Node, place: Value, share: Value | None, extent: Expr) -> Tap:
    if node.attribute("padding_mode", "zeros") != "zeros":
        return Tap(_index(node, place, extent), share, None)
    zero, length = node.scalar(0.0, place), node.cast(node.size(extent), node.dtype_of(place))
    is_inside = node.emit(AndOp, node.emit(NotOp, node.emit(LessOp, place, zero)), node.emit(LessOp, place, length))
    return Tap(_index(node, place, extent), share, is_inside)


def _index(node: Node, place: Value, extent: Expr) -> Value:
    """The nearest index that there is."""
    last = node.cast(node.size(extent - 1), node.dtype_of(place))
    return node.cast(node.emit(MinOp, node.emit(MaxOp, place, node.scalar(0.0, place)), last), i64)


def _term(node: Node, taps: Sequence[Tap], wanted: Sequence[Expr]) -> Value:
    """What one tap for each axis adds to the mean."""
    dims = node.dims(0)
    outer = [along(node, axis, dims[axis], len(wanted) + 2) for axis in (0, 1)]
    numbers = numbered(node, [*outer, *(tap.index for tap in taps)], dims)
    term = node.emit(GatherOp, node.reshape(node.value(0), [product(dims)]), numbers, axis=int_attr(0))
    if conditions := [tap.is_inside for tap in taps if tap.is_inside is not None]:
        is_inside = reduce(lambda a, b: node.emit(AndOp, a, b), conditions)
        term = node.emit(WhereOp, is_inside, term, node.scalar(0.0, term))
    shares = [node.cast(tap.share, node.dtype_of(term)) for tap in taps if tap.share is not None]
    return reduce(lambda a, b: node.emit(MulOp, a, b), shares, term)


@converter("RoiAlign", since=10)
def roi_align(node: Node) -> Value:
    """Regions of images in bins: the mean of the samples in each, or the largest of the elements that they weight.

    Before opset 16 no half pixel is taken off.
    """
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    pixel, mode = node.attribute("coordinate_transformation_mode", default), node.attribute("mode", "avg")
    if mode not in ("avg", "max") or pixel not in ("half_pixel", "output_half_pixel"):
        raise node.error(f"its modes '{mode}' and '{pixel}' are not known")
    return _pooled_regions(
        node,
        RoiAlignOp,
        node.value(1),
        node.value(2),
        [node.attribute(f"output_{side}", 1) for side in ("height", "width")],
        samples=int_attr(node.attribute("sampling_ratio", 0)),
        half_pixel=BoolAttr.from_bool(pixel == "half_pixel"),
        largest=BoolAttr.from_bool(mode == "max"),
    )


@converter("MaxRoiPool")
def max_roi_pool(node: Node) -> Value:
    """The largest element of every bin of regions, whose first number is that of an image."""
    regions, shape = node.dims(1), list(node.attribute("pooled_shape"))
    if len(regions) != 2 or regions[1] != 5 or len(shape) != 2:
        raise node.error("it takes regions of five numbers, the first that of an image, and pools them to two axes")
    images = node.reshape(sliced(node, node.value(1), {1: range(1)}), regions[:1])
    return _pooled_regions(node, RoiPoolOp, sliced(node, node.value(1), {1: range(1, 5)}), images, shape)


def _pooled_regions(
    node: Node, op: type[RegionOp], regions: Value, images: Value, bins: Sequence[int], **more: Attribute
) -> Value:
    """So many bins of regions of input 0, whose channels are next to each other meanwhile."""
    if len(node.dims(0)) != 4:
        raise node.error(f"it takes images with channels, of 4 axes, not of {len(node.dims(0))}")
    what = f"each of {value_dims(regions)[0]} regions has the number of an image, an i64"
    pooled = node.emit(
        op,
        node.transposed(node.value(0), [0, 2, 3, 1]),
        regions,
        node.of_dims(node.cast(images, i64), value_dims(regions)[:1], what),
        height=int_attr(bins[0]),
        width=int_attr(bins[1]),
        scale=float_attr(node.attribute("spatial_scale", 1.0)),
        **more,
    )
    return node.transposed(pooled, [0, 3, 1, 2])
