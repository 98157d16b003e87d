"""Least-squares fits that are penalized by absolute values, which coordinate descent finds."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BoolAttr, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilework.dialects.matrix.base import Array, MatrixOp, regression_columns, vector_length
from tilework.dialects.support.shapes import tensor_type


@irdl_op_definition
class ElasticNetOp(MatrixOp):
    """The coefficients and the intercept of a regression of the last column on the others, for each penalty.

    A share `l1_ratio` of the penalty is on the absolute values of the coefficients, the rest on their squares. The
    scatter is that of `matrix.covariance`. scikit-learn's coordinate descent finds them from it, until its dual gap is
    below `tol` times the sum of the squares of what is to be predicted, or after `max_iter` rounds; both are told, too.

    %coef, %at_zero, %gap, %rounds = matrix.elastic_net %mean, %scatter, %count, %penalties
        {intercept = true, l1_ratio = 1.0 : f64, tol = 1.0e-04 : f64, max_iter = 1000 : i64, positive = false}
        : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<5xf64>)
        -> (tensor<5x2xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>)
    """

    name = "matrix.elastic_net"
    mean = operand_def(TensorType)
    scatter = operand_def(TensorType)
    count = operand_def(TensorType)
    penalties = operand_def(TensorType)
    intercept = prop_def(BoolAttr)
    l1_ratio = prop_def(FloatAttr)
    tol = prop_def(FloatAttr)
    max_iter = prop_def(IntegerAttr)
    positive = prop_def(BoolAttr)
    coef = result_def(TensorType)
    at_zero = result_def(TensorType)
    gap = result_def(TensorType)
    rounds = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        columns, element = regression_columns(self.mean, self.scatter, self.count)
        penalties = vector_length(self.penalties)
        return [tensor_type((penalties, columns - 1), element), *[tensor_type((penalties,), element)] * 3]

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        mean, scatter, count, penalties = inputs
        if not self.intercept.value.data:
            scatter, mean = scatter + count * np.outer(mean, mean), np.zeros_like(mean)
        fits = [self._fit(scatter, float(count), float(penalty)) for penalty in penalties]
        coef: Array = np.array([weights for weights, _, _ in fits]).reshape(len(fits), len(mean) - 1)
        gap, rounds = (np.array([fit[i] for fit in fits], np.float64) for i in (1, 2))
        return [coef, mean[-1] - coef @ mean[:-1], gap / float(count), rounds]

    def _fit(self, scatter: Array, count: float, penalty: float) -> tuple[Array, float, int]:
        ratio = self.l1_ratio.value.data
        descend: Any = import_module("sklearn.linear_model._cd_fast").enet_coordinate_descent_gram
        gram, own = np.ascontiguousarray(scatter[:-1, :-1]), np.ascontiguousarray(scatter[:-1, -1])
        target = np.array([np.sqrt(max(0.0, scatter[-1, -1]))])  # all that matters of it is the sum of its squares
        begin, rounds = np.zeros(len(own)), self.max_iter.value.data
        shares = (penalty * ratio * count, penalty * (1 - ratio) * count)
        limits = (rounds, self.tol.value.data, np.random.RandomState(0), False, bool(self.positive.value.data))
        weights, gap, _, taken = descend(begin, *shares, gram, own, target, *limits)
        return np.asarray(weights), float(gap), int(taken)
