"""Systems of equations, and what sums over the rows of folds are made for: both are computed by numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, f64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.graph.joint_shapes import broadcast_dims
from tilework.dialects.matrix.base import Array, MatrixOp, float_of
from tilework.dialects.support.shapes import dims_of, tensor_type


@irdl_op_definition
class SolveOp(MatrixOp):
    """x with a x = b, for square matrices a; the leading axes broadcast. A singular matrix has no answer.

    %x = matrix.solve %a, %b : (tensor<4x2x2xf64>, tensor<2x1xf64>) -> tensor<4x2x1xf64>
    """

    name = "matrix.solve"
    left = operand_def(TensorType)
    right = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        a, b = dims_of(self.left.type), dims_of(self.right.type)
        if float_of(self.left) != f64 or float_of(self.right) != f64:
            raise VerifyException(f"equations are solved in f64, not of {self.left.type} and {self.right.type}")
        if len(a) < 2 or len(b) < 2 or a[-1] != a[-2] or a[-1] != b[-2]:
            raise VerifyException(f"{self.left.type} is no square matrix for as many rows as {self.right.type} has")
        return [tensor_type((*broadcast_dims(a[:-2], b[:-2]), *b[-2:]), f64)]

    def evaluate(self, *inputs: Array) -> Array:
        return np.linalg.solve(*inputs)


@irdl_op_definition
class FoldGramsOp(MatrixOp):
    """X'X of each of so many folds of the rows, which follow one another: the first are those with a row more.

    %g = matrix.fold_grams %x {folds = 5 : i64} : (tensor<?x3xf64, #graph.dims<[N, 3]>>) -> tensor<5x3x3xf64>
    """

    name = "matrix.fold_grams"
    input = operand_def(TensorType)
    folds = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        dims, folds = dims_of(self.input.type), self.folds.value.data
        if len(dims) != 2 or dims[1].constant is None or float_of(self.input) != f64:
            raise VerifyException(f"{self.input.type} is no matrix of f64 with a known number of columns")
        if folds < 2:
            raise VerifyException(f"rows are split into two folds or more, not into {folds}")
        return [tensor_type((folds, dims[1].constant, dims[1].constant), f64)]

    def evaluate(self, *inputs: Array) -> Array:
        return np.stack([fold.T @ fold for fold in np.array_split(inputs[0], self.folds.value.data)])
