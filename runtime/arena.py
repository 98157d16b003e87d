"""Scratch memory for calls: one piece per running call, reused by later ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tilework.runtime.arrays import Array, placed_empty


class Arena(NamedTuple):
    """Memory and its address, a multiple of 64; the address is 0 where no memory is needed."""

    memory: Array
    address: int


class ArenaPool:
    """Lends each call an arena of its own; as many exist as calls have ever run at once."""

    def __init__(self):
        self._free: list[Arena] = []

    def take(self, size: int) -> Arena:
        """An arena of at least `size` bytes that nobody else has."""
        # Taking from a list is atomic: two threads never get the same arena.
        try:
            arena = self._free.pop()
        except IndexError:
            return _new(size)
        return arena if arena.memory.nbytes >= size else _new(size)

    def give_back(self, arena: Arena) -> None:
        """Leave it to later calls."""
        self._free.append(arena)


def _new(size: int) -> Arena:
    memory, address = placed_empty((size,), np.dtype(np.uint8))
    return Arena(memory, address if size else 0)
