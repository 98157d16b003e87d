"""An analysis of loops over virtual threads: what each thread does for itself is told from what is the same for all."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tilework.analysis.accesses import root_buffer
from tilework.analysis.intrinsics import written_buffers
from tilework.dialects.loop import ForOp, IfOp, Kind, LoadOp
from tilework.dialects.loop.annotations import TENSORIZE


class ThreadWork:
    """The operations that every thread repeats, and the local buffers of which every thread needs one.

    An operation is repeated where it uses the thread's index, a value that a repeated operation computes, or a buffer
    that a repeated operation writes; all that it holds is repeated with it. A loop or condition that is the same for
    all threads is not repeated, although it may hold operations that are. The buffers are those that are allocated
    inside the loop, and written by a repeated operation that does not hold the allocation.
    """

    def __init__(self, loop: ForOp):
        self.loop = loop
        self.repeated: set[Operation] = set()
        self.buffers: set[SSAValue] = set()
        self._differing: set[SSAValue] = {loop.index}
        known = -1
        while known < (known := len(self.repeated)):
            self._look_into(loop.body.block)
        self.buffers = {buffer for buffer in self.buffers if buffer.owner not in self.repeated}

    def statements(self, block: Block) -> list[list[Operation]]:
        """The repeated operations right in a block, those together that values connect, with what lies between them.

        No value that one of them computes is used behind the last operation of its statement.
        """
        found: list[list[Operation]] = []
        current: list[Operation] = []
        last: Operation | None = None
        ops = list(block.ops)
        places = {op: i for i, op in enumerate(ops)}
        for op in ops:
            if op not in self.repeated and not current:
                continue
            current.append(op)
            if op in self.repeated:
                ends = [op, *self._users(op, block), *([] if last is None else [last])]
                last = max(ends, key=lambda end: places[end])
            if op is last:
                found.append(current)
                current, last = [], None
        return found

    # -- what is repeated

    def _look_into(self, block: Block) -> None:
        for op in block.ops:
            if op in self.repeated:
                continue
            if self._differs(op) or (_stays_whole(op) and any(map(self._differs, op.walk()))):
                self._repeat(op)
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self._look_into(inner)
        for statement in self.statements(block):
            for op in statement:
                if op not in self.repeated and not is_movable(op):
                    self._repeat(op)

    def _differs(self, op: Operation) -> bool:
        """Whether an operation itself, what it holds left aside, uses what is not the same for all threads."""
        return any(v in self._differing or root_buffer(v) in self.buffers for v in op.operands)

    def _repeat(self, op: Operation) -> None:
        for inner in op.walk():
            self.repeated.add(inner)
            self._differing.update(inner.results)
        for buffer in written_buffers(op):
            if is_inside(buffer, self.loop) and not is_inside(buffer, op):
                self.buffers.add(buffer)

    def _users(self, op: Operation, block: Block) -> Iterator[Operation]:
        """The operations right in the block that use a value of `op`, or hold one that does."""
        for result in op.results:
            for use in result.uses:
                user = block.find_ancestor_op_in_block(use.operation)
                assert user is not None
                yield user


def is_movable(op: Operation) -> bool:
    """Whether an operation that is the same for all threads may come before others of its statement."""
    return isinstance(op, LoadOp | memref.AllocaOp) or (not op.regions and is_side_effect_free(op))


def is_inside(buffer: SSAValue, op: Operation) -> bool:
    """Whether a buffer is allocated in an operation."""
    return isinstance(buffer.owner, memref.AllocaOp) and op.is_ancestor(buffer.owner)


def holds_loop(op: Operation) -> bool:
    """Whether an operation is or holds a loop that stays one.

    Lanes do not stay, nor does a nest that becomes one operation. An unrolled loop is what it holds.
    """
    if isinstance(op, ForOp) and _becomes_one(op):
        return False
    if isinstance(op, ForOp) and op.kind.data is not Kind.UNROLLED:
        return True
    return any(holds_loop(inner) for region in op.regions for block in region.blocks for inner in block.ops)


def _becomes_one(loop: ForOp) -> bool:
    return loop.kind.data is Kind.VECTORIZED or TENSORIZE in loop.attributes


def _stays_whole(op: Operation) -> bool:
    """Whether either all that an operation holds is repeated, or nothing."""
    match op:
        case ForOp():
            return _becomes_one(op)
        case IfOp():
            return bool(op.outputs)
        case _:
            return bool(op.regions)
