"""What stands in for an estimator of scikit-learn: fitted by programs where these are known, else by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from tilework.algebra.errors import UsageError
from tilework.frontends.sklearn.emitter import Unsupported
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.untyped import clone


def require_here(rows: Any, why: Unsupported) -> None:
    """Raise UsageError for rows of Dask that are not learned from by sums, which is why scikit-learn would have to."""
    if type(rows).__module__.startswith("dask."):
        raise UsageError(f"rows of Dask are learned from by sums over partitions: {why}")


class Optimized(ABC):
    """Base of these. `fitted` is a clone of the estimator, which has all that is asked for otherwise.

    strict: raise UsageError where something stays scikit-learn's.
    """

    def __init__(self, estimator: Any, engine: Engine, *, strict: bool = False):
        self.fitted: Any = clone(estimator)
        self.strict = strict
        self._engine = engine
        self._explanation = "nothing is known before fit"

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:  # noqa: N803  as scikit-learn calls them
        """Fit to rows, as the estimator does. Raises as it does."""
        try:
            self._explanation = self._fit(X, y, params)
        except Unsupported as why:
            self._stays(why)
            require_here(X, why)
            self.fitted.fit(X, y, **params)
        return self

    def unfitted(self) -> Self:
        """A new one of the same estimator, which has learned nothing."""
        return type(self)(self.fitted, self._engine, strict=self.strict)

    def explain(self) -> str:
        """What was fused in the last fit, and what stayed scikit-learn's, and why."""
        return self._explanation

    def __getattr__(self, name: str) -> Any:
        if "fitted" not in self.__dict__:  # while it is copied or read back, nothing is there
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        return getattr(self.fitted, name)

    def _stays(self, why: Unsupported) -> None:
        self._explanation = f"stays scikit-learn's: {why}"
        if self.strict:
            raise UsageError(f"strict=True: {why}") from None

    @abstractmethod
    def _fit(self, rows: Any, target: Any, params: Mapping[str, Any]) -> str:
        """Fit `fitted` by programs; says how. Raises Unsupported."""
