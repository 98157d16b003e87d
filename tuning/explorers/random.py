"""Random search."""

from __future__ import annotations

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer, History


class RandomExplorer(Explorer):
    """Any candidates, every sketch as often as another."""

    def propose(self, count: int, history: History) -> list[Candidate]:
        return self.fresh(count, history, lambda: self.space.draw(self.rng))
