"""Statistics of the rows of a matrix, each a sum over rows, and what is computed of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, TensorType, f64, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.matrix.base import (
    Array,
    MatrixOp,
    float_of,
    known,
    matrix_of,
    regression_columns,
    require_shape,
    vector_length,
)
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.shapes import dims_of, tensor_type


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


@irdl_op_definition
class CovarianceOp(MatrixOp):
    """The mean of each column, the sums over all rows of the products of what two columns differ from their means, and
    the number of rows. No element is missing.

    %mean, %scatter, %count = matrix.covariance %x : (!matrix.matrix<N x 2 x f64, [age, pay]>)
        -> (tensor<2xf64>, tensor<2x2xf64>, tensor<f64>)
    """

    name = "matrix.covariance"
    input = operand_def(MatrixType)
    mean = result_def(TensorType)
    scatter = result_def(TensorType)
    count = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x = matrix_of(self.input)
        shapes = ((x.columns,), (x.columns, x.columns), ())
        return [tensor_type(shape, x.element_type) for shape in shapes]

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [x] = inputs
        mean = x.mean(axis=0)
        return [mean, (x - mean).T @ (x - mean), np.asarray(float(len(x)), x.dtype)]


EIGENVECTORS, CHOLESKY = "eigenvectors", "cholesky"
"""The ways to solve the equations of ridge regressions."""


@irdl_op_definition
class RidgeOp(MatrixOp):
    """The coefficients and the intercept of ridge regression of the last column on the others, for each penalty.

    They are computed from the eigenvectors of the columns' scatter, which is that of `matrix.covariance`, once for all
    penalties; with `solver = "cholesky"` each by a factor of the scatter and its penalty, where rounding leaves one.
    With `intercept = false` the line goes through the origin. Without a penalty they are NaN where columns are nearly
    sums of others, so that their scatter says too little: where its condition is above 1e10.

    %coef, %at_zero = matrix.ridge %mean, %scatter, %count, %penalties {intercept = true}
        : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5x2xf64>, tensor<5xf64>)
    """

    name = "matrix.ridge"
    mean = operand_def(TensorType)
    scatter = operand_def(TensorType)
    count = operand_def(TensorType)
    penalties = operand_def(TensorType)
    intercept = prop_def(BoolAttr)
    solver = opt_prop_def(StringAttr)
    coef = result_def(TensorType)
    at_zero = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        columns, element = regression_columns(self.mean, self.scatter, self.count)
        penalties = vector_length(self.penalties)
        return [tensor_type((penalties, columns - 1), element), tensor_type((penalties,), element)]

    def verify_(self) -> None:
        super().verify_()
        if self.solver is not None and self.solver.data not in (EIGENVECTORS, CHOLESKY):
            raise VerifyException(f'the solver is "{EIGENVECTORS}" or "{CHOLESKY}", not "{self.solver.data}"')

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        mean, scatter, count, penalties = inputs
        if not self.intercept.value.data:
            scatter, mean = scatter + count * np.outer(mean, mean), np.zeros_like(mean)
        gram, own = scatter[:-1, :-1], scatter[:-1, -1]
        is_factored = self.solver is not None and self.solver.data == CHOLESKY
        coef = _by_factors(gram, own, penalties) if is_factored else None
        coef = _by_eigenvectors(gram, own, penalties) if coef is None else coef
        return [coef, mean[-1] - coef @ mean[:-1]]


def _by_factors(gram: Array, own: Array, penalties: Array) -> Array | None:
    """The coefficients for each penalty; None where a matrix has no factor."""
    scipy: Any = import_module("scipy.linalg")
    try:
        factors = [scipy.cho_factor(gram + penalty * np.eye(len(gram)), lower=True) for penalty in penalties]
    except np.linalg.LinAlgError:
        return None
    coef = np.array([scipy.cho_solve(factor, own) for factor in factors], gram.dtype)
    return coef.reshape(len(penalties), len(gram))


def _by_eigenvectors(gram: Array, own: Array, penalties: Array) -> Array:
    """The coefficients for each penalty."""
    values, vectors = np.linalg.eigh(gram)
    damped = values + penalties[:, None]
    if values[0] * 1e10 <= values[-1]:
        damped[penalties == 0] = np.nan
    return np.asarray((vectors.T @ own / damped) @ vectors.T)


@irdl_op_definition
class PrincipalOp(MatrixOp):
    """The directions in which columns vary most, a row for each, and the variances along them, the greatest first.

    They are the eigenvectors of the scatter, which is that of `matrix.covariance`, over the number of rows less 1; the
    element of a direction that is farthest from 0 is positive.

    %directions, %variances = matrix.principal %scatter, %count
        : (tensor<3x3xf64>, tensor<f64>) -> (tensor<3x3xf64>, tensor<3xf64>)
    """

    name = "matrix.principal"
    scatter = operand_def(TensorType)
    count = operand_def(TensorType)
    directions = result_def(TensorType)
    variances = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        dims = dims_of(self.scatter.type)
        columns, element = dims[0].constant if dims else None, float_of(self.scatter)
        if columns is None:
            raise VerifyException(f"expected a square of known size, got {self.scatter.type}")
        require_shape(self.scatter, (columns, columns), element, "the scatter")
        require_shape(self.count, (), element, "the number of rows")
        return [self.scatter.type, tensor_type((columns,), element)]

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        scatter, count = inputs
        values, vectors = np.linalg.eigh(scatter / (count - 1))
        directions = vectors[:, ::-1].T
        farthest = np.abs(directions).argmax(axis=1)
        signs = np.sign(directions[np.arange(len(directions)), farthest])
        return [directions * signs[:, None], np.maximum(values[::-1], 0)]


@irdl_op_definition
class UnitsOp(MatrixOp):
    """A matrix of zeros, but for one 1 in each column j, which is in the row `which[j]` of `size` rows.

    %u = matrix.units {size = 3 : i64, which = array<i64: 2, 0>} : () -> tensor<3x2xf64>
    """

    name = "matrix.units"
    size = prop_def(IntegerAttr)
    which = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        size, which = self.size.value.data, self.which.get_values()
        if out := [i for i in which if not 0 <= i < size]:
            raise VerifyException(f"there is no row {out[0]} among {size}")
        return [tensor_type((size, len(which)), f64)]

    def evaluate(self, *inputs: Array) -> Array:
        return np.eye(self.size.value.data)[:, list(self.which.get_values())]
