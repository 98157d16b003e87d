"""What a cost model is: how fast configurations are, told from their features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.algebra.errors import UsageError

Table = NDArray[np.float64]
"""Features: a row for each configuration."""

Scores = NDArray[np.float64]
"""The best time of a task divided by each configuration's: 1 for the best, near 0 for slow ones."""


class CostModel(ABC):
    """Learns from configurations that were measured, and predicts the scores of others; higher is better.

    Only the order of predictions counts. `fit` starts anew each time.
    """

    @abstractmethod
    def fit(self, table: Table, scores: Scores, weights: Scores | None = None) -> None:
        """Learn from the features of n configurations and their scores. weights: how much each counts, 1 by default."""

    @abstractmethod
    def predict(self, table: Table) -> Scores:
        """The scores of n configurations."""

    def prior(self, table: Table) -> Scores:
        """The same as if nothing had been learned, up to a factor; here all alike."""
        return np.ones(len(table))


def checked(table: Any, scores: Any) -> tuple[Table, Scores]:
    """Measured configurations as arrays. Raises UsageError where there are none, or not a score for each."""
    features, targets = np.asarray(table, float), np.asarray(scores, float)
    if features.ndim != 2 or targets.shape != features.shape[:1]:
        raise UsageError(
            f"a model learns from a table of features and a score for each row, not from shapes {list(features.shape)} "
            f"and {list(targets.shape)}"
        )
    if not len(targets):
        raise UsageError("a model learns from one configuration or more; none was measured")
    if not np.all(targets > 0):
        raise UsageError("scores are above 0: a configuration that failed has none, leave it out")
    return features, targets
