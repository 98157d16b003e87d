"""Interleave virtual threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import var
from tilework.analysis.thread_work import ThreadWork, holds_loop
from tilework.dialects.loop import ForOp, KernelOp, Kind, KindAttr, LoadOp, StoreOp
from tilework.dialects.loop.annotations import AUTO_UNROLL_MAX_STEP, PREFETCH, PREFETCH_SPREAD
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.interpreters.independence import Dependences
from tilework.transforms.loop.rewriting import access_one_of, allocate_several, constant_trip
from tilework.transforms.patterns import PatternPass

FEW = 16
"""A statement that holds no loop is unrolled for fewer threads than these, as in TVM."""


@dataclass(frozen=True)
class InjectVirtualThread(PatternPass):
    """Run the threads of a `vthread` loop together, statement by statement, instead of one after the other.

    loop.for %t = 0 to 2 "t" vthread {                  %b = memref.alloca() : memref<2x4xf32>
      %b = memref.alloca() : memref<4xf32>              loop.for %k = 0 to 8 "k" {
      loop.for %k = 0 to 8 "k" {                    ->    loop.for %t = 0 to 2 "t" unrolled { fill b[%t] }
        fill b for %t and %k                              loop.for %t = 0 to 2 "t" unrolled { use b[%t] }
        use b                                           }
      }
    }

    Each statement that depends on the thread is repeated for all of them: by an unrolled loop if it holds no loop and
    the threads are few, else by a serial one. What is the same for all threads is done once, and loops and conditions
    that are the same for all are shared; those that are not are statements. A local buffer whose elements depend on the
    thread has one more dimension, and the others are shared.
    Requires a constant number of threads, none of which touches what another one writes, and local buffers without
    views; leaves no `vthread` loops. A number below two leaves a serial loop.
    """

    name = "loop-inject-virtual-thread"
    anchor = KernelOp

    def operations(self, op: Operation) -> Iterable[Operation]:
        """Inner loops first: what they have become is a statement or a loop like others for the threads around them."""
        return reversed([inner for inner in op.walk() if _is_virtual(inner)])


class InterleaveThreads(RewritePattern):
    """One thread after the other is all of them at each statement in turn, where none touches what another writes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if not _is_virtual(op):
            return
        threads = constant_trip(op)
        if threads is None:
            what = f"their number {op.extent} is not constant"
            _refuse(op, f"{what}; split the axis by a factor, with tail guard, and bind the inner one")
        if threads < 2:
            op.properties["kind"] = KindAttr(Kind.SERIAL)
            rewriter.notify_op_modified(op)
            return
        if PREFETCH in op.attributes or PREFETCH_SPREAD in op.attributes:
            _refuse(op, "none is a later iteration to prefetch for; prefetch at a loop around or inside")
        work = ThreadWork(op)
        _check_dependences(op, work)
        _check_views(op, work)
        _Interleaving(op, threads, work, rewriter).run()


class _Interleaving:
    """One loop over virtual threads, and the work of each of them."""

    def __init__(self, loop: ForOp, threads: int, work: ThreadWork, rewriter: PatternRewriter):
        self.loop = loop
        self.threads = threads
        self.work = work
        self.rewriter = rewriter
        self.several: dict[SSAValue, SSAValue] = {}

    def run(self) -> None:
        """Put what the loop becomes in its place."""
        body = self.loop.body.block
        for buffer in self.work.buffers:
            self.allocate(buffer)
        self.interleave(body)
        for buffer in self.several:
            assert isinstance(buffer.owner, memref.AllocaOp)
            self.rewriter.erase(buffer.owner)
        for op in list(body.ops):
            self.pass_on_limit(op)
            op.detach()
            self.rewriter.insert(op, InsertPoint.before(self.loop))
        self.rewriter.erase(self.loop)

    def allocate(self, buffer: SSAValue) -> None:
        """Allocate a buffer for each thread, in the place of the one that there is."""
        old = buffer.owner
        assert isinstance(old, memref.AllocaOp)
        new = allocate_several(old, self.threads)
        new.attributes |= old.attributes
        self.several[buffer] = self.rewriter.insert(new, InsertPoint.before(old)).memref

    def interleave(self, block: Block) -> None:
        """Repeat the statements of a block that all threads share, and those of the blocks inside that they share."""
        for op in block.ops:
            if op not in self.work.repeated:
                for region in op.regions:
                    for inner in region.blocks:
                        self.interleave(inner)
        for statement in self.work.statements(block):
            self.repeat(statement)

    def repeat(self, statement: list[Operation]) -> None:
        """Put what a statement repeats into a loop over the threads, behind what is the same for all of them."""
        repeated = [op for op in statement if op in self.work.repeated]
        stays = self.threads >= FEW or any(map(holds_loop, repeated))
        kind = Kind.SERIAL if stays else Kind.UNROLLED
        loop = ForOp(self.loop.lower, self.loop.upper, self.loop.axis.data, kind=kind)
        loop.index.name_hint = self.loop.index.name_hint
        copy_location(loop, self.loop)
        self.rewriter.insert(loop, InsertPoint.after(statement[-1]))
        for op in repeated:
            op.detach()
            loop.body.block.add_op(op)
        for op in loop.body.walk():
            op.operands = [loop.index if operand is self.loop.index else operand for operand in op.operands]
            if isinstance(op, LoadOp | StoreOp) and op.memref in self.several:
                access_one_of(op, self.several[op.memref], var(loop.index) - loop.lower)

    def pass_on_limit(self, op: Operation) -> None:
        """What the loop says of unrolling the loops inside is said by these from now on."""
        limit = self.loop.attributes.get(AUTO_UNROLL_MAX_STEP)
        if limit is not None:
            for loop in _outermost_loops(op):
                loop.attributes.setdefault(AUTO_UNROLL_MAX_STEP, limit)


def _check_dependences(loop: ForOp, work: ThreadWork) -> None:
    """A store that all threads do alike is done once, and may write what the other threads would."""
    for access, is_alone in Dependences(_kernel_of(loop), {}).conflicts(loop):
        if not (is_alone and access.is_store and access.op not in work.repeated):
            what = f"one of them writes an element of {_named(access.root)} that another one may write or read"
            _refuse(loop, f"{what}; bind an axis whose iterations have elements of their own")


def _check_views(loop: ForOp, work: ThreadWork) -> None:
    for buffer in work.buffers:
        for use in buffer.uses:
            if not isinstance(use.operation, LoadOp | StoreOp):
                what = f"each needs a buffer {_named(buffer)} of its own, but {use.operation.name} takes all of it"
                _refuse(loop, f"{what}; run loop-inject-virtual-thread before the pass that inserts this operation")


def _refuse(loop: ForOp, why: str) -> NoReturn:
    raise CompileError(f"loop '{loop.axis.data}' cannot be virtual threads that are interleaved: {why}", loop)


def _is_virtual(op: Operation) -> bool:
    return isinstance(op, ForOp) and op.kind.data is Kind.VIRTUAL


def _named(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint or '?'}"


def _kernel_of(loop: ForOp) -> KernelOp:
    op: Operation | None = loop
    while not isinstance(op, KernelOp):
        assert op is not None
        op = op.parent_op()
    return op


def _outermost_loops(op: Operation) -> Iterator[ForOp]:
    if isinstance(op, ForOp):
        yield op
        return
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                yield from _outermost_loops(inner)
