"""Which columns a matrix has, and its way to tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.matrix.base import Array, MatrixOp, matrix_of
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.shapes import dims_of, element_type


@irdl_op_definition
class ConcatOp(MatrixOp):
    """The columns of several matrices with the same rows, one after the other.

    %y = matrix.concat %a, %b : (!matrix.matrix<N x 1 x f64, [age]>, !matrix.matrix<N x 2 x f64, [town * 2]>)
        -> !matrix.matrix<N x 3 x f64, [age, town * 2]>
    """

    name = "matrix.concat"
    inputs = var_operand_def(MatrixType)
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        types = [matrix_of(x) for x in self.inputs]
        if not types:
            raise VerifyException("there is no matrix to take columns of")
        for other in types[1:]:
            if (other.rows, other.element_type) != (types[0].rows, types[0].element_type):
                raise VerifyException(f"the columns of {types[0]} and {other} are not of the same rows and type")
        return [types[0].with_columns([name for type_ in types for name in type_.names])]

    def evaluate(self, *inputs: Array) -> Array:
        return np.concatenate(inputs, axis=1)


@irdl_op_definition
class ColumnsOp(MatrixOp):
    """Some columns of a matrix, in the order in which they are asked for, which are counted from 0.

    %y = matrix.columns %x {which = array<i64: 2, 0>} : (!matrix.matrix<N x 3 x f64, [age, town * 2]>)
        -> !matrix.matrix<N x 2 x f64, [town, age]>
    """

    name = "matrix.columns"
    input = operand_def(MatrixType)
    which = prop_def(DenseArrayBase.constr(i64))
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x, which = matrix_of(self.input), self.which.get_values()
        if out := [i for i in which if not 0 <= i < x.columns]:
            raise VerifyException(f"there is no column {out[0]} in a matrix of {x.columns} columns")
        return [x.with_columns([x.names[i] for i in which])]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0][:, list(self.which.get_values())]


@irdl_op_definition
class ToTensorOp(MatrixOp):
    """The elements of a matrix without where they come from: what graph operators take.

    %y = matrix.to_tensor %x : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
    """

    name = "matrix.to_tensor"
    input = operand_def(MatrixType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return [matrix_of(self.input).tensor]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0]


@irdl_op_definition
class FromTensorOp(MatrixOp):
    """A tensor of rows as a matrix, whose columns come from what `origins` name.

    %y = matrix.from_tensor %x {origins = ["age", "pay"]} : (tensor<?x2xf64, #graph.dims<[N, 2]>>)
        -> !matrix.matrix<N x 2 x f64, [age, pay]>
    """

    name = "matrix.from_tensor"
    input = operand_def(TensorType)
    origins = prop_def(ArrayAttr[StringAttr])
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        dims = dims_of(self.input.type)
        if len(dims) != 2 or dims[1] != len(self.origins):
            raise VerifyException(f"{self.input.type} is no matrix with {len(self.origins)} named columns")
        return [MatrixType.of(dims[0], element_type(self.input.type), [name.data for name in self.origins])]

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0]
