"""Regression by trees that correct each other: scikit-learn's, with settings that few measured configurations allow."""

# scikit-learn has no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor

TREES, DEPTH = 100, 3

FEATURES_A_SPLIT = 0.3
"""Each split of a tree chooses among this part of the features, drawn anew: trees differ, and take less time."""

Array = NDArray[np.float64]


class Trees:
    """A function of features, fitted to targets; the same data gives the same one."""

    def __init__(self, table: Array, targets: Array, weights: Array | None, seed: int):
        self._regressor = GradientBoostingRegressor(
            n_estimators=TREES, max_depth=DEPTH, max_features=FEATURES_A_SPLIT, random_state=seed
        )
        self._regressor.fit(table, targets, sample_weight=weights)

    def __call__(self, table: Array) -> Array:
        """The values for the rows of a table."""
        if not len(table):
            return np.zeros(0)
        return cast(Array, self._regressor.predict(table))
