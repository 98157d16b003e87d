"""How long the instructions of a body take, as long as no cache has to be waited for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, reduce

import numpy as np

from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.levels import Levels
from tilework.tuning.features.numbers import Number, product, total
from tilework.tuning.features.operations import DIVISION, FUNCTION, INTEGER, MULTIPLY_ADD, SIMPLE
from tilework.tuning.features.program import Access, Body
from tilework.tuning.features.registers import NEAR, Registers, masked
from tilework.tuning.features.shares import Shares

SLOTS: Mapping[str, float] = {MULTIPLY_ADD: 1.0, SIMPLE: 1.0, INTEGER: 1.0, DIVISION: 8.0, FUNCTION: 16.0}
"""How many simple instructions take as long as an operation."""


class Code:
    """The code of one body. rewritten: as `Registers` has it."""

    def __init__(self, levels: Levels, shares: Shares, rewritten: Mapping[Access, int], target: CpuTarget):
        self.body: Body = levels.body
        self.levels = levels
        self.registers = Registers(levels, rewritten, target)
        self._shares = shares
        self._target = target
        self._core = target.machine.core
        self._transfers: dict[Access, Number] = {}
        self.share = shares.of(self.body.clauses) * levels.box.runs
        """The part of the iterations in which something is computed."""

    def share_of(self, access: Access) -> Number:
        """The part of the iterations in which an access is made."""
        return self.share * (self._shares.of(access.where) if access.where else 1.0)

    @cached_property
    def points(self) -> Number:
        """How many iterations compute something."""
        return product(self.levels.box.extents.values()) * self.share

    @cached_property
    def per_cycle(self) -> Number:
        """How many instructions on the vectors start each cycle."""
        levels = self.levels
        whole = np.greater_equal(levels.lanes, levels.width)
        return np.where(whole, self._target.vectors_per_cycle, self._core.narrow_per_cycle)

    @cached_property
    def length(self) -> Number:
        """How many instructions the straight-line code has."""
        return (self.levels.operations + len(self.body.accesses)) * self.levels.copies * self.levels.vectors

    # -- accesses

    def transfers(self, access: Access) -> Number:
        """How many vectors of an access are loaded or stored in all."""
        known = self._transfers.get(access)
        if known is None:
            known = self._transfers[access] = self.registers.transfers[access] * self.share_of(access)
        return known

    def access_cycles(self, access: Access) -> Number:
        """The cycles of loading or storing one vector."""
        levels, slots = self.levels, self._core.store_slots if access.stores else 1.0
        step = levels.lane_step(access)
        whole = slots * (1 + self._crossing(access)) / self.per_cycle
        near = slots * self._core.stride_slots * step / self.per_cycle
        each = np.minimum(levels.lanes, levels.width) * self._core.lane_slots / self._core.issue
        apart = np.where(np.less_equal(step, NEAR), np.minimum(near, each), each)
        return np.where(np.less_equal(step, 1), np.where(np.equal(step, 1), whole, slots / self.per_cycle), apart)

    def _crossing(self, access: Access) -> Number:
        """The part of the vectors that lie in two lines of the cache, since they begin anywhere."""
        levels, width = self.levels, access.buffer.element_bytes
        size = np.minimum(levels.lanes, levels.width) * width
        steps = levels.movements[access].steps
        moving = [level for level in levels.listed if level.loop.index in steps]
        begins = (np.mod(steps[v.loop.index] * width, size) * (1 - v.lanes) for v in moving)
        odd = reduce(np.logical_or, (np.not_equal(b, 0) for b in begins), False)
        return odd * (size - width) / LINE_BYTES

    # -- time

    @cached_property
    def slots(self) -> Number:
        """Instructions on numbers in one iteration of all loops."""
        return total(SLOTS[o.kind] * self._shares.of_operation(o) for o in self.body.operations)

    @cached_property
    def arithmetic_cycles(self) -> Number:
        """The cycles of all the instructions on numbers."""
        levels = self.levels
        return levels.blocks * levels.copies * levels.vectors * self.slots * self.share / self.per_cycle

    @cached_property
    def load_cycles(self) -> Number:
        """The cycles of all loads."""
        return total(self.transfers(a) * self.access_cycles(a) for a in self.body.accesses if not a.stores)

    @cached_property
    def store_cycles(self) -> Number:
        """The cycles of all stores."""
        return total(self.transfers(a) * self.access_cycles(a) for a in self.body.accesses if a.stores)

    @cached_property
    def chain_cycles(self) -> Number:
        """In which sums wait for each other.

        Where a loop goes on to other elements, its next iterations run meanwhile, as far as the core looks ahead.
        """
        longest: Number = 0.0
        for store in self.body.updates.values():
            chain: Number = self._core.latency
            size = self.levels.vectors * 1.0
            for level in reversed(self.levels.listed):
                moves = self.levels.movements[store].moves(level.loop.index)
                beside = np.where(moves, np.minimum(level.extent, 1 + self._core.window / size), 1.0)
                chain, size = chain * level.extent / beside, size * level.extent
            longest = np.maximum(longest, chain)
        return longest * self.share

    @cached_property
    def mask_cycles(self) -> Number:
        """In which loads wait for what was stored under masks."""
        # LLVM loads whole vectors of local buffers, which reach into what was stored next to theirs
        waits = {True: self._core.unforwarded, False: self._core.masked_update}
        stores = self.body.updates.values()
        return masked(self.levels) * total(self.transfers(s) * waits[s.buffer.place is not None] for s in stores)

    @cached_property
    def decode_cycles(self) -> Number:
        """The cycles of decoding straight-line code that is too long to be kept."""
        decoded = self.length * self.levels.blocks * self.share / self._core.decoded_per_cycle
        return np.where(np.greater(self.length, self._core.decoded), decoded, 0.0)

    @cached_property
    def loop_cycles(self) -> Number:
        """The cycles of counting and jumping."""
        entered: Number = 1.0
        cycles: Number = 0.0
        for level in self.levels.listed:
            around = entered * (self._core.entry + self._core.jump * level.rolled)
            cycles = cycles + np.where(np.greater(level.rolled, 1), around, 0.0)
            entered = entered * level.rolled
        return cycles * self.share

    @cached_property
    def busy_cycles(self) -> Number:
        """The longest of what goes on side by side, and some of the loads."""
        beside = (self.load_cycles, self.store_cycles, self.chain_cycles, self.mask_cycles, self.decode_cycles)
        return reduce(np.maximum, beside, self.arithmetic_cycles) + self._core.felt_load * self.load_cycles

    @cached_property
    def cycles(self) -> Number:
        """All but what waits for memory."""
        return self.busy_cycles + self.loop_cycles
