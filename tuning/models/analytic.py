"""A model that has learned nothing: how long instructions and caches take, from what was measured of the machine."""

from __future__ import annotations

import numpy as np

from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.columns import names
from tilework.tuning.features.memory import overlapped
from tilework.tuning.models.base import CostModel, Scores, Table, checked


class Analytic(CostModel):
    """Cycles of a processor: of instructions and loops while caches fill, and of starting threads.

    What it learns is only how many cycles the best configuration would have; before that, the best of a table has
    score 1.
    """

    def __init__(self, target: CpuTarget):
        self._overlap = target.machine.core.overlap
        self._best: float | None = None

    def fit(self, table: Table, scores: Scores, weights: Scores | None = None) -> None:
        """Take for the best what most of the configurations tell of it."""
        features, targets = checked(table, scores)
        self._best = float(np.median(targets * self.cycles(features)))

    def predict(self, table: Table) -> Scores:
        cycles = self.cycles(table)
        best = np.min(cycles, initial=np.inf) if self._best is None else self._best
        return best / cycles

    def prior(self, table: Table) -> Scores:
        return 1 / self.cycles(table)

    def cycles(self, table: Table) -> Scores:
        """The cycles of each configuration, 1 at least."""
        busy, waiting, start = (np.exp2(table[:, column]) - 1 for column in _COLUMNS)
        return np.maximum(overlapped(busy, waiting, self._overlap) + start, 1.0)


_COLUMNS = tuple(names().index(f"{part} cycles") for part in ("busy", "waiting", "start"))
