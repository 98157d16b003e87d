"""Random choices behind one small interface, so that hypothesis can shrink them and a plain seed can repeat them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Draw(Protocol):
    """A source of choices; the first option of each is the simplest."""

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        ...

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        ...


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def choice(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent
