"""Linear models: products of features and coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from xdsl.dialects.builtin import BoolAttr, FloatAttr, IntegerAttr, StringAttr, f64, i64
from xdsl.ir import SSAValue

from tilework.dialects import graph
from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import ConcatOp, CovarianceOp, ElasticNetOp, MatmulOp, RidgeOp
from tilework.dialects.matrix.base import matrix_of
from tilework.dialects.matrix.statistics import EIGENVECTORS
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Array, Emitter, FittedStep, Numbers, Unsupported, element_of, step
from tilework.frontends.sklearn.untyped import is_exactly

PENALIZED = (Ridge, Lasso, ElasticNet)
"""Regressions that have a penalty, `alpha`."""

LEARNED = (LinearRegression, *PENALIZED)
"""Regressions whose fit follows from sums over rows."""


@dataclass(frozen=True)
class Regression:
    """A least-squares fit of a matrix to a target: what it is penalized by is the program's argument.

    told: what else there is to know of a fit.
    """

    coef: SSAValue
    intercept: SSAValue
    told: tuple[SSAValue, ...]

    @staticmethod
    def of(e: Emitter, estimator: Any, x: Numbers, y: SSAValue, penalties: SSAValue) -> Regression:
        """Append the fit for each of the penalties. Raises Unsupported."""
        require_learned(estimator)
        if element_of(x) != f64:
            raise Unsupported("a fit to float32")
        moments = CovarianceOp.of(e.insert(ConcatOp.of(x.value, y)))
        e.insert(moments)
        operands = (moments.mean, moments.scatter, moments.count, penalties)
        intercept = BoolAttr.from_bool(estimator.fit_intercept)
        if isinstance(estimator, ElasticNet):  # a Lasso is one
            net = ElasticNetOp.of(
                *operands,
                intercept=intercept,
                l1_ratio=FloatAttr(estimator.l1_ratio, f64),
                tol=FloatAttr(estimator.tol, f64),
                max_iter=IntegerAttr(estimator.max_iter, i64),
                positive=BoolAttr.from_bool(estimator.positive),
            )
            e.insert(net)
            return Regression(net.coef, net.at_zero, (net.gap, net.rounds))
        is_penalized = isinstance(estimator, PENALIZED)
        solver = {} if is_penalized else {"solver": StringAttr(EIGENVECTORS)}  # which tell whether there is a fit
        fit = RidgeOp.of(*operands, intercept=intercept, **solver)
        e.insert(fit)
        return Regression(fit.coef, fit.at_zero, (moments.mean, moments.scatter, moments.count))

    @staticmethod
    def finish(fitted: Any, coef: Array, intercept: Array, told: Sequence[Array]) -> None:
        """Set the attributes of a regression. Raises Unsupported where there is no fit."""
        if not np.isfinite(coef).all():
            raise Unsupported("columns are nearly sums of others, so that their products say too little")
        fitted.coef_ = coef[0]
        fitted.intercept_ = float(intercept[0]) if fitted.fit_intercept else 0.0
        if isinstance(fitted, ElasticNet):
            gap, rounds = told
            fitted.dual_gap_, fitted.n_iter_ = float(gap[0]), int(rounds[0])
        elif is_exactly(fitted, LinearRegression):
            mean, scatter, count = told
            if not fitted.fit_intercept:
                scatter = scatter + count * np.outer(mean, mean)
            fitted.rank_ = len(mean) - 1
            fitted.singular_ = np.sqrt(np.linalg.eigvalsh(scatter[:-1, :-1])[::-1])

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


def is_learned(estimator: Any) -> bool:
    """Whether an estimator is a regression whose fit follows from sums over rows, with some parameters at least."""
    return any(is_exactly(estimator, type_) for type_ in LEARNED)


def require_learned(estimator: Any) -> None:
    """Refuse regressions that scikit-learn does not find from sums over rows, or finds up to a tolerance alone."""
    name = type(estimator).__name__
    if not is_learned(estimator):
        raise Unsupported(f"the fit of {name} is no sum over rows")
    if is_exactly(estimator, Ridge) and estimator.solver not in ("auto", "cholesky", "svd"):
        raise Unsupported(f"Ridge(solver={estimator.solver!r}), which is only as exact as its tol")
    if isinstance(estimator, ElasticNet):
        if estimator.selection != "cyclic" or estimator.warm_start:
            raise Unsupported(f"{name} that does not begin at 0, or goes through columns at random")
    elif estimator.positive:
        raise Unsupported(f"{name}(positive=True)")


def require_one_type(e: Emitter, estimator: Any, x: Numbers, weight: SSAValue) -> None:
    """Refuse a product of numbers of single and of double precision."""
    if element_of(x) != element_type(weight.type):
        fitted = "float32" if element_of(x) == f64 else "float64"
        raise Unsupported(f"{type(estimator).__name__} that is fitted to {fitted} for rows of another type")


def minus(k: KernelBuilder, v: Scalar, b: Scalar) -> Scalar:
    """v - b."""
    return v - b


def plus(k: KernelBuilder, v: Scalar, b: Scalar) -> Scalar:
    """v + b."""
    return v + b


@step(LinearRegression, Ridge, Lasso, ElasticNet, LogisticRegression, RidgeClassifier)
class Linear(FittedStep):
    """x w + intercept, with a column for each class or target."""

    NARROW = True

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        weight = np.atleast_2d(np.asarray(estimator.coef_)).T
        return {
            "coef": weight,
            "intercept": np.broadcast_to(estimator.intercept_, weight.shape[1]).astype(weight.dtype),
        }

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Numbers:
        require_one_type(e, estimator, x, vectors["coef"])
        x = e.refuse_missing(x)
        product = e.insert(MatmulOp.of(x.value, vectors["coef"], origin=StringAttr("score")))
        return e.map(Numbers(product), [vectors["intercept"]], plus)
