"""How much a search may spend."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of

EXPLORER, MODEL = "genetic", "residual"
"""What chooses candidates, and what ranks them, if a user says nothing else."""


@dataclass(frozen=True)
class Budget:
    """So many trials, those in the records among them, until `time.monotonic` shows so much.

    seed: of all chance. explorer, model: the names of what chooses candidates, and of what ranks them.
    """

    trials: int
    until: float
    seed: int
    explorer: str
    model: str

    @staticmethod
    def of(trials: Any, seconds: Any, seed: Any, explorer: str, model: str) -> Budget:
        """The budget that a user gives, from now on. Raises UsageError for what is none."""
        count, start = integer_of(trials), integer_of(seed)
        if count is None or count < 1:
            raise UsageError(f"trials={trials!r}: the number of trials is a positive integer")
        if start is None or start < 0:
            raise UsageError(f"seed={seed!r}: a seed is an integer that is not negative")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise UsageError(f"seconds={seconds!r}: the time for a search is a positive number of seconds")
        return Budget(count, time.monotonic() + float(seconds), start, explorer, model)

    @property
    def is_over(self) -> bool:
        """Whether the time is spent."""
        return time.monotonic() >= self.until
