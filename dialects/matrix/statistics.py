"""Statistics of the rows of a matrix, each a sum over rows, and what is computed of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilework.dialects.matrix.base import Array, MatrixOp, float_of, known, matrix_of, require_shape, vector_length
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.shapes import tensor_type


@irdl_op_definition
class MomentsOp(MatrixOp):
    """For each column the mean, the variance and the number of its elements that are known: those that are not NaN.

    The variance is that of the elements, not an estimate of another one. Of no element both are NaN.

    %mean, %variance, %known = matrix.moments %x : (!matrix.matrix<N x 2 x f64, [age, pay]>)
        -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
    """

    name = "matrix.moments"
    input = operand_def(MatrixType)
    mean = result_def(TensorType)
    variance = result_def(TensorType)
    known = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x = matrix_of(self.input)
        return [tensor_type((x.columns,), x.element_type)] * 3

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [x] = inputs
        there = known(x)
        count = there.sum(axis=0).astype(x.dtype)
        mean = np.where(there, x, 0).sum(axis=0) / count
        variance = (np.where(there, x - mean, 0) ** 2).sum(axis=0) / count
        return [mean, variance, count]


@irdl_op_definition
class ScaleOp(MatrixOp):
    """The standard deviation of each column; 1 where the elements of a column differ by no more than rounding.

    %scale = matrix.scale %mean, %variance, %known : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    """

    name = "matrix.scale"
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    known = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        length, element = vector_length(self.mean), float_of(self.mean)
        require_shape(self.variance, (length,), element, "the variance")
        require_shape(self.known, (length,), element, "the count")
        return [self.mean.type]

    def evaluate(self, *inputs: Array) -> Array:
        mean, variance, count = inputs
        eps = np.finfo(mean.dtype).eps
        constant = variance <= count * eps * variance + (count * mean * eps) ** 2
        scale = np.sqrt(variance)
        scale[constant] = 1
        return scale
