"""A genetic search, which learns from measurements alone."""

from __future__ import annotations

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer, History, fastest

PARENTS = 16
"""The fastest candidates, which are parents of the next ones."""

MUTATION = 0.6
"""How likely a child differs from both parents."""

RANDOM_SHARE = 0.2
"""The part of a batch that has no parents."""


class GeneticExplorer(Explorer):
    """Children of the fastest candidates, and some at random."""

    def propose(self, count: int, history: History) -> list[Candidate]:
        parents = fastest(history, PARENTS)
        anywhere = count if len(parents) < 2 else max(1, round(count * RANDOM_SHARE))
        found = self.fresh(count - anywhere, history, lambda: self._child(parents))
        known = {**history, **dict.fromkeys(found)}
        return [*found, *self.fresh(count - len(found), known, lambda: self.space.draw(self.rng))]

    def _child(self, parents: list[Candidate]) -> Candidate:
        # the sooner in the list the likelier
        one, other = (parents[min(int(self.rng.expovariate(0.3)), len(parents) - 1)] for _ in range(2))
        child = self.space.crossed(one, other, self.rng)
        return self.space.mutated(child, self.rng) if child == one or self.rng.random() < MUTATION else child
