"""Simulated annealing on the model, over parallel chains that go on from batch to batch, as in the TVM paper."""

from __future__ import annotations

from math import exp
from random import Random

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer, History, Rank
from tilework.tuning.space import Space

CHAINS = 128
"""So many candidates walk at a time."""

STEPS = 30
"""How often each of them moves before a batch is chosen."""

RANDOM_SHARE = 0.1
"""The part of a batch that is chosen at random."""


class AnnealingExplorer(Explorer):
    """The candidates that the model thinks most of, of all that the chains come by."""

    IS_GUIDED = True

    def __init__(self, space: Space, rng: Random, rank: Rank | None = None):
        super().__init__(space, rng, rank)
        self._chains = [space.draw(rng) for _ in range(CHAINS)]

    def propose(self, count: int, history: History) -> list[Candidate]:
        assert self.rank is not None
        scores = [float(s) for s in self.rank(self._chains)]
        seen = dict(zip(self._chains, scores, strict=True))
        for step in range(STEPS):
            temperature = 1.0 - step / STEPS
            moved = [self.space.mutated(chain, self.rng) for chain in self._chains]
            for i, score in enumerate(map(float, self.rank(moved))):
                seen[moved[i]] = score
                if score >= scores[i] or self.rng.random() < exp((score - scores[i]) / (0.3 * temperature + 1e-5)):
                    self._chains[i], scores[i] = moved[i], score
        anywhere = max(1, round(count * RANDOM_SHARE))
        ranked = sorted((c for c in seen if c not in history), key=lambda c: -seen[c])
        found = ranked[: count - anywhere]
        known = {**history, **dict.fromkeys(found)}
        return [*found, *self.fresh(count - len(found), known, lambda: self.space.draw(self.rng))]
