"""Regions of images in bins: of each bin the mean of samples between the elements, or the largest of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product as combinations
from operator import add
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, minimum
from tilework.dialects.graph.base import Array
from tilework.dialects.graph.regions import Bin, RegionOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.dialects.te.builder_statements import index_of, number_of, when

MOST = float(1 << 30)
"""Samples along a side of a bin are no more than these: no image is so large."""

Shares: TypeAlias = "list[tuple[Expr, Scalar]]"
"""Elements along an axis, and how much of a sample each is."""


@irdl_op_definition
class RoiAlignOp(RegionOp):
    """Give each bin of a region the mean of samples or, with `largest`, the largest element that a sample is made of.

    With `half_pixel` elements are the middles of pixels; without it, no region is smaller than an element. `samples`
    are taken along each side of a bin, evenly spread, or (0) as many as the side is long, rounded up. Each is made of
    the four elements around it, which count by their shares; one that is more than 1 outside of the image is 0.

    %y = graph.roi_align %x, %boxes, %images
        {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32, samples = 0 : i64, half_pixel = true, largest = false}
        : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
    """

    name = "graph.roi_align"
    samples = prop_def(IntegerAttr)
    half_pixel = prop_def(BoolAttr)
    largest = prop_def(BoolAttr)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.samples.value.data < 0:
            raise VerifyException(f"the number of samples is not negative, {self.samples.value.data} is")
        return super().infer()

    # -- statements

    def pool(self, bin_: Bin, corners: Sequence[Scalar], extents: Sequence[Expr]) -> None:
        left, top, right, bottom = (corner - 0.5 if self.half_pixel.value.data else corner for corner in corners)
        rows = self._samples(bin_.k, top, bottom, self.bins[0], bin_.at[1], extents[0])
        columns = self._samples(bin_.k, left, right, self.bins[1], bin_.at[2], extents[1])
        if self.largest.value.data:
            _fill_with_largest(bin_, rows, columns)
        else:
            _fill_with_mean(bin_, rows, columns)

    def _samples(self, k: KernelBuilder, start: Scalar, end: Scalar, bins: int, i: Expr, extent: Expr) -> _Samples:
        """Those of bin `i` along one axis."""
        length = end - start if self.half_pixel.value.data else k.max(end - start, 1.0)
        size, known = length / float(bins), self.samples.value.data
        begin = start + number_of(k, i, size.dtype) * size
        if known:
            return _Samples(k, begin, size, k.constant(float(known), size.dtype), const(0), const(known), extent)
        wanted = k.min(k.call("ceil", size), MOST)
        count = k.select(wanted.compare("gt", 0.0), wanted, 0.0)
        return _Samples(k, begin, size, count, *_near(k, begin, size / count, count, extent), extent)

    # -- numpy

    def pooled(self, image: Array, corners: Array, place: tuple[int, int]) -> Array:
        left, top, right, bottom = corners - corners.dtype.type(0.5 if self.half_pixel.value.data else 0.0)
        rows = self._taps(top, bottom, self.bins[0], place[0], image.shape[0])
        columns = self._taps(left, right, self.bins[1], place[1], image.shape[1])
        count = rows.count * columns.count
        parts = [
            image[y][:, x] * (share[:, None] * other)[..., None]
            for (y, share), (x, other) in combinations(rows.elements, columns.elements)
        ]
        if not self.largest.value.data:
            total = reduce(np.add, parts).sum((0, 1), dtype=image.dtype)
            return np.asarray(total / np.maximum(count, image.dtype.type(1)))
        is_complete = 0 < count == parts[0].shape[0] * parts[0].shape[1]
        return np.asarray(reduce(np.maximum, parts).max((0, 1), initial=-np.inf if is_complete else 0))

    def _taps(self, start: Any, end: Any, bins: int, i: int, extent: int) -> _Taps:
        number = start.dtype.type
        length = end - start if self.half_pixel.value.data else np.maximum(end - start, number(1))
        size = length / number(bins)
        begin = start + number(i) * size
        first, last = number(0), number(self.samples.value.data)
        count = last
        if not count:
            wanted = np.minimum(np.ceil(size), number(MOST))
            count = wanted if wanted > 0 else number(0)
            ends = (np.array([-1, extent], number) - begin) / (size / count)
            first, last = np.floor(ends.min()) - 2, np.ceil(ends.max()) + 2
            first, last = (min(bound, count) if bound > 0 else number(0) for bound in (first, last))
        at = begin + (np.arange(int(first), int(last)).astype(number) + number(0.5)) * size / count
        at = np.clip(at[(at >= -1) & (at <= extent)], number(0), number(extent - 1))
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, extent - 1)
        return _Taps([(low, number(1) - (at - low.astype(number))), (high, at - low.astype(number))], count)


@dataclass(frozen=True)
class _Taps:
    """The samples of a bin along one axis, of so many, that are not too far outside: for each of the two elements that
    they lie between, the indices and the shares."""

    elements: Sequence[tuple[Array, Array]]
    count: Any


def _near(k: KernelBuilder, begin: Scalar, step: Scalar, count: Scalar, extent: Expr) -> tuple[Expr, Expr]:
    """From which sample on and before which one all those are that are not too far outside, and a few that are.

    A large region has many others. Of a region that is infinite, or no number, it has none.
    """
    dtype = count.dtype
    ends = [(end - begin) / step for end in (k.constant(-1.0, dtype), number_of(k, extent, dtype))]
    first, last = k.call("floor", k.min(*ends)) - 2.0, k.call("ceil", k.max(*ends)) + 2.0
    first = k.select(first.compare("gt", 0.0), k.min(first, count), 0.0)
    last = k.select(last.compare("gt", 0.0), k.min(last, count), 0.0)
    return index_of(k, k.cast(first, i64)), index_of(k, k.cast(last, i64))


@dataclass(frozen=True)
class _Samples:
    """Those of a bin along one axis of an image, while statements are written.

    begin, size: of the bin. count: how many there are; from `first` on and before `last` all those are that may count.
    """

    k: KernelBuilder
    begin: Scalar
    size: Scalar
    count: Scalar
    first: Expr
    last: Expr
    extent: Expr

    @property
    def are_complete(self) -> Scalar:
        """Whether there are samples, and all of them may count."""
        taken = number_of(self.k, self.last - self.first, self.count.dtype)
        return taken.compare("eq", self.count) & self.count.compare("gt", 0.0)

    def for_each(self, inside: Callable[[Shares], None], outside: Callable[[], None] | None = None) -> None:
        """Insert a loop over samples: what is done with the shares of elements, and for a sample far outside."""

        def sample(i: Expr) -> None:
            number = number_of(self.k, i + self.first, self.size.dtype) + 0.5
            place = self.begin + number * self.size / self.count
            end = number_of(self.k, self.extent, place.dtype)
            is_near = place.compare("ge", -1.0) & place.compare("le", end)
            with when(self.k, is_near):
                inside(self._shares(place, end - 1.0))
            if outside is not None:
                with when(self.k, ~is_near):
                    outside()

        self.k.for_each([self.last - self.first], sample)

    def _shares(self, place: Scalar, last: Scalar) -> Shares:
        """The shares of the two elements that a place lies between; outside, both are the outermost element."""
        k, place = self.k, self.k.min(self.k.max(place, 0.0), last)
        low = k.call("floor", place)
        index, share = index_of(k, k.cast(low, i64)), place - low
        return [(index, 1.0 - share), (minimum(index + 1, self.extent - 1), share)]


def _fill_with_mean(bin_: Bin, rows: _Samples, columns: _Samples) -> None:
    k = bin_.k
    bin_.set_all(k.constant(0.0, bin_.dtype))

    def row(vertical: Shares) -> None:
        def column(horizontal: Shares) -> None:
            parts = _parts(bin_, vertical, horizontal)
            bin_.set(lambda c: reduce(add, parts(c), bin_.now(c)))

        columns.for_each(column)

    rows.for_each(row)
    count = k.max(rows.count * columns.count, 1.0)
    bin_.set(lambda c: bin_.now(c) / count)


def _fill_with_largest(bin_: Bin, rows: _Samples, columns: _Samples) -> None:
    """A sample far outside is 0, be it in a loop or not."""
    k = bin_.k
    zero = k.constant(0.0, bin_.dtype)
    bin_.set_all(k.select(rows.are_complete & columns.are_complete, k.constant(-math.inf, bin_.dtype), zero))

    def take_zero() -> None:
        bin_.set(lambda c: k.max(bin_.now(c), zero))

    def row(vertical: Shares) -> None:
        def column(horizontal: Shares) -> None:
            parts = _parts(bin_, vertical, horizontal)
            bin_.set(lambda c: reduce(k.max, parts(c), bin_.now(c)))

        columns.for_each(column, take_zero)

    rows.for_each(row, take_zero)


def _parts(bin_: Bin, vertical: Shares, horizontal: Shares) -> Callable[[Expr], list[Scalar]]:
    """What each of the four elements around a sample is of it, in a channel."""
    pairs = list(combinations(vertical, horizontal))
    shares = [share * other for (_, share), (_, other) in pairs]

    def of_channel(c: Expr) -> list[Scalar]:
        elements = [bin_.element(y, x, c) for (y, _), (x, _) in pairs]
        return [element * share for element, share in zip(elements, shares, strict=True)]

    return of_channel
