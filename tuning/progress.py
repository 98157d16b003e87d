"""Who is told how a search goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tilework.tuning.search import Search


class Watcher(Protocol):
    """Is told after every trial of a search, and when searches for several kernels begin."""

    def begin(self, searches: list[Search], weights: list[int]) -> None:
        """These searches are about to run, for kernels that are called so often in a run of the program."""

    def trial(self, search: Search) -> None:
        """A search has measured another candidate, the last one of its trials."""


class Silent:
    """Shows nothing."""

    def begin(self, searches: list[Search], weights: list[int]) -> None:
        """Nothing is shown."""

    def trial(self, search: Search) -> None:
        """Nothing is shown."""
