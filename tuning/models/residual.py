"""The analytic model, and what measurements teach of its errors: the model to use where nothing speaks for another."""

from __future__ import annotations

import numpy as np

from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.models.analytic import Analytic
from tilework.tuning.models.base import CostModel, Scores, Table, checked
from tilework.tuning.models.trees import Trees


class Residual(CostModel):
    """What the analytic model says, times what trees have learned of how far it is off.

    Before anything was measured it is the analytic model. Trees learn the logarithm of the factor: an error of twice
    the time counts the same for fast and slow configurations.
    """

    def __init__(self, target: CpuTarget, seed: int = 0):
        self._analytic = Analytic(target)
        self._seed = seed
        self._factor: Trees | None = None

    def fit(self, table: Table, scores: Scores, weights: Scores | None = None) -> None:
        features, targets = checked(table, scores)
        self._analytic.fit(features, targets)
        off = np.log(targets / self._analytic.predict(features))
        self._factor = Trees(features, off, weights, self._seed)

    def prior(self, table: Table) -> Scores:
        return self._analytic.prior(table)

    def predict(self, table: Table) -> Scores:
        scores = self._analytic.predict(table)
        return scores if self._factor is None else scores * np.exp(self._factor(table))
