"""Which indices the subscripts of registers depend on: registers have no addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Block, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.analysis.accesses import accesses, memory_space
from tilework.dialects.loop import ForOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.buffer_regions import BufferRegionsOp


@dataclass(frozen=True)
class RegisterIndex:
    """An index that `access` to a register depends on, in a subscript or through the bounds of its loop."""

    index: SSAValue
    buffer: SSAValue
    access: LoadOp | StoreOp | BufferRegionsOp

    @property
    def loop(self) -> ForOp | None:
        """The loop that runs the index; None for what is no loop's index."""
        loop = self.index.owner.parent_op() if isinstance(self.index.owner, Block) else None
        return loop if isinstance(loop, ForOp) else None


def register_indices(kernel: KernelOp) -> Iterator[RegisterIndex]:
    """The indices that must be constants once unrolled loops are expanded, inner ones first for every access."""
    for buffer, uses in accesses(kernel).items():
        if memory_space(buffer) == "register":
            for access in uses:
                yield from _indices_of(buffer, access, access.exprs)
    for op in kernel.body.walk():
        if isinstance(op, BufferRegionsOp):
            for part in op.buffer_regions:
                if part.form.in_register:
                    yield from _indices_of(part.memref, op, [part.position])


def constant_subscripts(uses: Iterable[LoadOp | StoreOp]) -> bool:
    """Whether the subscripts of all accesses are constants once unrolled loops are expanded."""
    loops = [index.loop for access in uses for index in _indices_of(access.memref, access, access.exprs)]
    return all(
        loop is not None and loop.kind.data is Kind.UNROLLED and loop.extent.constant is not None for loop in loops
    )


def _indices_of(
    buffer: SSAValue, access: LoadOp | StoreOp | BufferRegionsOp, subscripts: Iterable[Expr]
) -> Iterator[RegisterIndex]:
    found = {key: None for e in subscripts for key in e.variables()}
    pending = list(found)
    while pending:
        key = pending.pop(0)
        index = RegisterIndex(cast(SSAValue, key), buffer, access)
        yield index
        if index.loop is not None:
            outer = [k for k in index.loop.lower.variables() if k not in found]
            found.update(dict.fromkeys(outer))
            pending += outer
