"""Scratch memory for calls: one piece per running call, reused by later ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tilework.runtime.arrays import placed_empty


class Arena(NamedTuple):
    """Memory, its address, a multiple of 64, and how many bytes; the address is 0 where no memory is needed."""

    memory: object
    address: int
    size: int


def host_arena(size: int) -> Arena:
    """So many bytes of the host's memory."""
    memory, address = placed_empty((size,), np.dtype(np.uint8))
    return Arena(memory, address if size else 0, size)


class ArenaPool:
    """Lends each call an arena of its own; as many exist as calls have ever run at once.

    allocate: gives memory of so many bytes, which is free again once nobody holds it.
    """

    def __init__(self, allocate: Callable[[int], Arena] = host_arena):
        self._allocate = allocate
        self._free: list[Arena] = []

    def take(self, size: int) -> Arena:
        """An arena of at least `size` bytes that nobody else has."""
        # Taking from a list is atomic: two threads never get the same arena.
        try:
            arena = self._free.pop()
        except IndexError:
            return self._allocate(size)
        return arena if arena.size >= size else self._allocate(size)

    def give_back(self, arena: Arena) -> None:
        """Leave it to later calls."""
        self._free.append(arena)
