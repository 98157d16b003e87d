"""Names that nothing else has: the wanted one where it is free, else with a number."""

from __future__ import annotations

from collections.abc import Iterable


class UniqueNames:
    """Hands out names, each once: `relu`, `relu_1`, `relu_2`, ... for `relu` asked for again and again."""

    def __init__(self, taken: Iterable[str] = (), separator: str = "_"):
        self._taken = set(taken)
        self._separator = separator
        self._next: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        """A name that was neither taken at the start nor handed out before."""
        name = wanted
        while name in self._taken:
            number = self._next.get(wanted, 1)
            self._next[wanted] = number + 1
            name = f"{wanted}{self._separator}{number}"
        self._taken.add(name)
        return name
