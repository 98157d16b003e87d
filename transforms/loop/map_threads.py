"""Kernels become what each thread of a device does."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import var
from tilework.algebra.predicate import Predicate, less_than
from tilework.analysis.accesses import memory_space
from tilework.analysis.launches import (
    Launch,
    ThreadAccess,
    accesses_in,
    launches,
    meet,
    thread_loops,
)
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, BarrierOp, ForOp, IfOp, KernelOp, Kind
from tilework.dialects.loop.annotations import MAPPED
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.memory_scopes import SHARED, is_private, untagged
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.rewriting import substitute_index


@dataclass(frozen=True)
class MapThreads(TileworkPass):
    """Put the loops over blocks and threads around each statement of a kernel, once: what is inside is what one thread
    does.

    loop.for %b = 0 to 8 "b" blockIdx.x {                      loop.for %b = 0 to 8 "b" blockIdx.x {
      %s = memref.alloca() : memref<16xf32, "shared">            %s = memref.alloca() : memref<16xf32, "shared">
      loop.for %t = 0 to 16 "t" threadIdx.x {                    loop.for %t = 0 to 16 "t" threadIdx.x {
        store %v, %s[%t]                                  ->       store %v, %s[%t]
      }                                                            loop.barrier
      loop.barrier                                                 loop.if [-%t + 7 >= 0] {
      loop.for %u = 0 to 8 "u" threadIdx.x {                         load %s[15 - %t]
        load %s[15 - %u]

    Of each kind there are as many threads as its longest loop has iterations; of a shorter one, some do nothing but
    wait at barriers. Threads that are in no loop over blocks are one block. Shared buffers are one for each block.
    Refuses a store to memory that threads share which is in no loop over some of them: all would store; and a read of a
    buffer that each thread has for itself, where another one has written.
    This is an algorithm and no pattern: how many threads there are is told from all loops of a statement. Requires
    barriers (`loop-insert-barriers`).
    """

    name = "loop-map-threads"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        for launch in launches(op):
            _refuse_meeting(launch)
            _refuse_unbound(launch)
            _refuse_foreign(launch)
            _map(launch)
        op.attributes[MAPPED] = UnitAttr()


def _refuse_meeting(launch: Launch) -> None:
    """Raise CompileError for a loop that deals iterations out to the threads of a loop around it, whose index it uses.

    A thread has one number: it cannot be at one iteration of the outer loop and at another one of the inner loop.
    """
    for loop in thread_loops(launch.statement):
        for inner in thread_loops(loop):
            if inner is loop or inner.kind.data is not loop.kind.data:
                continue
            if any(loop.index in op.operands for op in inner.walk()):
                message = (
                    f"loop '{inner.axis.data}' deals its iterations out to the threads of {loop.kind.data}, and what "
                    f"it does is for one iteration of loop '{loop.axis.data}', which has these threads already: bind "
                    "one of the two axes to others"
                )
                raise CompileError(message, inner, (("the loop around", loop),))


def _refuse_unbound(launch: Launch) -> None:
    """Raise CompileError for a store that all threads of some kind would do."""
    for access in accesses_in(launch.statement, ()):
        if not access.is_store or is_private(memory_space(access.buffer)):
            continue
        kinds = {loop.kind.data for loop in access.loops}
        missing = [kind for kind in launch.extents if kind not in kinds]
        if missing:
            name = access.buffer.name_hint or "?"
            message = f"every thread of {missing[0]} would store to %{name} here: bind an axis of the stage to it"
            raise CompileError(message, access.op)
        if meet(access, access, _serial(access), launch.block_threads):
            name = access.buffer.name_hint or "?"
            message = f"several threads would store to one element of %{name} here: bind an axis of the stage to them"
            raise CompileError(message, access.op)


def _refuse_foreign(launch: Launch) -> None:
    """Raise CompileError where a thread reads what another one has written into memory of its own."""
    by_buffer: dict[SSAValue, list[ThreadAccess]] = {}
    for access in accesses_in(launch.statement, ()):
        if is_private(memory_space(access.buffer)):
            by_buffer.setdefault(access.buffer, []).append(access)
    for buffer, found in by_buffer.items():
        _check_own(launch, buffer, found)


def _check_own(launch: Launch, buffer: SSAValue, accesses: list[ThreadAccess]) -> None:
    """Whether each thread writes the elements of a buffer of its own that it reads."""
    around = {loop for loop in thread_loops(launch.statement) if loop.is_ancestor(buffer.owner)}
    common = [loop.index for loop in accesses[0].loops if all(loop in access.loops for access in accesses)]
    dealt = [a for a in accesses if any(_is_dealt(loop, around) for loop in a.loops)]
    kinds = {loop.kind.data for loop in around}
    for access in dealt:
        if not access.is_store and any(_is_dealt(loop, around) and loop.kind.data in kinds for loop in access.loops):
            raise _foreign_read(buffer, access)
    if not any(access.is_store for access in dealt):
        return
    fixed = [loop.index for loop in around]  # of one buffer there is one such thread
    others = {kind: count for kind, count in launch.block_threads.items() if kind not in kinds}
    for access in dealt:
        if access.is_store and meet(access, access, [*_serial(access), *fixed], others):
            message = (
                f'%{buffer.name_hint or "?"} is "{memory_space(buffer)}", of which every thread has its own, and '
                'several threads store to one element of it here: put it into "shared", or sum up by rfactor'
            )
            raise CompileError(message, access.op)
    own: set[tuple[int, int]] = set()
    for access in accesses:
        pairs = access.places([i for i in common if i not in _thread_indices(access)], launch.block_threads)
        touched = None if pairs is None else {(place, thread) for place, thread in pairs.tolist()}
        if access.is_store:
            own |= touched or set()
        elif touched is None or not touched <= own:
            raise _foreign_read(buffer, access)


def _foreign_read(buffer: SSAValue, access: ThreadAccess) -> CompileError:
    message = (
        f'%{buffer.name_hint or "?"} is "{memory_space(buffer)}", of which every thread has its own, and a thread '
        'reads here what others write: put it into "shared"'
    )
    return CompileError(message, access.op)


def _is_dealt(loop: ForOp, around: set[ForOp]) -> bool:
    """Whether a loop inside of those around a buffer deals iterations out to the threads of a block."""
    return loop not in around and loop.kind.data in BLOCK_THREADS


def _thread_indices(access: ThreadAccess) -> list[SSAValue]:
    """The indices of the loops over threads of a block around an access."""
    return [loop.index for loop in access.loops if loop.kind.data in BLOCK_THREADS]


def _serial(access: ThreadAccess) -> list[SSAValue]:
    """The indices of the loops around an access that are not over the threads of a block."""
    return [loop.index for loop in access.loops if loop.kind.data not in BLOCK_THREADS]


def _map(launch: Launch) -> None:
    """Rewrite a launch, in place."""
    statement = launch.statement
    place = InsertPoint.before(statement)
    around: dict[Kind, ForOp] = {}
    for kind, loop in _loops_of(launch).items():
        around[kind] = loop
        Rewriter.insert_op(loop, place)
        place = InsertPoint.at_end(loop.body.block)
    statement.detach()
    Rewriter.insert_op(statement, place)
    inside = next((loop for kind, loop in around.items() if kind in BLOCK_THREADS), statement)
    for op in list(statement.walk()):
        if isinstance(op, memref.AllocaOp) and _is_shared(op):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(inside))
    for loop in list(thread_loops(statement)):
        _dissolve(loop, around[loop.kind.data], launch)


def _is_shared(op: memref.AllocaOp) -> bool:
    return untagged(memory_space(op.memref)) == SHARED


def _loops_of(launch: Launch) -> dict[Kind, ForOp]:
    """New loops over blocks and threads, outermost first. Threads that are in no block are those of one."""
    found: dict[Kind, ForOp] = {}
    if launch.extents.keys().isdisjoint(BLOCKS):
        found[Kind.BLOCK_X] = ForOp(0, 1, "block", kind=Kind.BLOCK_X)
        found[Kind.BLOCK_X].index.name_hint = "block"
        copy_location(found[Kind.BLOCK_X], launch.statement)
    for kind in (*BLOCKS, *BLOCK_THREADS):
        if kind in launch.extents:
            loop = next(loop for loop in thread_loops(launch.statement) if loop.kind.data is kind)
            found[kind] = ForOp(0, launch.extents[kind], loop.axis.data, kind=kind)
            found[kind].index.name_hint = loop.index.name_hint
            copy_location(found[kind], loop)
    return found


def _dissolve(loop: ForOp, around: ForOp, launch: Launch) -> None:
    """What a loop over threads holds is done by the threads of another one."""
    substitute_index(loop.index, loop.lower + var(around.index))
    if loop.extent != launch.extents[loop.kind.data]:
        _guard(loop.body.block, loop.kind.data, less_than(var(around.index), loop.extent))
    for op in list(loop.body.block.ops):
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(loop))
    loop.detach()
    loop.erase()


def _guard(block: Block, kind: Kind, condition: Predicate) -> None:
    """Do what a block holds under a condition on the threads of a kind, but for what all of them do.

    They all reach barriers, and the loops whose iterations are dealt out to them once more.
    """
    some: IfOp | None = None
    for op in list(block.ops):
        if isinstance(op, memref.AllocaOp) or any(_is_for_all(inner, kind) for inner in op.walk()):
            some = None
            if not _is_for_all(op, kind):
                for inner in (inner for region in op.regions for inner in region.blocks):
                    _guard(inner, kind, condition)
            continue
        if some is None:
            some = IfOp([condition], Region(Block()))
            copy_location(some, op)
            Rewriter.insert_op(some, InsertPoint.before(op))
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_end(some.then_body.block))


def _is_for_all(op: Operation, kind: Kind) -> bool:
    """Whether all threads of a kind do an operation, however few do what is around it."""
    return isinstance(op, BarrierOp) or (isinstance(op, ForOp) and op.kind.data is kind)
