"""Smaller cases that still fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from tilework.tools.fuzz.check import Outcome


class FuzzCase(Protocol):
    """What is checked as a whole; its text is what reproduces it."""

    def run(self) -> Outcome:
        """Check it; a crash is a difference."""
        ...

    def traits(self) -> list[str]:
        """What accepted cases are counted by."""
        ...

    def smaller(self: C) -> Iterable[C]:
        """Cases that are a little smaller."""
        ...


C = TypeVar("C", bound=FuzzCase)


def shrink(case: C, fails: Callable[[C], bool]) -> C:
    """Take a smaller case as long as there is one that still fails."""
    while (found := next(filter(fails, case.smaller()), None)) is not None:
        case = found
    return case
