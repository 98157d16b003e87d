"""What a cost model expects of the candidates of a space; it learns from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import History
from tilework.tuning.features import SymbolicNest, symbolic_nest
from tilework.tuning.models.base import CostModel
from tilework.tuning.space import Space
from tilework.tuning.task import Task

Numbers = NDArray[np.float64]


class Ranker:
    """Scores candidates: the higher the faster, -inf for what is beyond the limits of the machine.

    Each sketch is lowered once, with its knobs as symbols, when a candidate of it is first asked about.
    """

    def __init__(self, task: Task, space: Space, model: CostModel):
        self.task = task
        self.space = space
        self.model = model
        self._nests: dict[int, SymbolicNest] = {}
        self._known = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Numbers:
        """The score of each candidate."""
        scores = np.full(len(candidates), -np.inf)
        for sketch, places in _by_sketch(candidates).items():
            values = self._values(sketch, [candidates[at] for at in places])
            nest = self._nest(sketch)
            table = nest.features(values)
            predicted = self.model.predict(table) if self._known else self.model.prior(table)
            scores[places] = np.where(nest.valid(values), predicted, -np.inf)
        return scores

    def learn(self, history: History) -> None:
        """Fit the model to what was measured, if there is anything new."""
        timed = {candidate: seconds for candidate, seconds in history.items() if seconds is not None}
        if timed and len(timed) != self._known:
            self._known = len(timed)
            self.model.fit(self._features(list(timed)), min(timed.values()) / np.array(list(timed.values())))

    def _features(self, candidates: Sequence[Candidate]) -> Numbers:
        rows: Numbers | None = None
        for sketch, places in _by_sketch(candidates).items():
            found = self._nest(sketch).features(self._values(sketch, [candidates[at] for at in places]))
            if rows is None:
                rows = np.zeros((len(candidates), found.shape[1]))
            rows[places] = found
        assert rows is not None
        return rows

    def _values(self, sketch: int, candidates: Sequence[Candidate]) -> Mapping[str, NDArray[np.int64]]:
        names = self.space.knobs[sketch].names
        return {name: np.array([c.values[at] for c in candidates], np.int64) for at, name in enumerate(names)}

    def _nest(self, sketch: int) -> SymbolicNest:
        if sketch not in self._nests:
            sequence = self.space.sketches[sketch].sequence
            self._nests[sketch] = symbolic_nest(self.task.kernel, sequence, self.task.target)
        return self._nests[sketch]


def _by_sketch(candidates: Sequence[Candidate]) -> dict[int, list[int]]:
    """The places of the candidates of each sketch."""
    found: dict[int, list[int]] = {}
    for place, candidate in enumerate(candidates):
        found.setdefault(candidate.sketch, []).append(place)
    return found
