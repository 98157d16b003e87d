"""Which kernel of a network to spend the next trials on: the one that is expected to save the network most time."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.tuning.search import Search

RECENT = 0.2
"""How much what the last batch gained counts, against what the history as a whole promises."""

LEFT = 0.3
"""The part of its time that a kernel is expected to lose at most in as many trials as it has had."""


class TaskScheduler:
    """Searches for the kernels of a network. weights: how often a run of the network calls each of them."""

    def __init__(self, searches: Sequence[Search], weights: Sequence[int]):
        self.searches = list(searches)
        self.weights = dict(zip(self.searches, weights, strict=True))
        self._before: dict[Search, float] = {}
        self._finished: set[Search] = set()

    def next(self) -> Search | None:
        """The search to go on with; None where all have come to their ends. First each has a turn."""
        left = [s for s in self.searches if s not in self._finished]
        waiting = [s for s in left if s.best is None]
        if waiting:
            return waiting[0]
        return max(left, key=self._gain, default=None)

    def ran(self, search: Search, before: float | None, measured: int) -> None:
        """A search has had a turn. before: the best time until then; measured: how many trials it made."""
        best = search.best
        if measured == 0 or best is None:
            self._finished.add(search)
        elif before is not None:
            self._before[search] = before

    def _gain(self, search: Search) -> float:
        """How many seconds shorter a run of the network may become in the next turn."""
        best = search.best
        assert best is not None and best.seconds is not None
        recent = max(0.0, self._before.get(search, best.seconds) - best.seconds)
        promised = LEFT * best.seconds / len(search.trials)
        return self.weights[search] * (RECENT * recent + (1 - RECENT) * promised)
