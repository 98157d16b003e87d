"""Scratch memory for calls: one piece per running call, reused by later ones."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from tilework.runtime.arrays import Array, aligned_empty


class ArenaPool:
    """Hands each call an arena of its own; as many exist as calls have ever run at once."""

    def __init__(self):
        self._free: list[Array] = []

    @contextmanager
    def arena(self, size: int) -> Generator[int]:
        """The address of `size` bytes aligned to 64, until the `with` ends; 0 for no bytes."""
        if size == 0:
            yield 0
            return
        buffer = self._take(size)
        try:
            yield buffer.ctypes.data
        finally:
            self._free.append(buffer)

    def _take(self, size: int) -> Array:
        # Taking from a list is atomic: two threads never get the same arena.
        try:
            buffer = self._free.pop()
        except IndexError:
            return aligned_empty((size,), np.dtype(np.uint8))
        return buffer if buffer.nbytes >= size else aligned_empty((size,), np.dtype(np.uint8))
