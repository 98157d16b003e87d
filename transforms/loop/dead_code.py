"""Dead code in kernels: values without uses and local buffers that are never read."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import NoMemoryEffect

from tilework.dialects.loop import ForOp, IfOp, KernelOp, LoadOp, StoreOp, YieldOp
from tilework.transforms.patterns import Interested


class EraseUnread(RewritePattern):
    """What is stored to memory of the kernel's own that nothing loads is not stored."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp | KernelOp, rewriter: PatternRewriter) -> None:
        for buffer in op.scratch if isinstance(op, KernelOp) else (op.memref,):
            users = list(_users(buffer))
            if all(isinstance(user, StoreOp | memref.ReinterpretCastOp) for user in users):
                for store in [user for user in users if isinstance(user, StoreOp)]:
                    rewriter.erase(store)


class EraseUnused(RewritePattern):
    """What has no effect, and makes nothing that is used, is not computed."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if _is_dead(op):
            rewriter.erase(op)


def erase_dead(kernel: KernelOp) -> None:
    """Erase stores that nothing reads, values without uses, and what is left empty by that."""
    _Eraser(kernel).drain()


def erase_unused(op: Operation) -> None:
    """Erase what has no effect, and makes nothing that is used, in an operation, perhaps the operation itself."""
    for inner in reversed(list(op.walk())):
        if _is_dead(inner):
            inner.detach()
            inner.erase()


class _Eraser:
    """Operations to look at, last ones first: erasing one makes its operands and its parent worth a look."""

    def __init__(self, kernel: KernelOp):
        self.worklist = [kernel, *kernel.body.walk()]  # scratch last, of which more is dead then
        self.erased: set[Operation] = set()
        self.rewriter = PatternRewriter(InsertPoint.at_start(kernel.body.block))
        self.rewriter.operation_removal_handler.append(self._note_erased)

    def drain(self) -> None:
        """Try the patterns until there is nothing left to look at."""
        interested = Interested([EraseUnread(), EraseUnused()])
        while self.worklist:
            op = self.worklist.pop()
            if op not in self.erased:
                for pattern in interested.patterns(op):
                    pattern.match_and_rewrite(op, self.rewriter)

    def _note_erased(self, op: Operation) -> None:
        parent = op.parent_op()
        if isinstance(parent, ForOp | IfOp):
            self.worklist.append(parent)
        for inner in op.walk():
            self.erased.add(inner)
            self.worklist.extend(o.owner for o in inner.operands if isinstance(o.owner, Operation))


def _users(buffer: SSAValue) -> Iterator[Operation]:
    """The operations that use a buffer, under another shape too."""
    for use in buffer.uses:
        yield use.operation
        if isinstance(use.operation, memref.ReinterpretCastOp):
            yield from _users(use.operation.result)


def _is_dead(op: Operation) -> bool:
    if any(result.first_use is not None for result in op.results):
        return False
    match op:
        case ForOp():
            return op.body.block.is_empty
        case IfOp():
            return all(isinstance(inner, ForOp | YieldOp) or _has_no_effect(inner) for inner in op.walk())
        case _:
            return bool(op.results) and _has_no_effect(op)


def _has_no_effect(op: Operation) -> bool:
    """Whether nothing is lost with `op` itself where its results have no uses."""
    return isinstance(op, LoadOp | IfOp | memref.AllocaOp) or op.has_trait(NoMemoryEffect)
