"""PCA: a product with the components."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from tilework.dialects import graph
from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import CovarianceOp, MatmulOp, PrincipalOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.frontends.sklearn.emitter import (
    Array,
    Emitter,
    Features,
    FittedStep,
    Numbers,
    Opaque,
    Unsupported,
    columns_count,
    step,
)
from tilework.frontends.sklearn.steps.linear import require_one_type
from tilework.frontends.sklearn.steps.scaling import divide, subtract
from tilework.frontends.sklearn.untyped import is_exactly
from tilework.transforms.matrix.writer import TensorWriter


@step(PCA)
class Components(FittedStep):
    """x W - mean W, divided by the standard deviations where it whitens."""

    NARROW = True

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        if e.data is None or not is_exactly(estimator.n_components, float):
            return super().convert(e, estimator, x)
        cls.vectors(e, estimator, e.numbers(x))
        e.is_open = True
        return Opaque(f"PCA(n_components={estimator.n_components}) keeps as many columns as the rows say")

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        weight = np.asarray(estimator.components_).T
        fitted = {"components": weight, "mean": np.asarray(estimator.mean_) @ weight}
        if estimator.whiten:
            least = np.finfo(weight.dtype).eps
            fitted["deviations"] = np.maximum(np.sqrt(estimator.explained_variance_), least)
        return fitted

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        assert e.data is not None
        rows, columns = len(e.data), columns_count(x)
        kept = min(rows, columns) if estimator.n_components is None else estimator.n_components
        if is_exactly(kept, float):
            kept = columns  # all of them, of which `finish` takes the first
        if not is_exactly(kept, int):
            raise Unsupported(f"PCA(n_components={kept!r})")
        exact = _is_tall(rows, columns) or max(rows, columns) <= 500 or kept >= 0.8 * min(rows, columns)
        if estimator.svd_solver not in ("full", "covariance_eigh") and (estimator.svd_solver != "auto" or not exact):
            raise Unsupported(f"PCA(svd_solver={estimator.svd_solver!r}), which does not find all components")
        if rows <= columns or kept > columns:
            raise Unsupported("PCA of no more rows than columns")
        x = e.refuse_missing(x)
        moments = CovarianceOp.of(x.value)
        e.insert(moments)
        principal = PrincipalOp.of(moments.scatter, moments.count)
        e.insert(principal)
        write = TensorWriter(e.insert)
        directions = write.slice(principal.directions, 0, kept)
        components = e.insert(graph.TransposeOp.of(directions, permutation=ints([1, 0])))
        mean = e.insert(graph.ReshapeOp.of(moments.mean, shape=DimsAttr.of([1, columns])))
        made = {
            "components": components,
            "mean": write.flat(write.product(mean, components)),
            "centre": moments.mean,
            "variances": principal.variances,
        }
        if estimator.whiten:
            deviations = e.insert(graph.SqrtOp.of(write.slice(principal.variances, 0, kept)))
            least = e.parameter("pca.least", np.full(1, np.finfo(np.float64).eps))
            made["deviations"] = e.insert(graph.MaxOp.of(deviations, least))
        return made

    @classmethod
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        variances, kept = vectors["variances"], vectors["components"].shape[1]
        if is_exactly(fitted.n_components, float):
            shares = np.cumsum(variances) / variances.sum()
            kept = (shares <= fitted.n_components).sum() + 1
        fitted.mean_, fitted.components_ = vectors["centre"], vectors["components"].T[:kept]
        fitted.n_samples_, fitted.n_components_ = rows, kept
        if fitted.svd_solver == "auto":
            fitted._fit_svd_solver = "covariance_eigh" if _is_tall(rows, len(variances)) else "full"  # noqa: SLF001
        fitted.explained_variance_ = variances[:kept]
        fitted.explained_variance_ratio_ = variances[:kept] / variances.sum()
        fitted.singular_values_ = np.sqrt(variances[:kept] * (rows - 1))
        fitted.noise_variance_ = variances[kept:].mean() if kept < len(variances) else 0.0

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        require_one_type(e, estimator, x, vectors["components"])
        x = e.refuse_missing(x)
        product = e.insert(MatmulOp.of(x.value, vectors["components"], origin=StringAttr("pca")))
        made = e.map(Numbers(product), [vectors["mean"]], subtract)
        return e.map(made, [vectors["deviations"]], divide) if estimator.whiten else made


def _is_tall(rows: int, columns: int) -> bool:
    """Whether scikit-learn's `auto` takes eigenvectors of the covariance."""
    return columns <= 1000 and rows >= 10 * columns
