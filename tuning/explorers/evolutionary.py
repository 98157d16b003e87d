"""Evolution on the model, as in Ansor: many generations between measurements, and every sketch gets its turn."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer, History, fastest

POPULATION = 512
"""How many candidates a generation has."""

GENERATIONS = 4
"""How many generations are between measurements."""

ELITE = 64
"""So many of a generation have children, the ones that the model thinks most of."""

PARENTS = 24
"""So many measured candidates, the fastest, are in every first generation."""

CROSSING = 0.15
"""How likely a child has two parents."""

RANDOM_SHARE = 0.125
"""The part of a batch that is chosen at random."""

SHARE_OF_SKETCH = 0.6
"""No sketch has a larger part of a batch, as long as others are left: a confident model would never look elsewhere."""


class EvolutionaryExplorer(Explorer):
    """The candidates of the last generation that the model thinks most of, in each batch of several sketches."""

    IS_GUIDED = True

    def propose(self, count: int, history: History) -> list[Candidate]:
        assert self.rank is not None
        seen = self._evolved(fastest(history, PARENTS))
        ranked = sorted((c for c in seen if c not in history and seen[c] > float("-inf")), key=lambda c: -seen[c])
        found = self._diverse(ranked, count - max(1, round(count * RANDOM_SHARE)))
        known = {**history, **dict.fromkeys(found)}
        return [*found, *self.fresh(count - len(found), known, lambda: self.space.draw(self.rng))]

    def _evolved(self, measured: Sequence[Candidate]) -> dict[Candidate, float]:
        assert self.rank is not None
        generation = [*measured, *(self.space.draw(self.rng) for _ in range(POPULATION - len(measured)))]
        seen: dict[Candidate, float] = {}
        for _ in range(GENERATIONS):
            new = [candidate for candidate in dict.fromkeys(generation) if candidate not in seen]
            seen.update(zip(new, map(float, self.rank(new)), strict=True))
            elite = sorted(dict.fromkeys(generation), key=lambda c: -seen[c])[:ELITE]
            generation = [*elite, *(self._child(elite) for _ in range(POPULATION - len(elite)))]
        return seen

    def _child(self, elite: Sequence[Candidate]) -> Candidate:
        one = self.rng.choice(elite)
        if self.rng.random() < CROSSING:
            return self.space.crossed(one, self.rng.choice(elite), self.rng)
        return self.space.mutated(one, self.rng)

    def _diverse(self, ranked: Sequence[Candidate], count: int) -> list[Candidate]:
        """The first ones, but not too many of one sketch."""
        most = max(1, round(count * SHARE_OF_SKETCH))
        taken: dict[int, int] = {}
        found: list[Candidate] = []
        for candidate in ranked:
            if len(found) == count:
                break
            if taken.get(candidate.sketch, 0) < most:
                taken[candidate.sketch] = taken.get(candidate.sketch, 0) + 1
                found.append(candidate)
        rest = [c for c in ranked if c not in set(found)]
        return [*found, *rest[: count - len(found)]]
