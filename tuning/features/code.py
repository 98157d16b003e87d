"""Which instructions a body becomes: vectors, straight-line code, what stays in registers, and how long they take.

The nest is taken as the passes behind `schedule-to-loop` and LLVM leave it: lanes become vectors, loops that are unrolled
or short become straight-line code, and what such a block reads or adds to at the same places in each iteration of the
loop around it is in registers as long as there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tilework.dialects.loop import Kind
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.footprints import Movement
from tilework.tuning.features.numbers import Number
from tilework.tuning.features.operations import DIVISION, FUNCTION, INTEGER, MULTIPLY_ADD, SIMPLE
from tilework.tuning.features.program import Access, Body, Clause, Form, Loop
from tilework.tuning.features.shares import Shares

MOST_LANES = 64
"""`loop-vectorize` cuts a longer loop into vectors of so many elements."""

INTERLEAVED = 4
"""LLVM computes up to so many vectors side by side where it makes lanes of a loop that nobody asked it to."""

SMALL = 150
"""LLVM unrolls a loop of constant length if that takes no more than so many instructions."""

NEAR = 4
"""Up to which distance lanes are picked out of whole vectors, not loaded one by one."""

SLOTS: Mapping[str, float] = {MULTIPLY_ADD: 1.0, SIMPLE: 1.0, INTEGER: 1.0, DIVISION: 8.0, FUNCTION: 16.0}
"""How many simple instructions an operation takes as long as."""

NARROW_PER_CYCLE = 2.0
"""How many instructions on less than the widest vector start each cycle."""

FORWARDED = 5.0
"""How many cycles pass until what was stored can be loaded."""

JUMP, ENTRY = 1.0, 5.0
"""How many cycles an iteration of a loop takes besides its body, and how many beginning and ending the loop."""


@dataclass(frozen=True)
class Level:
    """A loop as it is in the code, or the chunks of lanes of one.

    extent: its iterations. straight: whether it is straight-line code, so that it has none; 1 or 0.
    """

    loop: Loop
    extent: Number
    straight: Number

    @property
    def rolled(self) -> Number:
        """Its iterations where it stays a loop."""
        return np.where(self.straight, 1.0, self.extent)

    @property
    def copies(self) -> Number:
        """How often its body is there."""
        return np.where(self.straight, self.extent, 1.0)


class Code:
    """The code of one body. rewritten: for each access, how many of the loops hold other stores to its buffer."""

    def __init__(
        self,
        body: Body,
        movements: Mapping[Access, Movement],
        shares: Shares,
        rewritten: Mapping[Access, int],
        target: CpuTarget,
    ):
        self.body = body
        self.movements = movements
        self.box = next(iter(movements.values())).box
        self._shares = shares
        self._rewritten = rewritten
        self._target = target
        self._core = target.machine.core
        self.share = shares.of(body.clauses)

    # -- lanes

    @cached_property
    def lane(self) -> Loop | None:
        """The loop whose iterations may be lanes: the innermost that is vectorized, or else the innermost."""
        asked = [loop for loop in self.body.loops if loop.kind is Kind.VECTORIZED]
        return asked[-1] if asked else self.body.loops[-1] if self.body.loops else None

    @cached_property
    def width(self) -> float:
        """How many elements fill a vector register."""
        widest = max(access.buffer.element_bytes for access in self.body.accesses)
        return float(self._target.lanes(8 * widest))

    @cached_property
    def has_lanes(self) -> Number:
        """Whether the iterations of that loop are lanes: 1 or 0."""
        lane = self.lane
        if lane is None:
            return 0.0
        several = np.greater(self.box.extents[lane.index], 1)
        conditions = [self._differs(c, lane) for access in self.body.accesses for c in access.where]
        if lane.kind is Kind.VECTORIZED:
            # the first lanes pass, as a tail has it; other conditions would need a mask
            conditions += [self._differs(c, lane, but_tails=True) for c in self.body.clauses]
            return several * _none(conditions)
        if lane.kind is not Kind.SERIAL:
            return 0.0
        conditions += [self._differs(c, lane) for c in self.body.clauses]
        steps = [(np.abs(m.steps.get(lane.index, 0.0)), a.stores) for a, m in self.movements.items()]
        even = [np.equal(step, 1) if stores else np.less_equal(step, 1) for step, stores in steps]
        long = np.greater_equal(self.box.extents[lane.index], self.width)
        return several * long * np.logical_and.reduce(np.broadcast_arrays(*even)) * _none(conditions)

    def _differs(self, clause: Clause, lane: Loop, but_tails: bool = False) -> Number:
        """Whether a condition holds for some lanes and not for others."""
        result: Number = 0.0
        for form, exact in zip(clause.forms, clause.exact, strict=True):
            if not _depends(form, lane):
                continue
            is_tail = but_tails and lane.index in form.coefficients and not clause.fails and not exact
            if is_tail and not form.curved and np.all(np.less(self.box.numbers.of(form.coefficients[lane.index]), 0)):
                continue
            result = np.maximum(result, self._shares.is_open(form, exact))
        return result

    @cached_property
    def lanes(self) -> Number:
        """How many elements are computed side by side."""
        if self.lane is None:
            return 1.0
        most = MOST_LANES if self.lane.kind is Kind.VECTORIZED else INTERLEAVED * self.width
        return np.where(self.has_lanes, np.minimum(self.box.extents[self.lane.index], most), 1.0)

    @cached_property
    def vectors(self) -> Number:
        """In how many registers these are."""
        return np.ceil(self.lanes / self.width)

    @cached_property
    def per_cycle(self) -> Number:
        """How many instructions on these start each cycle."""
        return np.where(np.greater_equal(self.lanes, self.width), self._target.vectors_per_cycle, NARROW_PER_CYCLE)

    # -- loops

    @cached_property
    def levels(self) -> Sequence[Level]:
        """The loops of the code, outermost first."""
        found: list[Level] = []
        inside: Number = 1.0  # whether all of what is inside is straight-line code
        statements: Number = 1.0
        instructions = self.vectors * (len(self.body.operations) + 2 * len(self.body.accesses))
        limits = _unroll_limits(self.body.loops)
        for loop in reversed(self.body.loops):
            extent = self.box.extents[loop.index]
            asked = loop.kind is Kind.UNROLLED
            if loop is self.lane:
                extent = np.where(self.has_lanes, np.ceil(extent / self.lanes), extent)
            limit = limits[loop]
            few = np.less_equal(statements * extent, self.box.numbers.of(limit)) if limit is not None else False
            small = np.less_equal(instructions * extent, SMALL) if loop.kind is not Kind.PARALLEL else False
            straight = inside * np.logical_or.reduce(
                np.broadcast_arrays(asked, few, small, np.equal(extent, 1))
            )
            found.append(Level(loop, extent, straight))
            inside = straight
            statements = statements * np.where(straight, extent, 1.0)
            instructions = instructions * np.where(straight, extent, 1.0)
        return found[::-1]

    @cached_property
    def copies(self) -> Number:
        """How often the body is in the straight-line code."""
        return _product(level.copies for level in self.levels)

    @cached_property
    def blocks(self) -> Number:
        """How often the straight-line code runs."""
        return _product(level.rolled for level in self.levels) * self.share * self.box.runs

    @cached_property
    def points(self) -> Number:
        """How many iterations compute something."""
        return _product(self.box.extents.values()) * self.share * self.box.runs

    @cached_property
    def loop_cycles(self) -> Number:
        """What counting and jumping takes."""
        total: Number = 0.0
        entered: Number = self.box.runs
        for level in self.levels:
            runs = np.greater(level.rolled, 1)
            total = total + np.where(runs, entered * (ENTRY + JUMP * level.rolled), 0.0)
            entered = entered * level.rolled
        return total * self.share

    # -- accesses

    @cached_property
    def reused(self) -> Mapping[Access, Number]:
        """In how many runs of the straight-line code each access is at the same places."""
        return {access: self._reuse(access) for access in self.body.accesses}

    def _reuse(self, access: Access) -> Number:
        movement, last = self.movements[access], self._rewritten[access]
        reuse: Number = 1.0
        still: Number = 1.0
        for level in reversed(self.levels[last:]):
            moves = movement.moves(level.loop.index)
            still = still * np.where(np.logical_or(level.straight, np.equal(moves, 0)), 1.0, 0.0)
            reuse = reuse * np.where(still, level.rolled, 1.0)
        return reuse

    @cached_property
    def registers(self) -> Mapping[Access, Number]:
        """How many vectors each access reaches in the straight-line code."""
        return {access: self._registers(access) for access in self.body.accesses}

    def _registers(self, access: Access) -> Number:
        movement = self.movements[access]
        count: Number = 1.0
        for level in self.levels:
            count = count * np.where(movement.moves(level.loop.index), level.copies, 1.0)
        if self.lane is None:
            return count
        return count * np.where(movement.moves(self.lane.index), self.vectors, 1.0)

    @cached_property
    def pressure(self) -> Number:
        """How many registers it would take to keep what is reused."""
        stored = set(self.body.updates.values())
        kept = [a for a in self.body.accesses if a not in stored]
        return sum((np.where(np.greater(self.reused[a], 1), self.registers[a], 0.0) for a in kept), start=0.0)

    @cached_property
    def kept(self) -> Number:
        """The part of it for which there are registers, beside those for operands."""
        return np.minimum(1.0, (self._target.vector_registers - 2) / np.maximum(self.pressure, 1))

    def transfers(self, access: Access) -> Number:
        """How many vectors of an access are loaded or stored in each run of the straight-line code."""
        there = self._shares.of(access.where) if access.where else 1.0
        return self.registers[access] * there * (self.kept / self.reused[access] + 1 - self.kept)

    def slots(self, access: Access) -> Number:
        """As how many loads each of these counts."""
        if self.lane is None:
            return 1.0
        step = np.abs(self.movements[access].steps.get(self.lane.index, 0.0))
        each = np.minimum(self.lanes, self.width) * self._core.lane_slots
        near = each if access.stores else np.minimum(self._core.stride_slots * step, each)
        apart = np.where(np.less_equal(step, NEAR), near, each)
        side_by_side = 1 + self._crossing(access)
        return np.where(self.has_lanes, np.where(np.equal(step, 0), 1.0, np.where(step == 1, side_by_side, apart)), 1.0)

    def _crossing(self, access: Access) -> Number:
        """The part of the vectors that lie in two lines of the cache, since they begin anywhere."""
        movement = self.movements[access]
        bytes_ = np.minimum(self.lanes, self.width) * access.buffer.element_bytes
        odd: Number = 0.0
        for key, step in movement.steps.items():
            if self.lane is None or key is not self.lane.index:
                odd = np.maximum(odd, np.not_equal(np.mod(step * access.buffer.element_bytes, bytes_), 0) * 1.0)
        return odd * (bytes_ - access.buffer.element_bytes) / LINE_BYTES

    @cached_property
    def loads(self) -> Number:
        """Loads in each run of the straight-line code, those of lanes that are apart counted as several."""
        loads = (self.transfers(a) * self.slots(a) for a in self.body.accesses if not a.stores)
        return sum(loads, start=0.0)

    @cached_property
    def stores(self) -> Number:
        """The same of stores."""
        stores = (self.transfers(a) * self.slots(a) for a in self.body.accesses if a.stores)
        return sum(stores, start=0.0)

    # -- time

    @cached_property
    def work(self) -> Number:
        """Instructions on numbers in each run of the straight-line code."""
        total: Number = 0.0
        for kind, where in self.body.operations:
            total = total + SLOTS[kind] * (self._shares.of(where) if where else 1.0)
        return total * self.copies * self.vectors

    @cached_property
    def chain(self) -> Number:
        """Cycles from one run of the straight-line code to the next in which sums wait for each other."""
        longest: Number = 0.0
        for store in self.body.updates.values():
            movement = self.movements[store]
            terms = _product(np.where(movement.moves(v.loop.index), 1.0, v.copies) for v in self.levels)
            waits = np.logical_or(np.greater(self.reused[store], 1), np.greater(terms, 1))
            latency = self._core.latency * terms + FORWARDED * (1 - self.kept)
            longest = np.maximum(longest, np.where(waits, latency, 0.0))
        return longest

    @cached_property
    def arithmetic_cycles(self) -> Number:
        """Of all the work."""
        return self.blocks * self.work / self.per_cycle

    @cached_property
    def load_cycles(self) -> Number:
        """Of all loads."""
        return self.blocks * self.loads / self.per_cycle

    @cached_property
    def store_cycles(self) -> Number:
        """Of all stores, half as many of which start in each cycle."""
        return self.blocks * self.stores * 2 / self.per_cycle

    @cached_property
    def chain_cycles(self) -> Number:
        """Of all the waiting."""
        return self.blocks * self.chain

    @cached_property
    def busy_cycles(self) -> Number:
        """The longest of these, which go on at the same time, and part of the loads."""
        longest = np.maximum(np.maximum(self.arithmetic_cycles, self.load_cycles), self.chain_cycles)
        longest = np.maximum(longest, self.store_cycles)
        return longest + self._core.felt_load * self.load_cycles

    @cached_property
    def cycles(self) -> Number:
        """All but what waits for memory."""
        return self.busy_cycles + self.loop_cycles


def _product(numbers: Iterator[Number] | Sequence[Number]) -> Number:
    total: Number = 1.0
    for number in numbers:
        total = total * number
    return total


def _none(holds: Sequence[Number]) -> Number:
    """Where nothing of this holds: 1 or 0."""
    result: Number = 1.0
    for one in holds:
        result = result * (1 - one)
    return result


def _depends(form: Form, loop: Loop) -> bool:
    if loop.index in form.coefficients or form.unknown:
        return True
    return any(loop.index in a.variables() for _, atom in form.curved for a in atom.args)


def _unroll_limits(loops: Sequence[Loop]) -> Mapping[Loop, object]:
    """Of how many statements each loop may become straight-line code, as it or the nearest around it says."""
    limits: dict[Loop, object] = {}
    limit = None
    for loop in loops:
        limit = loop.unroll_limit if loop.unroll_limit is not None else limit
        limits[loop] = limit
    return limits


Measure = Callable[[Code], Number]
