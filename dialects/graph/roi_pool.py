"""Regions of images in bins: of each bin the largest of the elements inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.irdl import irdl_op_definition

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.base import Array
from tilework.dialects.graph.regions import Bin, RegionOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.dialects.te.builder_statements import index_of, number_of

FAR = float(1 << 20)
"""Corners are no further from the image's than this: no image is so large."""


@irdl_op_definition
class RoiPoolOp(RegionOp):
    """Give each bin of a region the largest element that is at least partly inside, 0 if there is none; NaN wins.

    Corners are rounded to the next elements, which both belong to the region: it is no smaller than an element.

    %y = graph.roi_pool %x, %boxes, %images {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32}
        : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
    """

    name = "graph.roi_pool"

    def pool(self, bin_: Bin, corners: Sequence[Scalar], extents: Sequence[Expr]) -> None:
        k = bin_.k
        left, top, right, bottom = (_rounded(k, corner) for corner in corners)
        first, end = _range(k, top, bottom, self.bins[0], bin_.at[1], extents[0])
        start, stop = _range(k, left, right, self.bins[1], bin_.at[2], extents[1])
        is_empty = [number_of(k, a).compare("le", number_of(k, b)) for a, b in ((end, first), (stop, start))]
        least, zero = k.constant(-math.inf, bin_.dtype), k.constant(0.0, bin_.dtype)
        bin_.set_all(k.select(is_empty[0] | is_empty[1], zero, least))

        def take(y: Expr, x: Expr) -> None:
            bin_.set(lambda c: k.max(bin_.now(c), bin_.element(y + first, x + start, c)))

        k.for_each([end - first, stop - start], take)

    def pooled(self, image: Array, corners: Array, place: tuple[int, int]) -> Array:
        number = corners.dtype.type
        whole = np.trunc(corners)
        whole = whole + np.where(np.abs(corners - whole) >= 0.5, np.sign(corners), number(0))
        left, top, right, bottom = np.minimum(np.where(whole > -FAR, whole, number(-FAR)), number(FAR))
        rows = _taken(top, bottom, self.bins[0], place[0], image.shape[0])
        columns = _taken(left, right, self.bins[1], place[1], image.shape[1])
        elements: Array = image[rows, columns].reshape(-1, image.shape[2])
        return np.asarray(elements.max(0)) if len(elements) else np.zeros_like(image[0, 0])


def _taken(start: Any, end: Any, bins: int, i: int, extent: int) -> slice:
    """The elements of bin `i` along an axis of an array."""
    number = start.dtype.type
    size = np.maximum(end - start + number(1), number(1)) / number(bins)
    bounds = np.floor(number(i) * size) + start, np.ceil(number(i + 1) * size) + start
    return slice(*(int(np.clip(bound, 0, extent)) for bound in bounds))


def _rounded(k: KernelBuilder, corner: Scalar) -> Scalar:
    """The next whole number, away from 0 in the middle of two."""
    whole = k.call("trunc", corner)
    is_far = k.call("abs", corner - whole).compare("ge", 0.5)
    away = k.select(corner.compare("lt", 0.0), k.constant(-1.0, corner.dtype), 1.0)
    whole = k.select(is_far, whole + away, whole)
    return k.min(k.select(whole.compare("gt", -FAR), whole, -FAR), FAR)


def _range(k: KernelBuilder, start: Scalar, end: Scalar, bins: int, i: Expr, extent: Expr) -> tuple[Expr, Expr]:
    """From which element on and before which one bin `i` is along an axis, while statements are written."""
    size = k.max(end - start + 1.0, 1.0) / float(bins)
    first = k.call("floor", number_of(k, i, size.dtype) * size) + start
    stop = k.call("ceil", number_of(k, i + 1, size.dtype) * size) + start
    last = number_of(k, extent, size.dtype)
    first, stop = (index_of(k, k.cast(k.min(k.max(bound, 0.0), last), i64)) for bound in (first, stop))
    return first, stop
