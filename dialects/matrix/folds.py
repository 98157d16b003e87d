"""What one pass over the rows tells of each column of a matrix alone, and what scales are made of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType, f64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilework.dialects.matrix.base import Array, MatrixOp, known, matrix_of, require_shape, vector_length
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.shapes import tensor_type

STATES = ("rows", "known", "total", "squares", "low", "high")
"""What `matrix.summary` tells of each column, in the order of its results."""


@irdl_op_definition
class CountOp(MatrixOp):
    """The number of rows, for each column.

    %n = matrix.count %x : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> tensor<2xf64>
    """

    name = "matrix.count"
    input = operand_def(MatrixType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return [tensor_type((matrix_of(self.input).columns,), f64)]

    def evaluate(self, *inputs: Array) -> Array:
        return np.full(inputs[0].shape[1], len(inputs[0])).astype(np.float64)


@irdl_op_definition
class ExtremesOp(MatrixOp):
    """The least and the greatest of the elements of each column that are not NaN; of none infinity and its negative.

    %low, %high = matrix.extremes %x : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> (tensor<2xf64>, tensor<2xf64>)
    """

    name = "matrix.extremes"
    input = operand_def(MatrixType)
    low = result_def(TensorType)
    high = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x = matrix_of(self.input)
        return [tensor_type((x.columns,), x.element_type)] * 2

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [x] = inputs
        there = known(x)
        return [
            np.where(there, x, np.inf).min(axis=0, initial=np.inf),
            np.where(there, x, -np.inf).max(axis=0, initial=-np.inf),
        ]


@irdl_op_definition
class SummaryOp(MatrixOp):
    """All that one pass tells of each column: how many rows there are, how many elements are known, the sum of these
    and of their squares, both about the column's shift, the least and the greatest.

    The first four of parts of the rows are added to those of all rows; the last two are compared.

    %rows, %known, %total, %squares, %low, %high = matrix.summary %x, %shift
        : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>)
        -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
    """

    name = "matrix.summary"
    input = operand_def(MatrixType)
    shift = operand_def(TensorType)
    rows = result_def(TensorType)
    known = result_def(TensorType)
    total = result_def(TensorType)
    squares = result_def(TensorType)
    low = result_def(TensorType)
    high = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x = matrix_of(self.input)
        require_shape(self.shift, (x.columns,), x.element_type, "the shift")
        return [tensor_type((x.columns,), x.element_type)] * len(STATES)

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        x, shift = inputs
        there = known(x)
        moved = np.where(there, x - shift, 0)
        rows: Array = np.full(x.shape[1], len(x)).astype(x.dtype)
        return [
            rows,
            there.sum(axis=0).astype(x.dtype),
            moved.sum(axis=0),
            (moved * moved).sum(axis=0),
            np.where(there, x, np.inf).min(axis=0, initial=np.inf),
            np.where(there, x, -np.inf).max(axis=0, initial=-np.inf),
        ]


@irdl_op_definition
class DivisorOp(MatrixOp):
    """The elements of a vector, and 1 in the place of what is too near 0 to divide by it: less than 10 roundings of 1.

    %d = matrix.divisor %v : (tensor<2xf64>) -> tensor<2xf64>
    """

    name = "matrix.divisor"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        vector_length(self.input)
        return [self.input.type]

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        return np.where(x < 10 * np.finfo(x.dtype).eps, 1, x)
