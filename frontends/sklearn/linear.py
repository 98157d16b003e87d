"""Linear models: products of features and coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from xdsl.dialects.builtin import StringAttr, f64
from xdsl.ir import SSAValue

from tilework.dialects.matrix import MatmulOp
from tilework.dialects.te.builder import Scalar
from tilework.frontends.sklearn.emitter import Array, Emitter, FittedStep, Numbers, Unsupported, element_of, step


def plus(v: Scalar, b: Scalar) -> Scalar:
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
