"""Reductions over some of a tensor's axes."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph.accumulation import rounded, widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp, extremes
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

ROUNDING = ("add", "mul")
"""Reducers whose every step may round: half-precision numbers are wider meanwhile."""


class ReduceOp(GraphOp, ABC):
    """Over `axes`, which disappear or, with `keep_dims`, stay as 1.

    %y = graph.reduce_sum %x {axes = array<i64: 2, 3>, keep_dims = true} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>
    """

    CATEGORY: ClassVar[Category] = Category.REDUCTION
    KIND: ClassVar[str]
    """The reducer, as te names it."""
    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(i64))
    keep_dims = prop_def(BoolAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, axes = self.dims(0), self.axes.get_values()
        if list(axes) != sorted(set(axes)) or any(not 0 <= axis < len(x) for axis in axes):
            raise VerifyException(
                f"axes ascend and lie in a tensor of rank {len(x)}, [{', '.join(map(str, axes))}] do not"
            )
        return [tensor_type(self._kept(x), self.dtype())]

    def _kept(self, dims: Sequence[Expr]) -> tuple[Expr, ...]:
        axes = self.axes.get_values()
        if self.keep_dims.value.data:
            return tuple(const(1) if axis in axes else d for axis, d in enumerate(dims))
        return tuple(d for axis, d in enumerate(dims) if axis not in axes)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        return rounded(k, self.reduce_stage(k, x, self.label), x.dtype)

    def reduce_stage(self, k: KernelBuilder, x: Tensor, stage: str) -> Tensor:
        """One compute that combines the elements along the axes; where steps round, in the accumulator's type."""
        axes, keep = self.axes.get_values(), bool(self.keep_dims.value.data)

        def element(*index: Expr) -> Scalar | Reduction:
            own = iter(index)
            base = [next(own) if keep or axis not in axes else const(0) for axis in range(len(x.dims))]

            def term(*reduced: Expr) -> Scalar:
                along = dict(zip(axes, reduced, strict=True))
                read = x[tuple(along.get(axis, i) for axis, i in enumerate(base))]
                return widened(k, read) if self.KIND in ROUNDING else read

            if not axes:
                return term()
            return Reduction(
                self.KIND, tuple(x.dims[axis] for axis in axes), with_axes([f"r{axis}" for axis in axes], term)
            )

        dims = self._kept(x.dims)
        return k.compute(stage, dims, with_axes([f"i{axis}" for axis in range(len(dims))], element))


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    """The sum."""

    name = "graph.reduce_sum"
    KIND: ClassVar = "add"

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        wide = widened_array(x)
        total = wide.sum(axis=self.axes.get_values(), keepdims=bool(self.keep_dims.value.data), dtype=wide.dtype)
        return np.asarray(total, x.dtype)


@irdl_op_definition
class ReduceProdOp(ReduceOp):
    """The product."""

    name = "graph.reduce_prod"
    KIND: ClassVar = "mul"

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        wide = widened_array(x)
        total = wide.prod(axis=self.axes.get_values(), keepdims=bool(self.keep_dims.value.data), dtype=wide.dtype)
        return np.asarray(total, x.dtype)


class _ExtremumOp(ReduceOp, ABC):
    """Find the extremum of numbers.

    That of nothing is an infinity, or the last number on its side that an integer can be.
    """

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        return super().infer()


@irdl_op_definition
class ReduceMaxOp(_ExtremumOp):
    """The largest element; NaN wins."""

    name = "graph.reduce_max"
    KIND: ClassVar = "max"

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        least, _ = extremes(x.dtype)
        return x.max(axis=self.axes.get_values(), keepdims=bool(self.keep_dims.value.data), initial=least)


@irdl_op_definition
class ReduceMinOp(_ExtremumOp):
    """The smallest element; NaN wins."""

    name = "graph.reduce_min"
    KIND: ClassVar = "min"

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        _, most = extremes(x.dtype)
        return x.min(axis=self.axes.get_values(), keepdims=bool(self.keep_dims.value.data), initial=most)


@irdl_op_definition
class ReduceMeanOp(ReduceOp):
    """The mean of floating-point numbers."""

    name = "graph.reduce_mean"
    KIND: ClassVar = "add"

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        return super().infer()

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        total = self.reduce_stage(k, x, "sum")
        count = product(x.dims[axis] for axis in self.axes.get_values())

        def mean(*i: Expr) -> Scalar:
            divisor = k.index(count, total.dtype) if count.constant is None else float(count.constant)
            return k.cast(total[i] / divisor, x.dtype)

        return k.compute(self.label, total.dims, with_axes([f"i{axis}" for axis in range(len(total.dims))], mean))

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        wide = widened_array(x)
        mean = wide.mean(axis=self.axes.get_values(), keepdims=bool(self.keep_dims.value.data))
        return np.asarray(mean, x.dtype)
