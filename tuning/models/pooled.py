"""A model that also learns from records of other kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.tuning.models.base import CostModel, Scores, Table, checked


class Pooled(CostModel):
    """Another model, fitted to this kernel's configurations together with those of kernels that were tuned before.

    old: features and scores of each such kernel. Nobody knows how far the best of one is from what another could reach,
    so that scores are taken relative to the middle of their kernel. All old rows together count as much as all new
    ones; before there are new ones, the model has learned from the old alone.
    """

    def __init__(self, model: CostModel, old: Sequence[tuple[Table, Scores]]):
        if not old:
            raise UsageError("a pool has records of one other kernel or more; without any, use the model itself")
        self._model = model
        self._old = [checked(table, scores) for table, scores in old]
        self._scale = 1.0
        tables, targets = zip(*((t, self._relative(t, s)) for t, s in self._old), strict=True)
        self._table, self._targets = np.concatenate(tables), np.concatenate(targets)
        self._model.fit(self._table, self._targets)

    def fit(self, table: Table, scores: Scores, weights: Scores | None = None) -> None:
        features, targets = checked(table, scores)
        own = np.ones(len(targets)) if weights is None else np.asarray(weights, float)
        self._scale = self._middle(features, targets)
        old = np.full(len(self._targets), np.sum(own) / len(self._targets))
        self._model.fit(
            np.concatenate([features, self._table]),
            np.concatenate([targets / self._scale, self._targets]),
            np.concatenate([own, old]),
        )

    def predict(self, table: Table) -> Scores:
        return self._model.predict(table) * self._scale

    def prior(self, table: Table) -> Scores:
        return self._model.prior(table)

    def _relative(self, table: Table, scores: Scores) -> Scores:
        return scores / self._middle(table, scores)

    def _middle(self, table: Table, scores: Scores) -> float:
        """How much better a kernel's configurations are than the model would say if it had learned nothing."""
        return float(np.median(scores / self._model.prior(table)))
