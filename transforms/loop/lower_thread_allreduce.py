"""Sums that threads of a block take together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.dialects import memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import Expr, const, var
from tilework.analysis.accesses import memory_space
from tilework.dialects import arith
from tilework.dialects.loop import BLOCK_THREADS, ForOp, IfOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.loop.annotations import STORING_THREAD
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.memory_scopes import SHARED, is_private
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class LowerThreadAllreduce(PatternPass):
    """Let threads that sum up into one element do so in shared memory, half as many of them in each step.

    store %zero, %y[%i]                                store %zero, %p[0], each thread its own
    loop.for %k = 0 to 8 "k" threadIdx.x {             store %p[0] + %x[%i, %k], %p[0]
      store %y[%i] + %x[%i, %k], %y[%i]       ->       store %p[0], %s[%k]
    }                                                  %s[%t] += %s[%t + 4], 4 threads; += %s[%t + 2], 2; += ..
                                                       store %y[%i] + %s[0], %y[%i], one thread

    Where the number of threads is no power of two, those beyond one add to the first ones before. Terms may be left out
    under a condition. Requires loops over threads as schedules make them; run it before barriers are inserted, which
    what is shared here needs. Loops over threads that it does not know as sums stay; loop-map-threads refuses them.
    """

    name = "loop-lower-thread-allreduce"
    anchor = KernelOp
    numerics: ClassVar = "reassociates"


class _Sum(NamedTuple):
    """What a loop sums up: the element, the first value that is stored there, and how two values are joined."""

    buffer: SSAValue
    subscripts: tuple[Expr, ...]
    accesses: tuple[LoadOp | StoreOp, ...]
    initial: StoreOp
    join: Operation

    @property
    def is_own(self) -> bool:
        """Whether every thread has the element for itself."""
        return is_private(memory_space(self.buffer))

    def joined(self, a: SSAValue, b: SSAValue) -> Operation:
        """The operation that joins two values."""
        return type(self.join).create(
            operands=[a, b],
            result_types=[result.type for result in self.join.results],
            properties=self.join.properties.copy(),
            attributes=self.join.attributes.copy(),
        )


class ReduceInShared(RewritePattern):
    """Threads that add to one element add to elements of their own, and then to those of each other."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        extent = op.extent.constant
        if op.kind.data not in BLOCK_THREADS or extent is None or extent < 1 or op.lower != 0:
            return
        found = _sum_of(op)
        if found is not None:
            _Rewriting(op, extent, found).run()
            rewriter.notify_op_modified(op)


def _sum_of(loop: ForOp) -> _Sum | None:
    """What a loop sums up into one element that is the same for all of its iterations; None where it does not."""
    stores = [op for op in loop.walk() if isinstance(op, StoreOp) and _is_outside(op.memref, loop)]
    if len(stores) != 1:
        return None
    [store] = stores
    subscripts = tuple(store.exprs)
    loads = [op for op in loop.walk() if isinstance(op, LoadOp) and op.memref is store.memref]
    inside = {block.args[0] for op in loop.walk() if isinstance(op, ForOp) for block in op.body.blocks}
    if any(not inside.isdisjoint(e.variables()) for e in subscripts) or len(loads) != 1:
        return None
    before, initial = loads[0].result, _initial_store(loop, store)
    join = _joined(store.value, before)
    if join is None or initial is None or tuple(loads[0].exprs) != subscripts:
        return None
    return _Sum(store.memref, subscripts, (loads[0], store), initial, join)


def _joined(value: SSAValue, before: SSAValue) -> Operation | None:
    """The operation that joins a value with the one before, which stays where a condition does not hold perhaps."""
    join, uses = value.owner, 1
    if isinstance(join, arith.SelectOp) and join.rhs is before:
        join, uses = join.lhs.owner, 2
    if not isinstance(join, Operation) or len(join.operands) != 2 or before not in join.operands:
        return None
    return join if before.uses.get_length() == uses else None


def _is_outside(buffer: SSAValue, loop: ForOp) -> bool:
    return not (isinstance(buffer.owner, Operation) and loop.is_ancestor(buffer.owner))


def _initial_store(loop: ForOp, store: StoreOp) -> StoreOp | None:
    """The store of a constant to the element of a store, before a loop or before serial loops around it."""
    around: Operation = loop
    while True:
        before = around.prev_op
        while before is not None:
            for op in reversed(list(before.walk())):
                if isinstance(op, StoreOp) and op.memref is store.memref:
                    is_constant = isinstance(op.value.owner, arith.ConstantOp)
                    is_same = tuple(op.exprs) == tuple(store.exprs)
                    return op if isinstance(before, StoreOp | IfOp) and is_constant and is_same else None
            before = before.prev_op
        parent = around.parent_op()
        if not isinstance(parent, ForOp | IfOp) or (isinstance(parent, ForOp) and parent.kind.data in BLOCK_THREADS):
            return None
        around = parent


class _Rewriting:
    """Rewrites one loop."""

    def __init__(self, loop: ForOp, extent: int, found: _Sum):
        self.loop, self.extent, self.sum = loop, extent, found
        self.element = found.initial.value.type
        self.others = [around for around in _loops_around(loop) if around.kind.data in BLOCK_THREADS]
        self.last: Operation = loop

    def run(self) -> None:
        """Sum up by threads, in shared memory, and into the element."""
        self.keep_partial_sums()
        shared = memref.AllocaOp.get(self.element, shape=self.shape(), memory_space=StringAttr(SHARED))
        shared.memref.name_hint = "sums"
        self.shared = shared.memref
        Rewriter.insert_op(shared, InsertPoint.before(self.loop))
        self.loop.body.block.add_op(partial := LoadOp(self.partial, [const(0)]))
        self.loop.body.block.add_op(StoreOp(partial.result, self.shared, self.place(var(self.loop.index))))
        count = 1 << (self.extent.bit_length() - 1)
        if count < self.extent:
            self.fold(self.extent - count, count)
        while count > 1:
            count //= 2
            self.fold(count, count)
        self.finish()

    def keep_partial_sums(self) -> None:
        """Let each thread sum up into an element of its own."""
        first = self.sum.initial.value.owner
        assert isinstance(first, arith.ConstantOp)
        own = memref.AllocaOp.get(self.element, shape=[1], memory_space=StringAttr("local"))
        own.memref.name_hint = "partial"
        self.partial = own.memref
        constant = first.clone()
        start = StoreOp(constant.result, self.partial, [const(0)])
        block = self.loop.body.block
        load, store = self.sum.accesses
        assert isinstance(store, StoreOp)
        for old, new in (
            (load, LoadOp(self.partial, [const(0)])),
            (store, StoreOp(store.value, self.partial, [const(0)])),
        ):
            copy_location(new, old)
            Rewriter.replace_op(old, new)
        Rewriter.insert_op([own, constant, start], InsertPoint.at_start(block))
        self.loop.attributes.pop(STORING_THREAD, None)

    def shape(self) -> list[int]:
        """The shape of a buffer with a row of the threads that sum up for each of the other threads around."""
        return [*(loop.extent.constant or 1 for loop in self.others), self.extent]

    def place(self, thread: Expr) -> list[Expr]:
        """The subscripts of the partial sum of a thread."""
        return [*(var(loop.index) for loop in self.others), thread]

    def fold(self, count: int, distance: int) -> None:
        """Let so many threads add to their sums those of the threads that are so far away."""
        loop, block = self.threads(count)
        a = LoadOp(self.shared, self.place(var(loop.index)))
        b = LoadOp(self.shared, self.place(var(loop.index) + distance))
        join = self.sum.joined(a.result, b.result)
        block.add_ops([a, b, join, StoreOp(join.results[0], self.shared, self.place(var(loop.index)))])

    def finish(self) -> None:
        """Add the sum to the element: every thread to its own, or one thread to that of all."""
        block = None
        if not self.sum.is_own:
            _, block = self.threads(1)
            self.store_first_by_one()
        a = LoadOp(self.sum.buffer, self.sum.subscripts)
        b = LoadOp(self.shared, self.place(const(0)))
        join = self.sum.joined(a.result, b.result)
        for op in (a, b, join, StoreOp(join.results[0], self.sum.buffer, self.sum.subscripts)):
            if block is None:
                self.insert(op)
            else:
                block.add_op(op)

    def store_first_by_one(self) -> None:
        """Let one thread store the first value."""
        store = self.sum.initial
        loop = self.like(1)
        Rewriter.insert_op(loop, InsertPoint.before(store))
        store.detach()
        loop.body.block.add_op(store)

    def threads(self, count: int) -> tuple[ForOp, Block]:
        """A loop over some of the threads, behind all others."""
        loop = self.like(count)
        self.insert(loop)
        return loop, loop.body.block

    def like(self, count: int) -> ForOp:
        loop = ForOp(0, count, self.loop.axis.data, kind=self.loop.kind.data)
        loop.index.name_hint = self.loop.index.name_hint
        copy_location(loop, self.loop)
        return loop

    def insert(self, op: Operation) -> None:
        """Insert an operation behind the loop, and all that was inserted there."""
        Rewriter.insert_op(op, InsertPoint.after(self.last))
        self.last = op


def _loops_around(op: Operation) -> Iterator[ForOp]:
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            yield parent
        parent = parent.parent_op()
