"""Products of a matrix of rows with one that is the same for all rows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.matrix.base import Array, MatrixOp, float_of, matrix_of
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.shapes import dims_of, tensor_type


@irdl_op_definition
class MatmulOp(MatrixOp):
    """y[n, j] = sum over i of x[n, i] * w[i, j]; the new columns are called as `origin` says.

    %y = matrix.matmul %x, %w {origin = "pca"} : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2x1xf64>)
        -> !matrix.matrix<N x 1 x f64, [pca]>
    """

    name = "matrix.matmul"
    input = operand_def(MatrixType)
    weight = operand_def(TensorType)
    origin = prop_def(StringAttr)
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x, dims = matrix_of(self.input), dims_of(self.weight.type)
        if len(dims) != 2 or dims[1].constant is None or float_of(self.weight) != x.element_type:
            raise VerifyException(f"the weight is a matrix of {x.element_type}, not {self.weight.type}")
        if dims[0] != x.columns:
            raise VerifyException(f"the matrix has {x.columns} columns, the weight {dims[0]} rows")
        return [x.with_columns([self.origin.data] * dims[1].constant)]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0] @ inputs[1]


@irdl_op_definition
class AddOp(MatrixOp):
    """The sums of the elements of two matrices; the columns keep the names of the first.

    %y = matrix.add %a, %b : (!matrix.matrix<N x 1 x f64, [pay]>, !matrix.matrix<N x 1 x f64, [bonus]>)
        -> !matrix.matrix<N x 1 x f64, [pay]>
    """

    name = "matrix.add"
    left = operand_def(MatrixType)
    right = operand_def(MatrixType)
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        a, b = matrix_of(self.left), matrix_of(self.right)
        if a.tensor != b.tensor:
            raise VerifyException(f"{a} and {b} differ in size or type")
        return [a]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0] + inputs[1]


@irdl_op_definition
class PairsOp(MatrixOp):
    """Products of a column of one matrix and a column of another: of each pair that both lists say, counted from 0.

    %y = matrix.pairs %x, %z {left = array<i64: 0, 1>, right = array<i64: 1, 1>}
        : (!matrix.matrix<N x 2 x f64, [age, pay]>, !matrix.matrix<N x 2 x f64, [age, pay]>)
        -> !matrix.matrix<N x 2 x f64, ["age*pay", "pay*pay"]>
    """

    name = "matrix.pairs"
    first = operand_def(MatrixType)
    second = operand_def(MatrixType)
    left = prop_def(DenseArrayBase.constr(i64))
    right = prop_def(DenseArrayBase.constr(i64))
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        a, b = matrix_of(self.first), matrix_of(self.second)
        if (a.rows, a.element_type) != (b.rows, b.element_type):
            raise VerifyException(f"{a} and {b} differ in rows or type")
        left, right = self.left.get_values(), self.right.get_values()
        if len(left) != len(right):
            raise VerifyException(f"{len(left)} columns are paired with {len(right)}")
        for columns, which in ((a.columns, left), (b.columns, right)):
            if out := [i for i in which if not 0 <= i < columns]:
                raise VerifyException(f"there is no column {out[0]} in a matrix of {columns} columns")
        return [a.with_columns([f"{a.names[i]}*{b.names[j]}" for i, j in zip(left, right, strict=True)])]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0][:, list(self.left.get_values())] * inputs[1][:, list(self.right.get_values())]


@irdl_op_definition
class GramOp(MatrixOp):
    """X'X: the sums over all rows of the products of every two columns.

    %g = matrix.gram %x : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> tensor<2x2xf64>
    """

    name = "matrix.gram"
    input = operand_def(MatrixType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x = matrix_of(self.input)
        return [tensor_type((x.columns, x.columns), x.element_type)]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0].T @ inputs[0]
