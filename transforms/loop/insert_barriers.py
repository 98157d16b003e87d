"""Let threads wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.accesses import memory_space
from tilework.analysis.launches import (
    Launch,
    ThreadAccess,
    accesses_in,
    blocks_of,
    launches,
    meet,
    written_in,
)
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, BarrierOp, ForOp, IfOp, KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.memory_scopes import is_private
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class InsertBarriers(TileworkPass):
    """Insert a barrier where a thread touches what another one of its block has written before, or will write over.

    loop.for %k = 0 to 8 "k" {                                  loop.for %k = 0 to 8 "k" {
      loop.for %t = 0 to 16 "t" threadIdx.x {                     loop.barrier
        store %v, %s[%t] : memref<16xf32, "shared">               loop.for %t = 0 to 16 "t" threadIdx.x {
      }                                                  ->         store %v, %s[%t] : memref<16xf32, "shared">
      loop.for %u = 0 to 16 "u" threadIdx.x {                     }
        load %s[15 - %u]                                          loop.barrier
      }                                                           loop.for %u = 0 to 16 "u" threadIdx.x {
    }                                                               load %s[15 - %u]

    Which threads meet is told from subscripts: a thread that reads what it has written itself waits for nobody. One in
    the middle of a loop stands for what the iteration before has done, too. Refuses a barrier that not all threads of a
    block would reach: under a condition that depends on the thread, or in a loop whose bounds do.
    This is an algorithm and no pattern: whether threads have waited since is told from all that is between. Requires
    loops over threads as schedules make them.
    """

    name = "loop-insert-barriers"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        for launch in launches(op):
            if prod(launch.block_threads.values()) > 1:
                _Walk(launch).statement(launch.statement, (), ())


@dataclass(frozen=True)
class _Earlier:
    """An access since the last barrier. elsewhere: the indices of loops in another iteration of which it was."""

    access: ThreadAccess
    elsewhere: frozenset[SSAValue] = frozenset()


class _Walk:
    """Goes through a launch in the order in which it runs, twice through what a loop repeats."""

    def __init__(self, launch: Launch):
        self.launch = launch
        self.threads = launch.block_threads
        self.written = {b for b in written_in(launch.statement) if not is_private(memory_space(b))}
        self.earlier: list[_Earlier] = []
        self._known: dict[tuple[Operation, Operation, frozenset[SSAValue]], bool] = {}

    def statement(self, op: Operation, around: tuple[ForOp, ...], common: tuple[SSAValue, ...]) -> None:
        """Insert barriers in front of an operation and inside of it."""
        if isinstance(op, BarrierOp):
            self.earlier = []
            return
        accesses = [a for a in accesses_in(op, around) if a.buffer in self.written]
        if any(self.conflict(earlier, access, common) for earlier in self.earlier for access in accesses):
            self.insert(op)
        if not op.regions:
            self.earlier += map(_Earlier, accesses)
        elif isinstance(op, ForOp) and op.kind.data not in (*BLOCKS, *BLOCK_THREADS):
            self.block(op.body.block, (*around, op), (*common, op.index))
            if op.extent != 1:
                self.earlier = [_Earlier(e.access, e.elsewhere | {op.index}) for e in self.earlier]
                self.block(op.body.block, (*around, op), (*common, op.index))
        else:
            for block in blocks_of(op):
                self.block(block, (*around, op) if isinstance(op, ForOp) else around, common)

    def block(self, block: Block, around: tuple[ForOp, ...], common: tuple[SSAValue, ...]) -> None:
        """Insert barriers between the operations of a block."""
        for op in list(block.ops):
            self.statement(op, around, common)

    def conflict(self, earlier: _Earlier, access: ThreadAccess, common: tuple[SSAValue, ...]) -> bool:
        """Whether another thread may touch what one has touched earlier, one of them to write."""
        same = frozenset(common) - earlier.elsewhere
        key = (earlier.access.op, access.op, same)
        if key not in self._known:
            self._known[key] = meet(earlier.access, access, tuple(same), self.threads)
        return self._known[key]

    def insert(self, op: Operation) -> None:
        """Insert a barrier in front of an operation. Raises CompileError where not all threads would reach it."""
        around, inner = op.parent_op(), op
        while inner is not self.launch.statement and around is not None:
            if (why := self.diverging(around)) is not None:
                message = f"threads must wait for each other in front of this, and {why}: compute it outside"
                raise CompileError(message, op, (("the other threads", around),))
            inner, around = around, around.parent_op()
        barrier = BarrierOp()
        copy_location(barrier, op)
        Rewriter.insert_op(barrier, InsertPoint.before(op))
        self.earlier = []

    def diverging(self, around: Operation) -> str | None:
        """Why not all threads of a block run what is inside of an operation; None where they do."""
        indices = {loop.index for loop in _loops_around(around) if loop.kind.data in BLOCK_THREADS}
        if isinstance(around, IfOp):
            depends = any(not indices.isdisjoint(p.expr.variables()) for p in around.conditions)
            return "a condition around depends on the thread" if depends else None
        if not isinstance(around, ForOp):
            return None
        name = around.axis.data
        if any(not indices.isdisjoint(e.variables()) for e in (around.lower, around.upper)):
            return f"how often loop '{name}' runs depends on the thread"
        return None


def _loops_around(op: Operation) -> Iterator[ForOp]:
    around = op.parent_op()
    while around is not None:
        if isinstance(around, ForOp):
            yield around
        around = around.parent_op()
