"""Normalization: batch and local response normalization, softmax."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.accumulation import widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp, SizesDiffer, normalize_axis
from tilework.dialects.graph.windows import pad_stage, spatial_axes, with_axes
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor


@irdl_op_definition
class BatchNormOp(GraphOp):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, each a vector over axis 1 of x.

    %y = graph.batch_norm %x, %scale, %bias, %mean, %variance {epsilon = 1.000000e-05 : f32}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    """

    name = "graph.batch_norm"
    CATEGORY: ClassVar[Category] = Category.BROADCAST
    input = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    epsilon = prop_def(FloatAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        self.require_same_dtype()
        x = self.dims(0)
        if len(x) < 2:
            raise VerifyException(f"the input has a batch and a channel axis, not rank {len(x)}")
        for i, what in enumerate(("scale", "bias", "mean", "variance"), start=1):
            dims = self.dims(i)
            if dims != (x[1],):
                message = f"the {what} is a vector over the {x[1]} channels, not {self.operands[i].type}"
                if len(dims) != 1:
                    raise VerifyException(message)
                raise SizesDiffer(x[1], dims[0], message, (i, 0, x[1]), (0, 1, dims[0]))
        return [self.operand_type(0)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, scale, bias, mean, variance = inputs

        def element(*i: Expr) -> Scalar:
            c = i[1]
            factor = scale[c] / k.call("sqrt", variance[c] + self.epsilon.value.data)
            return (x[i] - mean[c]) * factor + bias[c]

        return k.compute("batch_norm", x.dims, with_axes(spatial_axes(len(x.dims)), element))

    def evaluate(self, *inputs: Array) -> Array:
        x = inputs[0]
        scale, bias, mean, variance = (v.reshape(-1, *[1] * (x.ndim - 2)) for v in inputs[1:])
        return (x - mean) * (scale / np.sqrt(variance + x.dtype.type(self.epsilon.value.data))) + bias


@irdl_op_definition
class LrnOp(GraphOp):
    """x / (bias + alpha / size * sum of the squares of the `size` nearest channels) ** beta.

    %y = graph.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32}
        : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    """

    name = "graph.lrn"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    size = prop_def(IntegerAttr)
    alpha = prop_def(FloatAttr)
    beta = prop_def(FloatAttr)
    bias = prop_def(FloatAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        if len(self.dims(0)) < 2:
            raise VerifyException(f"the input has a batch and a channel axis, not rank {len(self.dims(0))}")
        if self.size.value.data < 1:
            raise VerifyException(f"the size is positive, it is not {self.size.value.data}")
        return [self.operand_type(0)]

    @property
    def before(self) -> int:
        """How many of the window's channels lie in front of its own; an even size has one more behind."""
        return (self.size.value.data - 1) // 2

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        size = self.size.value.data
        axes = spatial_axes(len(x.dims))
        before = (0, self.before, *[0] * (len(x.dims) - 2))
        padded = pad_stage(k, x, before, (x.dims[0], x.dims[1] + (size - 1), *x.dims[2:]), 0.0)

        def squares(n: Expr, c: Expr, *p: Expr):
            def square(r: Expr):
                element = widened(k, padded[(n, c + r, *p)])
                return element * element

            return k.sum((size,), square)

        total = k.compute("square_sum", x.dims, with_axes(axes, squares))
        factor, beta, bias = self.alpha.value.data / size, self.beta.value.data, self.bias.value.data

        def element(*i: Expr) -> Scalar:
            return k.cast(widened(k, x[i]) / k.power(total[i] * factor + bias, beta), x.dtype)

        return k.compute("lrn", x.dims, with_axes(axes, element))

    def evaluate(self, *inputs: Array) -> Array:
        x = widened_array(inputs[0])
        size, dtype = self.size.value.data, x.dtype.type
        widths = [(0, 0), (self.before, size - 1 - self.before)] + [(0, 0)] * (x.ndim - 2)
        squares = sliding_window_view(np.pad(x * x, widths), size, axis=1).sum(axis=-1, dtype=x.dtype)
        factor = dtype(self.alpha.value.data / size)
        result = x / (squares * factor + dtype(self.bias.value.data)) ** dtype(self.beta.value.data)
        return result.astype(inputs[0].dtype, copy=False)


class SoftmaxLikeOp(GraphOp, ABC):
    """Normalize along one axis, in several steps, of which the first subtracts the maximum so that no exponential
    overflows."""

    CATEGORY: ClassVar[Category] = Category.OPAQUE
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        axis, rank = self.axis.value.data, len(self.dims(0))
        if axis < 0 or normalize_axis(axis, rank) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        return [self.operand_type(0)]

    def rest(self, items: Sequence[Expr]) -> tuple[Expr, ...]:
        """Dimensions, or an index, without the component along the axis."""
        axis = self.axis.value.data
        return (*items[:axis], *items[axis + 1 :])

    def combine(
        self, k: KernelBuilder, x: Tensor, stage: str, kind: str, function: Callable[[Scalar], Scalar]
    ) -> Tensor:
        """One number for each row along the axis: `function` of its elements, combined by the reducer `kind`."""
        axis = self.axis.value.data

        def row(*i: Expr) -> Reduction:
            def element(r: Expr) -> Scalar:
                return function(x[(*i[:axis], r, *i[axis:])])

            return Reduction(kind, (x.dims[axis],), element)

        return k.compute(stage, self.rest(x.dims), row)

    def shifted(self, k: KernelBuilder, x: Tensor, largest: Tensor, i: Sequence[Expr]) -> Scalar:
        """An element less the largest one of its row, as a number of the accumulator's type."""
        return widened(k, x[tuple(i)]) - widened(k, largest[self.rest(i)])


@irdl_op_definition
class SoftmaxOp(SoftmaxLikeOp):
    """exp(x - max) times 1 / sum of exp(x - max): one division for each row.

    %y = graph.softmax %x {axis = 1 : i64} : (tensor<2x1000xf32>) -> tensor<2x1000xf32>
    """

    name = "graph.softmax"

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        largest = self.combine(k, x, "max", "max", lambda e: e)
        exps = k.compute("exp", x.dims, lambda *i: k.call("exp", self.shifted(k, x, largest, i)))
        total = self.combine(k, exps, "sum", "add", lambda e: e)
        return k.compute("softmax", x.dims, lambda *i: k.cast(exps[i] * (1.0 / total[self.rest(i)]), x.dtype))

    def evaluate(self, *inputs: Array) -> Array:
        x = widened_array(inputs[0])
        axis = self.axis.value.data
        exps = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
        total = exps.sum(axis=axis, keepdims=True, dtype=x.dtype)
        return (exps * (1 / total)).astype(inputs[0].dtype, copy=False)


@irdl_op_definition
class LogSoftmaxOp(SoftmaxLikeOp):
    """x - max - log(sum of exp(x - max))."""

    name = "graph.log_softmax"

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        largest = self.combine(k, x, "max", "max", lambda e: e)
        shifted = k.compute("shift", x.dims, lambda *i: self.shifted(k, x, largest, i))
        total = self.combine(k, shifted, "sum", "add", lambda e: k.call("exp", e))

        def element(*i: Expr) -> Scalar:
            return k.cast(shifted[i] - k.call("log", total[self.rest(i)]), x.dtype)

        return k.compute("log_softmax", x.dims, element)

    def evaluate(self, *inputs: Array) -> Array:
        x = widened_array(inputs[0])
        axis = self.axis.value.data
        shifted = x - x.max(axis=axis, keepdims=True, initial=-np.inf)
        total = np.exp(shifted).sum(axis=axis, keepdims=True, dtype=x.dtype)
        return (shifted - np.log(total)).astype(inputs[0].dtype, copy=False)
