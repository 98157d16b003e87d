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
        self._rows: dict[Candidate, tuple[Numbers, bool]] = {}
        self._known = 0

    def untaught(self, model: CostModel) -> Ranker:
        """A ranker of the same space, with what it knows of candidates, and a model that has learned nothing."""
        other = Ranker(self.task, self.space, model)
        other._nests, other._rows = self._nests, self._rows
        return other

    def __call__(self, candidates: Sequence[Candidate]) -> Numbers:
        """The score of each candidate."""
        if not candidates:
            return np.zeros(0)
        rows = self._rows_of(candidates)
        table = np.array([features for features, _ in rows])
        scores = self.model.predict(table) if self._known else self.model.prior(table)
        return np.where([is_valid for _, is_valid in rows], scores, -np.inf)

    def learn(self, history: History) -> None:
        """Fit the model to what was measured, if there is anything new."""
        timed = {candidate: seconds for candidate, seconds in history.items() if seconds is not None}
        if timed and len(timed) != self._known:
            self._known = len(timed)
            table = np.array([features for features, _ in self._rows_of(list(timed))])
            self.model.fit(table, min(timed.values()) / np.array(list(timed.values())))

    def _rows_of(self, candidates: Sequence[Candidate]) -> list[tuple[Numbers, bool]]:
        """The features of each candidate, and whether it is within limits; worked out once for each."""
        new = [candidate for candidate in dict.fromkeys(candidates) if candidate not in self._rows]
        for sketch, of_sketch in _by_sketch(new).items():
            features, valid = self._nest(sketch).features_and_valid(self._values(sketch, of_sketch))
            self._rows |= dict(zip(of_sketch, zip(features, map(bool, valid), strict=True), strict=True))
        return [self._rows[candidate] for candidate in candidates]

    def _values(self, sketch: int, candidates: Sequence[Candidate]) -> Mapping[str, NDArray[np.int64]]:
        names = self.space.knobs[sketch].names
        return {name: np.array([c.values[at] for c in candidates], np.int64) for at, name in enumerate(names)}

    def _nest(self, sketch: int) -> SymbolicNest:
        if sketch not in self._nests:
            sequence = self.space.sketches[sketch].sequence
            self._nests[sketch] = symbolic_nest(self.task.kernel, sequence, self.task.target)
        return self._nests[sketch]


def _by_sketch(candidates: Sequence[Candidate]) -> dict[int, list[Candidate]]:
    """The candidates of each sketch."""
    found: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.sketch, []).append(candidate)
    return found
