"""What stands in for the parts of a composition, so that scikit-learn itself puts side by side what they make."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer

from tilework.frontends.sklearn.untyped import clone, is_exactly

Fit = Callable[[Any, Any], tuple[Any, Any]]
"""Makes of rows and a target a fitted estimator and what it makes of the rows."""


class StandIn(BaseEstimator):
    """A part of a composition: `fit` says how it is fitted, `apply` what it makes of rows when it is."""

    def __init__(self, fit: Fit | None = None, apply: Callable[[Any], Any] | None = None):
        self._fit = fit
        self._apply = apply
        self.fitted: Any = None

    def __sklearn_clone__(self) -> StandIn:  # noqa: PLW3201  the name by which `clone` asks
        return self

    def __sklearn_is_fitted__(self) -> bool:  # noqa: PLW3201  the name by which `check_is_fitted` asks
        return True

    def fit(self, X: Any, y: Any = None) -> StandIn:  # noqa: N803  as scikit-learn calls them
        """Fit to rows."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: N803
        """Fit to rows; what is made of them."""
        assert self._fit is not None
        self.fitted, made = self._fit(X, y)
        return made

    def transform(self, X: Any) -> Any:  # noqa: N803
        """What is made of rows."""
        assert self._apply is not None
        return self._apply(X)


def fitted_with(estimator: Any, parts: Mapping[str, StandIn], rows: Any, target: Any) -> tuple[Any, Any]:
    """Return a clone of a composition whose parts of these names are fitted so, and what it makes of the rows."""
    composed, listed = clone(estimator), "transformers" if _by_column(estimator) else "transformer_list"
    own: dict[str, Any] = {listed: getattr(composed, listed), "n_jobs": composed.n_jobs}
    if "remainder" in parts:
        own["remainder"], composed.remainder = composed.remainder, parts["remainder"]
    setattr(composed, listed, [(name, parts.get(name, inner), *rest) for name, inner, *rest in own[listed]])
    composed.n_jobs = None
    made = composed.fit_transform(rows, target)
    fitted = "transformers_" if _by_column(estimator) else listed
    done = [(name, _fitted_of(inner), *rest) for name, inner, *rest in getattr(composed, fitted)]
    for attribute, value in own.items():
        setattr(composed, attribute, value)
    setattr(composed, fitted, done)
    if "remainder" in own:
        composed._remainder = ("remainder", own["remainder"], composed._remainder[2])  # noqa: SLF001  it holds the same
    return composed, made


def applied_with(fitted: Any, parts: Mapping[str, StandIn], rows: Any) -> Any:
    """What a fitted composition makes of rows where what stands in for its parts of these names does their work."""
    composed, listed = copy.copy(fitted), "transformers_" if _by_column(fitted) else "transformer_list"
    setattr(composed, listed, [(name, parts.get(name, inner), *rest) for name, inner, *rest in getattr(fitted, listed)])
    composed.n_jobs = None
    return composed.transform(rows)


def _by_column(estimator: Any) -> bool:
    return is_exactly(estimator, ColumnTransformer)


def _fitted_of(inner: Any) -> Any:
    return inner.fitted if isinstance(inner, StandIn) else inner
