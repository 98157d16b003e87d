"""Images made larger or smaller by reading them at other coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import Any, ClassVar, NamedTuple

import numpy as np
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, FloatAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, maximum, minimum
from tilework.dialects.graph.accumulation import accumulator, widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp, runtime_shape
from tilework.dialects.graph.windows import spatial_axes, with_axes
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor

MODES = ("nearest", "linear", "cubic")


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

    Rounded down (`nearest`), or as the weighted mean of the elements at both sides (`linear`), or of two at each side
    (`cubic`; the cubic's `coefficient` is its slope at the neighbours). In front of the first element stands the first
    one again, behind the last the last.

    %y = graph.resize %x {shape = #graph.dims<[1, 8, 6]>, steps = array<i64: 1, 1, 1>, offsets = array<i64: 0, 0, 0>,
        divisors = array<i64: 1, 2, 2>, mode = "nearest"} : (tensor<1x4x3xf32>) -> tensor<1x8x6xf32>
    """

    name = "graph.resize"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    shape = prop_def(DimsAttr)
    steps = prop_def(DenseArrayBase.constr(i64))
    offsets = prop_def(DenseArrayBase.constr(i64))
    divisors = prop_def(DenseArrayBase.constr(i64))
    mode = prop_def(StringAttr)
    coefficient = opt_prop_def(FloatAttr[AnyFloat])
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def coordinates(self) -> list[Coordinates]:
        """Where the elements of the result stand, axis by axis."""
        columns = (self.steps, self.offsets, self.divisors)
        return [Coordinates(*numbers) for numbers in zip(*(c.get_values() for c in columns), strict=True)]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, shape = self.dims(0), self.shape.data
        if self.mode.data not in MODES:
            raise VerifyException(f"the mode is {', '.join(MODES[:-1])} or {MODES[-1]}, it is not {self.mode.data}")
        if (self.mode.data == "cubic") != (self.coefficient is not None):
            raise VerifyException("a cubic has a coefficient, and others have none")
        if {len(shape), len(self.steps), len(self.offsets), len(self.divisors)} != {len(x)}:
            raise VerifyException(f"each of the {len(x)} axes has a size, a step, an offset and a divisor")
        if min(self.divisors.get_values(), default=1) < 1 or min(self.steps.get_values(), default=0) < 0:
            raise VerifyException("divisors are positive, and steps are not negative")
        self.require_symbols_of_operands(shape)
        if empty := [axis for axis, (d, size) in enumerate(zip(x, shape, strict=True)) if d == 0 and size != 0]:
            raise VerifyException(f"axis {empty[0]} of {self.input.type} has no elements to read")
        if self.mode.data != "nearest":
            self.require_float()
        return [tensor_type(shape, self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        axes = list(zip(self.coordinates(), x.dims, self.shape.data, strict=True))
        if self.mode.data != "nearest" and not all(along.reads_all(extent, size) for along, extent, size in axes):
            return self._define_blended(k, x)

        def element(*index: Expr) -> Scalar:
            return x[tuple(_tap(i, 0, *axis) for i, axis in zip(index, axes, strict=True))]

        return k.compute("resize", self.shape.data, with_axes(spatial_axes(len(axes)), element))

    def _define_blended(self, k: KernelBuilder, x: Tensor) -> Tensor:
        """Axis by axis, the first one first, so that whole rows are blended where that is possible."""
        dtype = x.dtype
        for axis, (along, size) in enumerate(zip(self.coordinates(), self.shape.data, strict=True)):
            if not along.reads_all(x.dims[axis], size):
                x = self._blended(k, x, axis, along, size)
        return x if x.dtype == dtype else k.compute("round", x.dims, lambda *i: k.cast(x[i], dtype))

    def _blended(self, k: KernelBuilder, x: Tensor, axis: int, along: Coordinates, size: Expr) -> Tensor:
        """`x` at other coordinates along one axis: the elements around, weighted, in the accumulator's type."""
        extent, dtype = x.dims[axis], accumulator(x.dtype)

        def element(*i: Expr) -> Scalar:
            rest = k.index((i[axis] * along.step + along.offset) % along.divisor, dtype)
            share = rest * (1.0 / along.divisor)
            taps = [_tap(i[axis], n, along, extent, size) for n in self._around()]
            reads = [widened(k, x[(*i[:axis], tap, *i[axis + 1 :])]) for tap in taps]
            return reduce(add, map(mul, reads, self._weights(share)))

        dims = (*x.dims[:axis], size, *x.dims[axis + 1 :])
        return k.compute("resize", dims, with_axes(spatial_axes(len(dims)), element))

    def _around(self) -> range:
        """The elements around a coordinate, counted from the one before."""
        return range(2) if self.coefficient is None else range(-1, 3)

    def _weights(self, share: Any) -> list[Any]:
        """Their weights, by how far behind the one before a coordinate is."""
        rest = 1.0 - share
        if self.coefficient is None:
            return [rest, share]
        a, near, far = self.coefficient.value.data, share * share, rest * rest
        return [
            share * far * a,
            (share * (a + 2.0) - (a + 3.0)) * near + 1.0,
            (rest * (a + 2.0) - (a + 3.0)) * far + 1.0,
            rest * near * a,
        ]

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        shape = runtime_shape(self.shape.data, self.dims(0), x.shape)
        result = widened_array(x)
        for axis, (along, size) in enumerate(zip(self.coordinates(), shape, strict=True)):
            before, rest = np.divmod(along.step * np.arange(size) + along.offset, along.divisor)
            taken = result.take(before, axis=axis, mode="clip")
            if self.mode.data != "nearest" and rest.any():
                share = (rest / along.divisor).astype(result.dtype).reshape(-1, *[1] * (x.ndim - axis - 1))
                reads = (result.take(before + n, axis=axis, mode="clip") for n in self._around())
                taken = reduce(add, map(mul, reads, self._weights(share)))
            result = taken
        return result.astype(x.dtype, copy=False)


def _tap(i: Expr, n: int, along: Coordinates, extent: Expr, size: Expr) -> Expr:
    """The subscript of the `n`th element behind the one before where element `i` stands; it stays in the axis."""
    at, last = ((of * along.step + along.offset) // along.divisor + n for of in (i, size - 1))
    return _inside(at, along.offset + n * along.divisor, extent - 1 - last, extent)


def _inside(subscript: Expr, lowest: int, room: Expr, extent: Expr) -> Expr:
    """A subscript that stays in the axis, which it does at an end by itself if `lowest` or `room` is not negative."""
    if lowest < 0:
        subscript = maximum(subscript, 0)
    return minimum(subscript, extent - 1) if room.constant is None or room.constant < 0 else subscript
