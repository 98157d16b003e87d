"""PCA: a product with the components."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from xdsl.dialects.builtin import StringAttr, f64
from xdsl.ir import SSAValue

from tilework.dialects.matrix import MatmulOp
from tilework.frontends.sklearn.emitter import (
    Array,
    Emitter,
    Features,
    FittedStep,
    Numbers,
    Unsupported,
    element_of,
    step,
)
from tilework.frontends.sklearn.steps.scaling import divide, subtract


@step(PCA)
class Components(FittedStep):
    """x W - mean W, divided by the standard deviations where it whitens."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        weight = np.asarray(estimator.components_).T
        fitted = {"components": weight, "mean": np.asarray(estimator.mean_) @ weight}
        if estimator.whiten:
            least = np.finfo(weight.dtype).eps
            fitted["deviations"] = np.maximum(np.sqrt(estimator.explained_variance_), least)
        return fitted

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        if element_of(x) != f64:
            raise Unsupported("PCA of float32")
        x = e.refuse_missing(x)
        product = e.insert(MatmulOp.of(x.value, vectors["components"], origin=StringAttr("pca")))
        made = e.map(Numbers(product), [vectors["mean"]], subtract)
        return e.map(made, [vectors["deviations"]], divide) if estimator.whiten else made
