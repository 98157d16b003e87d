"""Images made larger or smaller by reading them at other coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, maximum, minimum
from tilework.dialects.graph.accumulation import accumulator, widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp, runtime_shape
from tilework.dialects.graph.windows import spatial_axes, with_axes
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor


class Coordinates(NamedTuple):
    """Element i along an axis of the result stands at (step * i + offset) / divisor of the input's axis."""

    step: int
    offset: int
    divisor: int

    def reads_all(self, extent: Expr, size: Expr) -> bool:
        """Whether the axis stays what it is."""
        return self == (1, 0, 1) and extent == size


@irdl_op_definition
class ResizeOp(GraphOp):
    """The input read at the coordinates (step * i + offset) / divisor, along every axis of the result's `shape`.

    Rounded down or, if `linear`, as the weighted mean of the elements at both sides. In front of the first element
    stands the first one again, behind the last the last.

    %y = graph.resize %x {shape = #graph.dims<[1, 8, 6]>, steps = array<i64: 1, 1, 1>, offsets = array<i64: 0, 0, 0>,
        divisors = array<i64: 1, 2, 2>, linear = false} : (tensor<1x4x3xf32>) -> tensor<1x8x6xf32>
    """

    name = "graph.resize"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    shape = prop_def(DimsAttr)
    steps = prop_def(DenseArrayBase.constr(i64))
    offsets = prop_def(DenseArrayBase.constr(i64))
    divisors = prop_def(DenseArrayBase.constr(i64))
    linear = prop_def(BoolAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def coordinates(self) -> list[Coordinates]:
        """Where the elements of the result stand, axis by axis."""
        columns = (self.steps, self.offsets, self.divisors)
        return [Coordinates(*numbers) for numbers in zip(*(c.get_values() for c in columns), strict=True)]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, shape = self.dims(0), self.shape.data
        if {len(shape), len(self.steps), len(self.offsets), len(self.divisors)} != {len(x)}:
            raise VerifyException(f"each of the {len(x)} axes has a size, a step, an offset and a divisor")
        if min(self.divisors.get_values(), default=1) < 1 or min(self.steps.get_values(), default=0) < 0:
            raise VerifyException("divisors are positive, and steps are not negative")
        self.require_told(shape)
        if empty := [axis for axis, (d, size) in enumerate(zip(x, shape, strict=True)) if d == 0 and size != 0]:
            raise VerifyException(f"axis {empty[0]} of {self.input.type} has no elements to read")
        if self.linear.value.data:
            self.require_float()
        return [tensor_type(shape, self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        axes = list(zip(self.coordinates(), x.dims, self.shape.data, strict=True))
        if self.linear.value.data and not all(along.reads_all(extent, size) for along, extent, size in axes):
            return self._define_linear(k, x)

        def element(*index: Expr) -> Scalar:
            return x[tuple(_taps(i, *axis)[0] for i, axis in zip(index, axes, strict=True))]

        return k.compute("resize", self.shape.data, with_axes(spatial_axes(len(axes)), element))

    def _define_linear(self, k: KernelBuilder, x: Tensor) -> Tensor:
        """Axis by axis, the first one first, so that whole rows are blended where that is possible."""
        dtype = x.dtype
        for axis, (along, size) in enumerate(zip(self.coordinates(), self.shape.data, strict=True)):
            if not along.reads_all(x.dims[axis], size):
                x = _blended(k, x, axis, along, size)
        return x if x.dtype == dtype else k.compute("round", x.dims, lambda *i: k.cast(x[i], dtype))

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        shape = runtime_shape(self.shape.data, self.dims(0), x.shape)
        linear, result = bool(self.linear.value.data), widened_array(x)
        for axis, (along, size) in enumerate(zip(self.coordinates(), shape, strict=True)):
            numerators = along.step * np.arange(size) + along.offset
            before, rest = np.divmod(numerators, along.divisor)
            taken = result.take(before, axis=axis, mode="clip")
            if linear and rest.any():
                share = (rest / along.divisor).astype(result.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))
                taken = taken * (1 - share) + result.take(before + 1, axis=axis, mode="clip") * share
            result = taken
        return result.astype(x.dtype, copy=False)


def _taps(i: Expr, along: Coordinates, extent: Expr, size: Expr) -> tuple[Expr, Expr]:
    """The subscripts of the elements before and behind where element `i` stands; both stay in the axis."""
    before, last = ((at * along.step + along.offset) // along.divisor for at in (i, size - 1))
    return (
        _inside(before, along.offset, extent - 1 - last, extent),
        _inside(before + 1, along.offset + along.divisor, extent - 2 - last, extent),
    )


def _inside(subscript: Expr, lowest: int, room: Expr, extent: Expr) -> Expr:
    """A subscript that stays in the axis, which it does at an end by itself if `lowest` or `room` is not negative."""
    if lowest < 0:
        subscript = maximum(subscript, 0)
    return minimum(subscript, extent - 1) if room.constant is None or room.constant < 0 else subscript


def _blended(k: KernelBuilder, x: Tensor, axis: int, along: Coordinates, size: Expr) -> Tensor:
    """`x` at other coordinates along one axis: the elements at both sides, weighted, in the accumulator's type."""
    extent, dtype = x.dims[axis], accumulator(x.dtype)

    def element(*i: Expr) -> Scalar:
        before, behind = _taps(i[axis], along, extent, size)
        rest = k.index((i[axis] * along.step + along.offset) % along.divisor, dtype)
        share = rest * (1.0 / along.divisor)
        first, second = (widened(k, x[(*i[:axis], at, *i[axis + 1 :])]) for at in (before, behind))
        return first * (1.0 - share) + second * share

    dims = (*x.dims[:axis], size, *x.dims[axis + 1 :])
    return k.compute("resize", dims, with_axes(spatial_axes(len(dims)), element))
