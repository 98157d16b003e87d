"""Loads in the order in which they are waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.functions import body_of
from tilework.dialects import arith
from tilework.dialects.isa.vdla import LoadOp, VdlaOp
from tilework.dialects.loop.common import memref_of
from tilework.targets.vdla.units import Unit
from tilework.transforms.patterns import PatternPass
from tilework.transforms.vdla.accesses import Tiles, Touched, touched
from tilework.transforms.vdla.values import number_of


@dataclass(frozen=True)
class OrderLoads(PatternPass):
    """Move a load in front of those right before it that are waited for later, or else wait longer themselves.

    vdla.load %x[..] to %inp[%c0] ..                   vdla.load %x[..] to %inp[%c0] ..
    vdla.load %x[..] to %inp[%c4] ..                   vdla.load %w[..] to %wgt[%c0] ..
    vdla.load %w[..] to %wgt[%c0] ..            ->     vdla.load %x[..] to %inp[%c4] ..
    vdla.gemm %s[..], %inp[%c0], %wgt[%c0] ..          vdla.gemm %s[..], %inp[%c0], %wgt[%c0] ..
    vdla.gemm %s[..], %inp[%c4], %wgt[%c0] ..          vdla.gemm %s[..], %inp[%c4], %wgt[%c0] ..

    The unit of loads runs them in order: one that waits for the place of the last computation's operand holds up all
    that come behind, and with them the first computation.
    Requires operations without tokens (before `vdla-insert-tokens`), and subscripts that are constants
    (`vdla-write-out-loops`); what stands in loops stays there.
    """

    name = "vdla-order-loads"
    anchor = func.FuncOp

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, func.FuncOp)
        return [LoadEarlier(_loaded(op))]


class Loaded(NamedTuple):
    """What a load writes: tiles of a buffer, from the first up to the end.

    needed: the number, among the operations of the function, of the next one that reads any of them. free: that of the
    last one before that does.
    """

    buffer: SSAValue
    first: int
    end: int
    needed: int
    free: int

    def goes_before(self, other: Loaded) -> bool:
        """Whether a load is rather run before another one."""
        return (self.needed, self.free) < (other.needed, other.free)

    def overlaps(self, other: Loaded) -> bool:
        """Whether two loads write one tile."""
        return self.buffer is other.buffer and self.first < other.end and other.first < self.end


@dataclass(frozen=True)
class LoadEarlier(RewritePattern):
    """Loads to different tiles may change places, since both only read DRAM.

    loaded: what loads of the unit of loads write.
    """

    loaded: Mapping[Operation, Loaded]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        own = self.loaded.get(op)
        if own is None:
            return
        passed, moving = list[Operation](), 0
        for before in self._loads_before(op):
            other = self.loaded.get(before)
            if other is not None and (not own.goes_before(other) or other.overlaps(own)):
                break
            passed.append(before)
            moving = moving if other is None else len(passed)
        if not moving:
            return
        owners, place = {operand.owner for operand in op.operands}, passed[moving - 1]
        subscripts = [constant for constant in passed[:moving] if constant in owners]
        for moved in (*subscripts, op):
            moved.detach()
            rewriter.insert(moved, InsertPoint.before(place))

    def _loads_before(self, op: LoadOp) -> Iterator[Operation]:
        """The loads right before one, and the constants between them, the nearest first."""
        before = op.prev_op
        while before is not None and (before in self.loaded or isinstance(before, arith.ConstantOp)):
            yield before
            before = before.prev_op


def _loaded(function: func.FuncOp) -> Mapping[Operation, Loaded]:
    """What loads write, in a function whose operations have constants for subscripts and no tokens."""
    operations = [op for op in body_of(function).ops if isinstance(op, VdlaOp)]
    what: list[Touched] = []
    for op in operations:
        at = [number_of(value).constant for value in op.operands if isinstance(value.type, IndexType)]
        known = [place for place in at if place is not None]
        if len(known) != len(at) or op.waits or op.pushes:
            return {}
        what.append(touched(op, known))
    numbers = range(len(operations))
    free = _nearest_reads(operations, what, numbers, -1, np.max)
    needed = _nearest_reads(operations, what, numbers[::-1], len(operations), np.min)
    found: dict[Operation, Loaded] = {}
    for op, (_, writes) in zip(operations, what, strict=True):
        if op in needed:
            [(buffer, tiles)] = writes
            found[op] = Loaded(buffer, int(tiles[0]), int(tiles[-1]) + 1, needed[op], free[op])
    return found


def _nearest_reads(
    operations: Sequence[VdlaOp],
    what: Sequence[Touched],
    order: Sequence[int],
    nobody: int,
    nearest: Callable[[Tiles], int],
) -> Mapping[Operation, int]:
    """For each load, of the operations before it in some order, the number of the nearest that reads what it writes."""
    found: dict[Operation, int] = {}
    read: dict[SSAValue, Tiles] = {}
    for number in order:
        op, (reads, writes) = operations[number], what[number]
        if isinstance(op, LoadOp) and op.unit is Unit.LOAD:
            [(buffer, tiles)] = writes
            found[op] = int(nearest(read[buffer][tiles])) if buffer in read else nobody
            continue
        for buffer, tiles in reads:
            if buffer not in read:
                read[buffer] = np.full(memref_of(buffer).get_shape()[0], nobody)
            read[buffer][tiles] = number
    return found
