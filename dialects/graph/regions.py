"""Regions of images in bins: what the operators that pool them have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, maximum, minimum, product
from tilework.algebra.predicate import at_least, equal
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.accumulation import accumulator, rounded, widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, index_of


class RegionOp(GraphOp, ABC):
    """An operator that makes `height` by `width` bins of every region of images: [regions, height, width, channels].

    Images are [images, rows, columns, channels]. A region is a box [left, top, right, bottom], times `scale`, of the
    image whose number it has; a number below 0 stands for the first one, one that is too large for the last one.
    """

    CATEGORY: ClassVar[Category] = Category.OPAQUE
    input = operand_def(TensorType)
    boxes = operand_def(TensorType)
    images = operand_def(TensorType)
    height = prop_def(IntegerAttr)
    width = prop_def(IntegerAttr)
    scale = prop_def(FloatAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def bins(self) -> tuple[int, int]:
        """How many there are in a column, and in a row."""
        return self.height.value.data, self.width.value.data

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, regions, images = (self.dims(i) for i in range(3))
        if len(x) != 4 or len(regions) != 2 or regions[1] != 4:
            raise VerifyException("it takes images [images, rows, columns, channels], and regions of four numbers")
        if any(size == 0 for size in x[:3]):
            raise VerifyException(f"there is no image, or no element of one, in {self.operand_type(0)}")
        if images != regions[:1] or self.dtype(2) != i64:
            raise VerifyException(f"each of {regions[0]} regions has the number of an image, an i64")
        if min(self.bins) < 1:
            raise VerifyException(f"a region has a positive number of bins, not {self.bins[0]} by {self.bins[1]}")
        types = self.dtype(0), self.dtype(1)
        if types[0] != types[1] or not isinstance(types[0], AnyFloat):
            raise VerifyException(f"images and regions are of one floating-point type, not {types[0]} and {types[1]}")
        return [tensor_type((regions[0], *map(const, self.bins), x[3]), self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        regions = self.dims(1)[0]
        for axis, size in enumerate(self.dims(0)[:3]):
            text = f"{self.title} has nothing to take elements of: dimension {axis} of its input is {size}"
            yield Requirement((at_least(size, 1), equal(regions, 0)), text)

    @abstractmethod
    def pool(self, bin_: Bin, corners: Sequence[Scalar], extents: Sequence[Expr]) -> None:
        """Insert the statements that fill a bin of the region with these corners; `extents` are those of the image."""

    @abstractmethod
    def pooled(self, image: Array, corners: Array, place: tuple[int, int]) -> Array:
        """What the bin at a place of the region with these corners has in each channel."""

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        """Region by region; a bin has all channels beside each other."""
        x, regions, _ = inputs
        dims = (*regions.dims[:1], *map(const, self.bins), x.dims[3])
        wide = accumulator(x.dtype)

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            types = (x.dtype, x.dtype, i64, wide)
            source, places, numbers, result = (
                Buffer(k, buffer, dtype) for buffer, dtype in zip(buffers, types, strict=True)
            )
            count, *extents, channels = map(here, x.dims)

            def region(r: Expr) -> None:
                image = maximum(minimum(index_of(k, numbers[r]), count - 1), 0)
                corners = [widened(k, places[r, const(i)]) * self.scale.value.data for i in range(4)]

                def fill(i: Expr, j: Expr) -> None:
                    self.pool(Bin(k, source, result, image, [r, i, j], channels), corners, extents)

                k.for_each(dims[1:3], fill)

            is_worth_it = at_least(product(map(here, dims)), PARALLEL_WORK)
            k.for_each([here(dims[0])], region, Kind.PARALLEL, [is_worth_it])

        [total] = k.extern(self.label, inputs, [tensor_type(dims, wide)], write)
        return rounded(k, total, x.dtype)

    def evaluate(self, *inputs: Array) -> Array:
        x, regions, images = widened_array(inputs[0]), widened_array(inputs[1]), inputs[2]
        made = np.zeros((len(regions), *self.bins, x.shape[3]), x.dtype)
        for r, corners in enumerate(regions * x.dtype.type(self.scale.value.data)):
            image = x[np.clip(images[r], 0, len(x) - 1)]
            for i, j in combinations(range(self.bins[0]), range(self.bins[1])):
                made[r, i, j] = self.pooled(image, corners, (i, j))
        return made.astype(inputs[0].dtype, copy=False)


@dataclass(frozen=True)
class Bin:
    """One bin of one region while its statements are written: all channels of it, which stand at `at` in the result."""

    k: KernelBuilder
    source: Buffer
    result: Buffer
    image: Expr
    at: Sequence[Expr]
    channels: Expr

    @property
    def dtype(self) -> Attribute:
        """The type in which it is filled."""
        return self.result.dtype

    def element(self, row: Expr, column: Expr, channel: Expr) -> Scalar:
        """An element of the image."""
        return widened(self.k, self.source[self.image, row, column, channel])

    def now(self, channel: Expr) -> Scalar:
        """What the bin has now."""
        return self.result[(*self.at, channel)]

    def set(self, value: Callable[[Expr], Scalar]) -> None:
        """Replace what it has in each channel."""

        def store(channel: Expr) -> None:
            self.result.store((*self.at, channel), value(channel))

        self.k.for_each([self.channels], store)

    def set_all(self, value: Scalar) -> None:
        """Replace what it has in all channels by one number."""
        self.set(lambda _: value)
