"""What stays in registers from one iteration of a loop to the next, and what is loaded and stored again."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.levels import Level, Levels
from tilework.tuning.features.numbers import Number, total
from tilework.tuning.features.program import Access

OPERANDS = 2
"""So many registers are for what is used once."""

SPILLED = 4.0
"""How fast the part of the values that stay in registers falls with what is needed beyond their number."""

PROMOTED = 250
"""In a loop with more accesses to memory than this, LLVM leaves there what they change."""

NEAR = 4
"""Up to which distance lanes are picked out of whole vectors; farther ones are accessed one by one."""


class Registers:
    """The vectors that a body loads and stores in all, if its conditions always hold.

    Registers are like a cache that holds what straight-line code names: an element that moves with a loop has no name
    outside of it. rewritten: for each access, how many of the loops hold other accesses to its buffer, so that it has
    to be in memory. transfers: how many vectors of an access are loaded or stored. pressure: how many registers it
    would take to keep all that is used again from one iteration of a loop to the next.
    """

    def __init__(self, levels: Levels, rewritten: Mapping[Access, int], target: CpuTarget):
        self._levels = levels
        self._rewritten = rewritten
        self._room = target.vector_registers - OPERANDS
        accesses = levels.body.accesses
        self.transfers: dict[Access, Number] = {
            a: np.where(levels.moves_with_lanes(a), levels.vectors, 1.0) for a in accesses
        }
        self.pressure: Number = 0.0
        self._reached = dict(self.transfers)
        self._alive: dict[Access, Number] = dict.fromkeys(accesses, 0.0)
        self._named: dict[Access, Number] = dict.fromkeys(accesses, 1.0)
        self._changing = {a: self._may_change(a) for pair in levels.body.updates.items() for a in pair}
        for depth, level in reversed(list(enumerate(levels.listed))):
            self._leave(depth, level)

    def _may_change(self, access: Access) -> Number:
        """Whether an element that is added to may be in a register meanwhile.

        A vector with masked lanes may not, and nothing in memory that others see if there are many such accesses.
        """
        levels = self._levels
        count = levels.copies * np.where(np.greater(levels.lane_step(access), NEAR), levels.lanes, 1.0)
        few = np.less_equal(count * len(self._levels.body.updates) * 2, PROMOTED)
        return (1 - masked(levels)) * (few if access.buffer.place is None else 1.0)

    def _leave(self, depth: int, level: Level) -> None:
        """Go on to the loop around."""
        levels = self._levels
        stored = set(levels.body.updates.values())
        moves = {a: levels.movements[a].moves(level.loop.index) for a in self.transfers}
        for a, moved in moves.items():
            again = np.greater(level.extent, 1) * (1 - moved)
            self._alive[a] = np.where(again, self._reached[a] * self._named[a], self._alive[a])
        needed = total(alive for a, alive in self._alive.items() if a not in stored)
        self.pressure = np.maximum(self.pressure, np.where(np.greater(level.extent, 1), needed, 0.0))
        kept = np.minimum(np.maximum(1 - SPILLED * (needed / self._room - 1), 0.0), 1.0)
        for a, moved in moves.items():
            again = level.extent * self.transfers[a]
            stays = kept * self._named[a] * (depth >= self._rewritten[a])
            if a in self._changing:
                # LLVM does not look at straight-line code once more when it has made lanes
                stays = stays * self._changing[a] * np.where(level.straight, levels.is_asked >= levels.has_lanes, 1.0)
            self.transfers[a] = np.where(moved, again, again + (self.transfers[a] - again) * stays)
            self._reached[a] = np.where(moved, self._reached[a] * level.extent, self._reached[a])
            self._named[a] = self._named[a] * np.where(moved * np.greater(level.rolled, 1), 0.0, 1.0)


def masked(levels: Levels) -> Number:
    """Whether vectors that the schedule asks for are a part of a register that needs a mask: 1 or 0."""
    lanes = np.asarray(levels.lanes, np.int64)
    return levels.is_asked * np.not_equal(lanes & (lanes - 1), 0) * np.less(levels.lanes, levels.width)
