"""What trees expect of the configurations of a template, by what is chosen alone: its schedules differ in structure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import History
from tilework.tuning.models.boosted_trees import BoostedTrees
from tilework.tuning.templates.template import TemplateSpace


class KnobRanker:
    """Scores configurations by trees over the sizes of splits, and over the numbers of other choices."""

    def __init__(self, space: TemplateSpace):
        self.space = space
        self.model = BoostedTrees()
        self._known = 0

    def __call__(self, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
        """The score of each configuration; the same for all, as long as nothing was measured."""
        if not self._known:
            return np.zeros(len(candidates))
        return self.model.predict(self._table(candidates))

    def learn(self, history: History) -> None:
        """Fit the trees to what was measured, if there is anything new."""
        timed = {candidate: seconds for candidate, seconds in history.items() if seconds is not None}
        if timed and len(timed) != self._known:
            self._known = len(timed)
            self.model.fit(self._table(list(timed)), min(timed.values()) / np.array(list(timed.values())))

    def _table(self, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
        return np.array([self.space.numbers(candidate) for candidate in candidates], np.float64)
