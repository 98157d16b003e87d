"""A model that learns all from measurements."""

from __future__ import annotations

from tilework.algebra.errors import UsageError
from tilework.tuning.models.base import CostModel, Scores, Table, checked
from tilework.tuning.models.trees import Trees


class BoostedTrees(CostModel):
    """Gradient boosting on the scores, which tell the best from the good."""

    def __init__(self, seed: int = 0):
        self._seed = seed
        self._trees: Trees | None = None

    def fit(self, table: Table, scores: Scores, weights: Scores | None = None) -> None:
        features, targets = checked(table, scores)
        self._trees = Trees(features, targets, weights, self._seed)

    def predict(self, table: Table) -> Scores:
        if self._trees is None:
            raise UsageError("trees know nothing before they were fitted; Analytic and Residual do")
        return self._trees(table)
