"""What an explorer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilework.tuning.candidate import Candidate
from tilework.tuning.space import Space

History: TypeAlias = Mapping[Candidate, float | None]
"""The candidates that were measured, and their seconds; None for one that failed."""

Rank: TypeAlias = Callable[[Sequence[Candidate]], NDArray[np.float64]]
"""What a model expects of candidates: the higher the faster; -inf for what cannot run."""

MOST_TRIES = 400
"""An explorer that finds so many known candidates one after the other takes the space for exhausted."""


class Explorer(ABC):
    """Proposes candidates of a space. rank: the model's opinion, for those that are guided by one."""

    IS_GUIDED: ClassVar[bool] = False

    def __init__(self, space: Space, rng: Random, rank: Rank | None = None):
        self.space = space
        self.rng = rng
        self.rank = rank

    @abstractmethod
    def propose(self, count: int, history: History) -> list[Candidate]:
        """New candidates, each once, best first; fewer, or none, where the space is exhausted."""

    def fresh(self, count: int, history: History, draw: Callable[[], Candidate]) -> list[Candidate]:
        """Candidates from a function that are neither known nor among each other the same."""
        found: dict[Candidate, None] = {}
        tries = 0
        while len(found) < count and tries < MOST_TRIES:
            candidate = draw()
            if candidate in history or candidate in found:
                tries += 1
            else:
                found[candidate] = None
                tries = 0
        return list(found)


def fastest(history: History, count: int) -> list[Candidate]:
    """The candidates with the least times, the fastest first."""
    timed = [(seconds, candidate) for candidate, seconds in history.items() if seconds is not None]
    return [candidate for _, candidate in sorted(timed)[:count]]
