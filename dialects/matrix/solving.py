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

    `others` is the sum over all other folds, added without it, so that a fold of large numbers costs no digits of it.
    `centred` is X'X of the numbers minus the means of the fold's columns. More folds than rows have no answer.

    %g, %others, %centred = matrix.fold_grams %x {folds = 5 : i64}
        : (tensor<?x3xf64, #graph.dims<[N, 3]>>) -> (tensor<5x3x3xf64>, tensor<5x3x3xf64>, tensor<5x3x3xf64>)
    """

    name = "matrix.fold_grams"
    input = operand_def(TensorType)
    folds = prop_def(IntegerAttr)
    grams = result_def(TensorType)
    others = result_def(TensorType)
    centred = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        dims, folds = dims_of(self.input.type), self.folds.value.data
        if len(dims) != 2 or dims[1].constant is None or float_of(self.input) != f64:
            raise VerifyException(f"{self.input.type} is no matrix of f64 with a known number of columns")
        if folds < 2:
            raise VerifyException(f"rows are split into two folds or more, not into {folds}")
        return [tensor_type((folds, dims[1].constant, dims[1].constant), f64)] * 3

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [rows], count = inputs, self.folds.value.data
        if len(rows) < count:
            raise ValueError(f"{len(rows)} rows are to be split into {count} folds, of which each has one at least")
        folds = np.array_split(rows, count)
        grams = np.stack([fold.T @ fold for fold in folds])
        others = np.stack([np.delete(grams, i, axis=0).sum(axis=0) for i in range(count)])
        return grams, others, np.stack([_centred_gram(fold) for fold in folds])


@irdl_op_definition
class R2Op(MatrixOp):
    """1 - error / spread, as scikit-learn's r2_score: with a spread of 0, 1 for no error and else 0; NaN of one row.

    %r2 = matrix.r2 %error, %spread, %rows : (tensor<5x3xf64>, tensor<5x1xf64>, tensor<5x1xf64>) -> tensor<5x3xf64>
    """

    name = "matrix.r2"
    error = operand_def(TensorType)
    spread = operand_def(TensorType)
    rows = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        error, spread, rows = (dims_of(value.type) for value in self.operands)
        if any(float_of(value) != f64 for value in self.operands):
            raise VerifyException("errors, spreads and numbers of rows are f64")
        return [tensor_type(broadcast_dims(error, broadcast_dims(spread, rows)), f64)]

    def evaluate(self, *inputs: Array) -> Array:
        error, spread, rows = inputs
        share = np.where(error == 0, 0.0, 1.0)
        share = np.divide(error, spread, out=share, where=np.broadcast_to(spread != 0, share.shape))
        return np.where(rows < 2, np.nan, 1 - share)


def _centred_gram(rows: Array) -> Array:
    columns = np.ascontiguousarray(rows.T)
    columns = columns - columns.mean(axis=1, keepdims=True)
    return columns @ columns.T
