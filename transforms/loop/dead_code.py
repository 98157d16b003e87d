"""Dead code in kernels: values without uses and local buffers that are never read."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue
from xdsl.traits import NoMemoryEffect

from tilework.dialects.loop import ForOp, IfOp, KernelOp, LoadOp, StoreOp, YieldOp


def erase_dead(kernel: KernelOp) -> None:
    """Erase values without uses, stores to local buffers that are never read, and what is left empty by that."""
    eraser = _Eraser(kernel)
    eraser.drain()
    for buffer in kernel.scratch:
        eraser.erase_stores_if_only(buffer)
    eraser.drain()


class _Eraser:
    """Operations to look at, last ones first: erasing one makes its operands and its parent worth a look."""

    def __init__(self, kernel: KernelOp):
        self.worklist = list(kernel.body.walk())
        self.erased: set[Operation] = set()

    def drain(self) -> None:
        while self.worklist:
            op = self.worklist.pop()
            if op in self.erased:
                continue
            if isinstance(op, memref.AllocaOp):
                self.erase_stores_if_only(op.memref)
            if _is_dead(op):
                self.erase(op)

    def erase(self, op: Operation) -> None:
        parent = op.parent_op()
        if isinstance(parent, ForOp | IfOp):
            self.worklist.append(parent)
        for inner in op.walk():
            self.erased.add(inner)
            self.worklist.extend(o.owner for o in inner.operands if isinstance(o.owner, Operation))
        op.detach()
        op.erase()

    def erase_stores_if_only(self, buffer: SSAValue) -> None:
        users = list(_users(buffer))
        if all(isinstance(op, StoreOp | memref.ReinterpretCastOp) for op in users):
            for op in users:
                if isinstance(op, StoreOp):
                    self.erase(op)


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
