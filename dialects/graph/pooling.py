"""Pooling: the maximum or the mean of sliding windows."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, maximum, product
from tilework.algebra.predicate import at_least, less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.accumulation import accumulator, widened, widened_array
from tilework.dialects.graph.arguments import is_extremum
from tilework.dialects.graph.base import Array, Category, GraphOp, extremes, numpy_dtype
from tilework.dialects.graph.windows import Windows, spatial_axes, with_axes
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor


class PoolOp(GraphOp, ABC):
    """Windows over the spatial axes of [batch, channels, spatial...]."""

    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    kernel = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    pads = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    ceil_mode = prop_def(BoolAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def windows(self) -> Windows:
        """The sliding windows. Raises VerifyException where the attributes do not fit one another."""
        return Windows.of(
            self.kernel.get_values(), self.strides, self.dilations, self.pads, bool(self.ceil_mode.value.data)
        )

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x = self.dims(0)
        if len(x) != len(self.kernel) + 2:
            raise VerifyException(
                f"a window of {len(self.kernel)} axes needs an input of rank {len(self.kernel) + 2}, not {len(x)}"
            )
        windows = self.windows
        for span, before, after in zip(windows.spans, windows.before, windows.after, strict=True):
            if max(before, after) >= span:
                raise VerifyException(f"padding {max(before, after)} is not smaller than the window, {span}")
        return [tensor_type((*x[:2], *windows.positions(x[2:])), self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        return self.windows_fit()

    def result_dims(self, x: Tensor) -> tuple[Expr, ...]:
        """The dimensions of the result."""
        return (*x.dims[:2], *self.windows.positions(x.dims[2:]))


@irdl_op_definition
class MaxPoolOp(PoolOp):
    """The largest element of each window; padding never wins, NaN does.

    %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>,
        dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
    """

    name = "graph.max_pool"

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        return super().infer()

    @property
    def _least(self) -> Any:
        """What never wins against an element of the input."""
        return extremes(numpy_dtype(self.dtype()))[0]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        windows = self.windows
        padded = windows.pad(k, x, self._least.item())
        axes = spatial_axes(len(x.dims))
        taps = [f"r{axis}" for axis in axes[2:]]

        def element(n: Expr, c: Expr, *position: Expr):
            return k.reduce_max(
                windows.kernel, with_axes(taps, lambda *tap: padded[(n, c, *windows.at(position, tap))])
            )

        return k.compute("max_pool", self.result_dims(x), with_axes(axes, element))

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        views = self.windows.views(x, self._least)
        return views.max(axis=tuple(range(2 - x.ndim, 0)))


@irdl_op_definition
class MaxPoolIndicesOp(PoolOp):
    """Where in the input the largest element of each window is, the first where several are; NaN wins.

    `largest` is what graph.max_pool makes of the same input and windows. An index is the element's number in memory
    order or, with `column_major`, its number where of the spatial axes the first is the innermost; -1 is that of a
    window of padding alone.
    """

    name = "graph.max_pool_indices"
    CATEGORY: ClassVar[Category] = Category.OPAQUE
    largest = operand_def(TensorType)
    column_major = prop_def(BoolAttr)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        [pooled] = super().infer()
        if self.operand_type(1) != pooled:
            raise VerifyException(f"the largest elements are {pooled}, not {self.operand_type(1)}")
        return [tensor_type(dims_of(pooled), i64)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        """The least number of an element of the window, in memory order within a channel, that is the largest one."""
        x, largest = inputs
        windows, extents, nowhere = self.windows, x.dims[2:], np.iinfo(np.int64).max
        axes = spatial_axes(len(x.dims))

        def window(n: Expr, c: Expr, *position: Expr) -> Reduction:
            def place(*tap: Expr) -> Scalar:
                at = [i - b for i, b in zip(windows.at(position, tap), windows.before, strict=True)]

                def found() -> Scalar:
                    is_found = is_extremum(x[(n, c, *at)], largest[(n, c, *position)])
                    return k.select(is_found, k.index(_number(at, extents), i64), nowhere)

                inside = windows.inside(at, extents)
                return k.if_then_else(inside, found, lambda: nowhere, i64) if inside else found()

            return k.reduce_min(windows.kernel, with_axes([f"r{axis}" for axis in axes[2:]], place))

        places = k.compute("place", largest.dims, with_axes(axes, window))

        def index(n: Expr, c: Expr, *position: Expr) -> Scalar:
            place = places[(n, c, *position)]
            first = k.index((n * x.dims[1] + c) * product(extents), i64)
            inner = self._column_major(k, place, extents) if self.column_major.value.data else place
            return k.select(place.compare("eq", nowhere), k.constant(-1, i64), first + inner)

        return k.compute("max_pool_indices", largest.dims, with_axes(axes, index))

    def _column_major(self, k: KernelBuilder, place: Scalar, extents: Sequence[Expr]) -> Scalar:
        """The number that an element of a channel has where the first axis is the innermost."""
        rest, terms = place, list[Scalar]()
        for axis in reversed(range(len(extents))):
            size, stride = (k.index(e, i64) for e in (maximum(extents[axis], 1), product(extents[:axis])))
            terms.append(rest % size * stride)
            rest = rest / size
        return reduce(lambda a, b: a + b, terms)

    def evaluate(self, *inputs: Array) -> Array:
        x, largest = inputs
        shape, taps = x.shape[2:], (1,) * (x.ndim - 2)
        views = self.windows.views(x, extremes(x.dtype)[0])
        numbers = np.arange(prod(shape)).reshape(shape)
        nowhere = numbers.size
        places = self.windows.views(numbers, nowhere)
        wanted = largest.reshape(*largest.shape, *taps)
        is_found = (places < nowhere) & ((views == wanted) | ((views != views) & (wanted != wanted)))
        place = np.where(is_found, places, nowhere).min(tuple(range(2 - x.ndim, 0)), initial=nowhere)
        order = np.arange(nowhere).reshape(shape[::-1]).T if self.column_major.value.data else numbers
        first = np.arange(prod(x.shape[:2])).reshape(*x.shape[:2], *taps) * nowhere
        return np.where(place == nowhere, -1, first + np.append(order, -1)[place])


@irdl_op_definition
class AveragePoolOp(PoolOp):
    """The mean of each window: of its taps inside the input or, with `count_padding`, of those in the padding too.

    Taps beyond the padding, which `ceil_mode` may bring in, never count.
    """

    name = "graph.average_pool"
    count_padding = prop_def(BoolAttr)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        return super().infer()

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        windows = self.windows
        padded = windows.pad(k, x, 0.0)
        axes = spatial_axes(len(x.dims))
        taps = [f"r{axis}" for axis in axes[2:]]

        def window(n: Expr, c: Expr, *position: Expr):
            def element(*tap: Expr):
                return widened(k, padded[(n, c, *windows.at(position, tap))])

            return k.sum(windows.kernel, with_axes(taps, element))

        dims = self.result_dims(x)
        total = k.compute("window_sum", dims, with_axes(axes, window))
        counted = self._counted(x.dims[2:])
        if all(first == 0 and end == whole for (first, end), whole in zip(counted, padded.dims[2:], strict=True)):
            taps_each = float(prod(windows.kernel))
            return k.compute("average_pool", dims, with_axes(axes, lambda *i: k.cast(total[i] / taps_each, x.dtype)))
        count = self._count_stage(k, dims[2:], counted, accumulator(x.dtype))
        return k.compute("average_pool", dims, with_axes(axes, lambda *i: k.cast(total[i] / count[i[2:]], x.dtype)))

    def _counted(self, extents: Sequence[Expr]) -> list[tuple[Expr, Expr]]:
        """The part of the padded input whose elements count, along each axis: its first index and its end."""
        windows, padding = self.windows, bool(self.count_padding.value.data)
        return [
            (const(0), extent + (before + after)) if padding else (const(before), extent + before)
            for extent, before, after in zip(extents, windows.before, windows.after, strict=True)
        ]

    def _count_stage(
        self, k: KernelBuilder, positions: Sequence[Expr], counted: Sequence[tuple[Expr, Expr]], dtype: Attribute
    ) -> Tensor:
        """How many taps of each window count."""
        windows = self.windows
        axes = spatial_axes(len(positions), ())

        def element(*position: Expr):
            def one(*tap: Expr):
                where = list(zip(windows.at(position, tap), counted, strict=True))
                inside = [at_least(i, first) for i, (first, _) in where if first != 0]
                inside += [less_than(i, end) for i, (_, end) in where]
                return k.if_then_else(inside, lambda: 1.0, lambda: 0.0, dtype)

            return k.sum(windows.kernel, with_axes([f"r{axis}" for axis in axes], one))

        return k.compute("window_count", positions, with_axes(axes, element))

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        windows = self.windows
        extents = [const(n) for n in x.shape[2:]]
        x = widened_array(x)
        mask = np.zeros([whole.offset for whole in windows.padded(extents)], x.dtype)
        mask[tuple(slice(first.offset, end.offset) for first, end in self._counted(extents))] = 1
        taps = tuple(range(-len(extents), 0))
        counts = windows.slide(mask, extents).sum(axis=taps)
        return (windows.views(x, 0).sum(axis=taps, dtype=x.dtype) / counts).astype(inputs[0].dtype, copy=False)


def _number(index: Sequence[Expr], dims: Sequence[Expr]) -> Expr:
    """The number in memory order of an element of a tensor of these dimensions."""
    return reduce(lambda number, axis: number * axis[0] + axis[1], zip(dims, index, strict=True), const(0))
