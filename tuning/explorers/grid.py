"""Exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer, History


class GridExplorer(Explorer):
    """All candidates in order, sketch by sketch."""

    def propose(self, count: int, history: History) -> list[Candidate]:
        return list(islice((c for c in self._all() if c not in history), count))

    def _all(self) -> Iterator[Candidate]:
        for number, knobs in enumerate(self.space.knobs):
            for values in product(*knobs.choices):
                if knobs.allows(values):
                    yield Candidate(number, values)
