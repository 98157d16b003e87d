"""What becomes of the loops around a body: lanes of vectors, straight-line code, or loops.

The passes behind `schedule-to-loop` and LLVM decide that. The schedule asks for lanes and for straight-line code; LLVM
unrolls short loops, and then makes lanes of the innermost loop that is left where none was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from tilework.algebra.index_expr import Expr
from tilework.dialects.loop import Kind
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.footprints import Movement
from tilework.tuning.features.numbers import Number, nowhere, product, total
from tilework.tuning.features.program import Access, Body, Clause, Loop
from tilework.tuning.features.shares import Shares

MOST_LANES = 64
"""`loop-vectorize` cuts a longer loop into vectors of so many elements."""

INTERLEAVED = 4
"""LLVM computes up to so many vectors side by side where it makes lanes of a loop."""

WOVEN = 8
"""LLVM makes lanes of elements that are no more than so many apart."""

SMALL = 150
"""LLVM unrolls a loop of known length if that makes no more than so many instructions."""

ACCESS_INSTRUCTIONS = 2
"""An access is so many instructions for LLVM when it counts these: the address, and the load or store."""


@dataclass(frozen=True)
class Level:
    """A loop as it is in the code; of one that became lanes, what is left of it goes over vectors of these.

    extent: its iterations. straight: whether it is straight-line code, so that it has none; 1 or 0. lanes: whether its
    iterations are lanes; 1 or 0.
    """

    loop: Loop
    extent: Number
    straight: Number
    lanes: Number

    @property
    def rolled(self) -> Number:
        """Its iterations where it stays a loop, else 1."""
        return np.where(self.straight, 1.0, self.extent)

    @property
    def copies(self) -> Number:
        """How often its body is in the code."""
        return np.where(self.straight, self.extent, 1.0)


class Levels:
    """The levels of one body, outermost first, and the lanes."""

    def __init__(self, body: Body, movements: Mapping[Access, Movement], shares: Shares, target: CpuTarget):
        self.body = body
        self.movements = movements
        self.box = shares.box
        self._shares = shares
        widest = max(access.buffer.element_bytes for access in body.accesses)
        self.width = float(target.lanes(8 * widest))
        """How many elements fill a vector register."""

    @cached_property
    def listed(self) -> Sequence[Level]:
        """The levels."""
        return self._found[0]

    @cached_property
    def lanes(self) -> Number:
        """How many elements are computed side by side."""
        return self._found[1]

    @cached_property
    def vectors(self) -> Number:
        """In how many registers these are: whole ones, and halves, quarters and so on of one for the rest."""
        whole = np.floor(self.lanes / self.width)
        rest = np.asarray(self.lanes - whole * self.width, np.int64)
        parts = total(np.where((rest >> bit) & 1, 1.0, 0.0) for bit in range(int(self.width).bit_length()))
        return np.where(np.less(self.lanes, self.width), 1.0, whole + parts)

    @cached_property
    def has_lanes(self) -> Number:
        """Whether there are lanes: 1 or 0."""
        return total(level.lanes for level in self.listed)

    @cached_property
    def is_asked(self) -> Number:
        """Whether the schedule asked for lanes, and there are some: 1 or 0."""
        return total(level.lanes for level in self.listed if level.loop.kind is Kind.VECTORIZED)

    @cached_property
    def operations(self) -> Number:
        """How many operations on numbers one iteration has."""
        return total(np.greater(self._shares.of_operation(o), 0) for o in self.body.operations)

    @cached_property
    def copies(self) -> Number:
        """How often the body is in the straight-line code."""
        return product(level.copies for level in self.listed)

    @cached_property
    def blocks(self) -> Number:
        """How often the straight-line code runs, if it always does."""
        return product(level.rolled for level in self.listed)

    def lane_step(self, access: Access) -> Number:
        """How many elements of an access lanes are apart; 0 where there are no lanes."""
        steps = self.movements[access].steps
        return total(np.abs(steps[v.loop.index]) * v.lanes for v in self.listed if v.loop.index in steps)

    def moves_with_lanes(self, access: Access) -> Number:
        """Whether lanes access different elements: 1 or 0."""
        return total(self.movements[access].moves(v.loop.index) * v.lanes for v in self.listed)

    # -- how they are found

    @cached_property
    def _found(self) -> tuple[Sequence[Level], Number]:
        found: list[Level] = []
        wanted = [(loop, self._asked_lanes(loop)) for loop in self.body.loops if loop.kind is Kind.VECTORIZED]
        open_ = reduce(lambda a, b: a * (1 - b), (asked for _, asked in wanted), 1.0)  # nobody has asked for lanes
        inside: Number = 1.0  # whether all inside is straight-line code
        statements: Number = 1.0
        lanes: Number = 1.0
        instructions: Number = self.operations + ACCESS_INSTRUCTIONS * len(self.body.accesses)
        limits = _unroll_limits(self.body.loops)
        for loop in reversed(self.body.loops):
            extent = self.box.extents[loop.index]
            is_lane, most = self._is_lane(loop, extent, inside * open_, instructions)
            open_ = open_ * (1 - is_lane)
            taken = np.where(is_lane, np.minimum(extent, most), 1.0)
            lanes, extent = lanes * taken, np.ceil(extent / taken)
            vectors = np.ceil(taken / self.width)
            # what all lanes take is put into each of their registers
            instructions = np.where(is_lane, instructions * vectors + vectors - 1, instructions)
            straight = inside * self._is_straight(loop, extent, statements, instructions, limits[loop])
            found.append(Level(loop, extent, straight, is_lane))
            inside = straight
            statements = statements * np.where(straight, extent, 1.0)
            instructions = instructions * np.where(straight, extent, 1.0)
        return found[::-1], lanes

    def _asked_lanes(self, loop: Loop) -> Number:
        """Whether a loop that is vectorized has lanes: more than one iteration, and no such loop inside of it."""
        inner = self.body.loops[self.body.loops.index(loop) + 1 :]
        several = np.greater(self.box.extents[loop.index], 1) * 1.0
        for other in inner:
            if other.kind is Kind.VECTORIZED:
                several = several * np.equal(self.box.extents[other.index], 1)
        return several

    def _is_lane(self, loop: Loop, extent: Number, may: Number, instructions: Number) -> tuple[Number, float]:
        """Whether the iterations of a loop are lanes, and how many at most are side by side.

        may: whether LLVM looks at the loop: all inside is straight-line code, and there are no lanes yet.
        """
        if loop.kind is Kind.VECTORIZED:
            return self._asked_lanes(loop), float(MOST_LANES)
        if loop.kind is not Kind.SERIAL or nowhere(may):
            return 0.0, 1.0
        long = np.greater(extent * instructions, SMALL) * np.greater_equal(extent, self.width)
        return may * long * self._is_even(loop), INTERLEAVED * self.width

    def _is_even(self, loop: Loop) -> Number:
        """Whether LLVM can make lanes of a loop: all do the same, with elements that are near each other."""
        even: Number = 1.0
        for access, movement in self.movements.items():
            step = np.abs(movement.steps.get(loop.index, 0.0))
            even = even * np.less_equal(step, WOVEN)
            if access.stores:
                even = even * np.greater(step, 0)
        asking = [*self.body.clauses, *(c for a in self.body.accesses for c in a.where)]
        return even * reduce(lambda a, c: a * (1 - self._differs(c, loop)), asking, 1.0)

    def _differs(self, clause: Clause, loop: Loop) -> Number:
        """Whether conditions on the index of a loop hold in some iterations and not in others."""
        result: Number = 0.0
        for form, exact in zip(clause.forms, clause.exact, strict=True):
            if form.unknown or loop.index in form.keys:
                result = np.maximum(result, self._shares.is_open(form, exact))
        return result

    def _is_straight(
        self, loop: Loop, extent: Number, statements: Number, instructions: Number, limit: Expr | None
    ) -> Number:
        """Whether a loop becomes straight-line code where all inside of it does."""
        if loop.kind is Kind.UNROLLED:
            return 1.0
        straight = np.equal(extent, 1) * 1.0
        if loop.kind in (Kind.SERIAL, Kind.VECTORIZED):
            straight = np.maximum(straight, np.less_equal(instructions * extent, SMALL))
        if limit is not None:
            straight = np.maximum(straight, np.less_equal(statements * extent, self.box.numbers.of(limit)))
        return straight


def _unroll_limits(loops: Sequence[Loop]) -> Mapping[Loop, Expr | None]:
    """How many statements of straight-line code each loop may become, as it or the nearest around it says."""
    limits: dict[Loop, Expr | None] = {}
    limit = None
    for loop in loops:
        limit = loop.unroll_limit if loop.unroll_limit is not None else limit
        limits[loop] = limit
    return limits
