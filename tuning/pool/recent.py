"""The few things that were used last, each of which is closed when it is not among them any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

KEPT = 4
"""So many: each may hold the inputs of a kernel, or a process."""


class Closable(Protocol):
    """Something that takes memory, or a process, until it is closed."""

    def close(self) -> None:
        """Free it."""
        ...


Kept = TypeVar("Kept", bound=Closable)


class Recent(Generic[Kept]):
    """It holds at most `KEPT` things by their keys."""

    def __init__(self):
        self._kept: dict[str, Kept] = {}

    def get(self, key: str, make: Callable[[], Kept] | None) -> Kept | None:
        """What has that key, made now if it is not there; None where nothing can make it."""
        found = self._kept.pop(key, None)
        if found is None and make is not None:
            found = make()
        if found is not None:
            self._kept[key] = found  # as the last one
        while len(self._kept) > KEPT:
            self._kept.pop(next(iter(self._kept))).close()
        return found

    def close(self) -> None:
        """Close everything."""
        while self._kept:
            self._kept.popitem()[1].close()
