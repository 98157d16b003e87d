"""Transformers, and pipelines that begin with them, which learn in one pass over the rows and transform in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.frontends.sklearn.application import Application
from tilework.frontends.sklearn.barriers import Fit, Fitted
from tilework.frontends.sklearn.emitter import Unsupported
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.fitted_state import state_of
from tilework.frontends.sklearn.optimized import Optimized, require_here
from tilework.frontends.sklearn.training_data import require_dense
from tilework.frontends.sklearn.untyped import issparse
from tilework.runtime.pipelines.columns import as_rows, is_partitioned

TRANSFORM = "; transform stays scikit-learn's: "
"""What stands in an explanation before the reasons."""


class OptimizedTransformer(Optimized):
    """A transformer, or a pipeline, whose fit and transform are one compiled pass over the rows each.

    Steps that are not known are scikit-learn's, and what stands around them is compiled still. The last step of a
    pipeline may be an estimator that is not known: scikit-learn fits it to what the others make.
    """

    def __init__(self, estimator: Any, engine: Engine, *, strict: bool = False):
        super().__init__(estimator, engine, strict=strict)
        self._application: Application | None = None
        self._state: Any = None

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:  # noqa: N803  as scikit-learn calls them
        """Fit to rows, and transform the same rows. Raises as the estimator does."""
        try:
            made = self._fit_to(X, y, params).made
        except Unsupported as why:
            self._stays(why)
            require_here(X, why)
            return self.fitted.fit_transform(X, y, **params)
        return self.transform(X) if is_partitioned(X) else self._told(made())

    def transform(self, X: Any) -> Any:  # noqa: N803
        """What the fitted estimator makes of rows. Raises as it does."""
        if issparse(X):
            return self.fitted.transform(X)
        state = state_of(self.fitted)
        if self._application is None or state != self._state:  # attributes may have been set since
            self._application, self._state = Application(self.fitted, self._engine), state
        return self._told(self._application.of_rows(X if is_partitioned(X) else as_rows(X)))

    def _fit(self, rows: Any, target: Any, params: Mapping[str, Any]) -> str:
        self._fit_to(rows, target, params)
        return self._explanation

    def _fit_to(self, rows: Any, target: Any, params: Mapping[str, Any]) -> Fitted:
        if params:
            raise Unsupported(f"fit is given {', '.join(params)}")
        if not is_partitioned(rows):
            require_dense(rows)
        fit, self._application = Fit(self._engine), None
        part = fit.of("", self.fitted, rows, target)
        self.fitted, self._application = part.estimator, part.application
        self._state = state_of(self.fitted)
        self._explanation = fit.explanation()
        self._refuse(fit.barriers)
        return part

    def _told(self, made: Any) -> Any:
        """What was made of rows, once an explanation says what of that scikit-learn did."""
        barriers = [] if self._application is None else self._application.barriers
        if barriers:
            self._explanation = f"{self._explanation.partition(TRANSFORM)[0]}{TRANSFORM}{'; '.join(barriers)}"
            self._refuse(barriers)
        return made

    def _refuse(self, barriers: list[str]) -> None:
        if self.strict and barriers:
            raise UsageError(f"strict=True: {'; '.join(barriers)}")
