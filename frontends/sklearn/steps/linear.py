"""Linear models: products of features and coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, f64, i64
from xdsl.ir import SSAValue

from tilework.dialects import graph
from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import ConcatOp, CovarianceOp, MatmulOp, RidgeOp
from tilework.dialects.matrix.base import matrix_of
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Array, Emitter, FittedStep, Numbers, Unsupported, element_of, step


@dataclass(frozen=True)
class Regression:
    """A least-squares fit of a matrix to a target: what it is penalized by is the program's argument."""

    coef: SSAValue
    intercept: SSAValue

    @staticmethod
    def of(e: Emitter, x: Numbers, y: SSAValue, penalties: SSAValue, *, intercept: bool) -> Regression:
        """Append the fit for each of the penalties."""
        if element_of(x) != f64:
            raise Unsupported("a fit to float32")
        moments = CovarianceOp.of(e.insert(ConcatOp.of(x.value, y)))
        e.insert(moments)
        operands = (moments.mean, moments.scatter, moments.count, penalties)
        fit = RidgeOp.of(*operands, intercept=BoolAttr.from_bool(intercept))
        e.insert(fit)
        return Regression(fit.coef, fit.at_zero)

    def residuals(self, e: Emitter, x: Numbers, y: SSAValue) -> SSAValue:
        """For each penalty how far the target is from what the fit predicts, as a matrix."""
        columns, penalties = matrix_of(x.value).columns, dims_of(self.intercept.type)[0]
        transposed = e.insert(graph.TransposeOp.of(self.coef, permutation=ints([1, 0])))
        negative = e.insert(graph.NegOp.of(transposed))
        of_target = e.parameter("one", np.ones((1, penalties.constant or 0)))
        weight = e.insert(graph.ConcatOp.of(negative, of_target, axis=IntegerAttr(0, i64)))
        assert dims_of(weight.type)[0] == columns + 1
        both = e.insert(ConcatOp.of(x.value, y))
        left = e.insert(MatmulOp.of(both, weight, origin=StringAttr("residual")))
        return e.map(Numbers(left), [self.intercept], minus).value


def minus(k: KernelBuilder, v: Scalar, b: Scalar) -> Scalar:
    """v - b."""
    return v - b


def plus(k: KernelBuilder, v: Scalar, b: Scalar) -> Scalar:
    """v + b."""
    return v + b


@step(LinearRegression, Ridge, Lasso, ElasticNet, LogisticRegression, RidgeClassifier)
class Linear(FittedStep):
    """x w + intercept, with a column for each class or target."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        weight = np.atleast_2d(np.asarray(estimator.coef_)).T
        return {"coef": weight, "intercept": np.broadcast_to(estimator.intercept_, weight.shape[1])}

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Numbers:
        if element_of(x) != f64:
            raise Unsupported(f"{type(estimator).__name__} of float32")
        x = e.refuse_missing(x)
        product = e.insert(MatmulOp.of(x.value, vectors["coef"], origin=StringAttr("score")))
        return e.map(Numbers(product), [vectors["intercept"]], plus)
