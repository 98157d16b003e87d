"""A nest with everything that is counted of it, for many configurations at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tilework.algebra.index_expr import Key
from tilework.dialects.loop import THREADS, Kind
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.box import Box
from tilework.tuning.features.code import Code
from tilework.tuning.features.footprints import Movement
from tilework.tuning.features.levels import Levels
from tilework.tuning.features.memory import Memory, overlapped
from tilework.tuning.features.numbers import Number, Numbers, product, total
from tilework.tuning.features.program import Access, Body, Buffer, Form, Loop, Program
from tilework.tuning.features.shares import Shares
from tilework.tuning.features.traffic import WorkingSets

COPY = 1 / 64
"""How much an iteration that computes nothing counts beside an operation, so that of several copies one is the main
body."""


class MeasuredBody:
    """One body: its code, its traffic, and how many threads share it."""

    def __init__(self, code: Code, memory: Memory, shares: Shares, target: CpuTarget):
        self.body: Body = code.body
        self.code = code
        self.memory = memory
        self.shares = shares
        self.levels = code.levels
        self._target = target

    @cached_property
    def parallel(self) -> Number:
        """How many iterations the outermost parallel loop has; 1 where there is none."""
        found = [loop for loop in self.body.loops if loop.kind is Kind.PARALLEL or loop.kind in THREADS]
        return self.levels.box.extents[found[0].index] if found else 1.0

    @cached_property
    def speedup(self) -> Number:
        """How many times as fast it is on several cores, the last of which may have little to do."""
        threads = np.minimum(self.parallel, self._target.cores)
        return self.parallel / np.ceil(self.parallel / threads)

    def operations(self, kind: str) -> Number:
        """How many operations of a kind on elements it does in all."""
        return total(self.shares.of_operation(o) for o in self.body.operations if o.kind == kind) * self.code.points

    @cached_property
    def guards(self) -> Number:
        """How often it asks conditions that hold in some iterations only."""
        return total(self._asked(form, self.shares.of_form(form)) for form in self.body.asked)

    @cached_property
    def guard_cycles(self) -> Number:
        """How long that takes: most iterations are cut off from those that ask, if few do not pass."""
        shares = [(form, self.shares.of_form(form)) for form in self.body.asked]
        asked = total(self._asked(form, share) * 4 * share * (1 - share) for form, share in shares)
        return asked * self._target.machine.core.guard

    def _asked(self, form: Form, share: Number) -> Number:
        """How often a condition is asked: in each run of the innermost loop that it depends on, lanes aside."""
        inside = [i for i, level in enumerate(self.levels.listed) if level.loop.index in form.keys]
        runs = product(level.extent for level in self.levels.listed[: max(inside, default=-1) + 1])
        return np.where(np.logical_and(np.greater(share, 0), np.less(share, 1)), runs, 0.0)

    @cached_property
    def leading(self) -> Sequence[Access]:
        """The first store, and the loads of something else, in program order."""
        stores = [a for a in self.body.accesses if a.stores]
        return [*stores[:1], *(a for a in self.body.accesses if not a.stores and a not in self.body.updates)]

    @cached_property
    def intensities(self) -> tuple[Sequence[Number], Sequence[Number]]:
        """The numbers of iterations of all loops up to each, from the innermost outwards, and of operations for each
        element that is touched in these, both as logarithms; first those of one iteration alone."""
        touching = [a for a in self.body.accesses if a not in self.body.updates]
        footprints = [self.levels.movements[a].footprints[::-1] for a in touching]
        extents = [self.levels.box.extents[loop.index] for loop in reversed(self.body.loops)]
        iterations = [product(extents[:count]) for count in range(len(extents) + 1)]
        touched = [total(of_access) for of_access in zip(*([f.elements for f in fs] for fs in footprints), strict=True)]
        ys = [np.log2(i * self.code.slots + 1) - np.log2(t + 1) for i, t in zip(iterations, touched, strict=True)]
        return [np.log2(i) for i in iterations], ys

    @cached_property
    def busy(self) -> Number:
        """Cycles of instructions, loops and conditions, on one core."""
        return self.code.cycles + self.guard_cycles

    @cached_property
    def cycles(self) -> Number:
        """All cycles, on as many cores as there are."""
        return overlapped(self.busy, self.memory.waiting, self._target.machine.core.overlap) / self.speedup


class Measured:
    """A program with these values of its symbols. lengths: how often loops run at most in any configuration."""

    def __init__(self, program: Program, symbols: Mapping[Key, Number], lengths: Mapping[Key, int], target: CpuTarget):
        self.program = program
        self.numbers = Numbers(symbols)
        self._target = target
        boxes = [Box(self.numbers, body.loops) for body in program.bodies]
        placed = list(zip(program.bodies, boxes, strict=True))
        self._movements = {access: Movement(access, box) for body, box in placed for access in body.accesses}
        self.sets = WorkingSets(list(self._movements.values()))
        rewritten = _rewritten(program)
        self.bodies = [self._measured(body, Shares(box, lengths), rewritten) for body, box in placed]

    def _measured(self, body: Body, shares: Shares, rewritten: Mapping[Access, int]) -> MeasuredBody:
        movements = {a: self._movements[a] for a in body.accesses}
        code = Code(Levels(body, movements, shares, self._target), shares, rewritten, self._target)
        return MeasuredBody(code, Memory(code, self.sets, self._target), shares, self._target)

    def operations(self, kind: str) -> Number:
        """How many operations of a kind on elements it does in all."""
        return total(body.operations(kind) for body in self.bodies)

    @cached_property
    def starts(self) -> Number:
        """How often threads are started."""
        loops: dict[Loop, Number] = {}
        for body in self.bodies:
            for at, loop in enumerate(body.body.loops):
                if loop.kind is Kind.PARALLEL:
                    around = product(body.levels.box.extents[other.index] for other in body.body.loops[:at])
                    loops.setdefault(loop, around)
                    break
        return total(loops.values())

    @cached_property
    def start_cycles(self) -> Number:
        """How long that takes: as long as the least work that is worth a thread."""
        target = self._target
        worth = target.machine.work.of_a_core / (target.lanes(32) * target.multiplies_per_cycle)
        return self.starts * (worth if target.cores > 1 else 0.0)

    def local_bytes(self, buffer: Buffer) -> Number:
        """How large a buffer is."""
        sizes = [self.numbers.of(e) for e in buffer.dims]
        strides = [self.numbers.of(e) for e in buffer.strides]
        spans = (np.maximum(n - 1, 0) * s for n, s in zip(sizes, strides, strict=True))
        return (total(spans) + 1) * float(buffer.element_bytes)

    @cached_property
    def stack_bytes(self) -> Number:
        """How large all buffers are together that loops allocate."""
        return total(self.local_bytes(b) for b in self.program.buffers if b.place is not None)


def main_body(measured: Measured) -> int:
    """The body that does most of the work."""
    work = [body.code.points * (body.code.slots + COPY) for body in measured.bodies]
    return int(np.argmax([np.max(w) for w in work]))


def _rewritten(program: Program) -> Mapping[Access, int]:
    """How many of the loops around each access hold others to its buffer, of which one is a store."""
    found: dict[Access, int] = {}
    for body in program.bodies:
        others = [other for other in program.bodies if other is not body]
        for access in body.accesses:
            meets = (
                _shared(body, other)
                for other in others
                for a in other.accesses
                if a.buffer is access.buffer and (a.stores or access.stores)
            )
            found[access] = max(meets, default=0)
    return found


def _shared(a: Body, b: Body) -> int:
    """How many loops are around both."""
    same = [x is y for x, y in zip(a.loops, b.loops, strict=False)]
    return same.index(False) if False in same else len(same)
