"""The memories that a stream runs with: those of the chip, and DRAM, which is counted in pieces of tiles."""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple

import numpy as np

from tilework.targets.vdla.target import VdlaTarget

Places = np.ndarray[Any, np.dtype[np.int64]]
"""Numbers of tiles, or of pieces of DRAM."""

DRAM = "DRAM"
"""How the memory outside the chip is called beside those of the chip. It is counted in pieces of `Machine.piece`."""


class Machine(NamedTuple):
    """A target with a DRAM of some size."""

    target: VdlaTarget
    dram_bytes: int

    @property
    def piece(self) -> int:
        """The largest number of bytes that tiles of all kinds in DRAM are multiples of."""
        return gcd(*(self.target.memories[name].tile_bytes for name in ("inp", "wgt", "acc", "out")))

    def sizes(self) -> dict[str, int]:
        """How many tiles each memory has, or pieces."""
        depths = {name: memory.depth for name, memory in self.target.memories.items() if name != "out"}
        return {**depths, DRAM: -(-self.dram_bytes // self.piece)}

    def describe(self, memory: str, places: Places) -> str:
        """Some tiles, or pieces of DRAM, for messages."""
        first, last = int(places.min()), int(places.max())
        if memory == DRAM:
            return f"bytes {first * self.piece} to {(last + 1) * self.piece - 1} of DRAM"
        if first == last:
            return f"tile {first} of {memory}"
        return f"{'tiles' if last - first + 1 == len(places) else 'some of tiles'} {first} to {last} of {memory}"
