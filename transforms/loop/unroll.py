"""Unroll what subscripts registers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.analysis.accesses import accesses, memory_space
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.loop import ForOp, KernelOp, Kind, KindAttr, LoadOp, StoreOp
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.rewriting import constant_trip


@dataclass(frozen=True)
class Unroll(TileworkPass):
    """Mark as unrolled every loop whose index subscripts a buffer of scope "register".

    loop.for %i = 0 to 4 "i" {                            loop.for %i = 0 to 4 "i" unrolled {
      %v = loop.load %acc[%i] : memref<4xf32,      ->       ...
             "register">

    Registers have no addresses: every subscript of such a buffer must be a constant once unrolled loops are expanded.
    A loop that cannot be expanded, because it is parallel or its trip count is not a constant of at most `max_trip`, is
    refused. Unrolling itself stays an attribute for the emitter.
    Requires vectors (`loop-vectorize`); leaves register buffers with subscripts over unrolled loops only.
    """

    name = "loop-unroll"
    anchor = KernelOp

    max_trip: int = 64

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        for buffer, uses in accesses(op).items():
            if memory_space(buffer) != "register":
                continue
            for access in uses:
                for index in access.index_operands:
                    if any(index in e.variables() for e in access.exprs):
                        self._make_constant(index, access, buffer)

    def _make_constant(self, index: SSAValue, access: LoadOp | StoreOp, buffer: SSAValue) -> None:
        """Unroll the loop of an index, and those that its first value depends on."""
        name = f"register buffer %{buffer.name_hint or '?'}"
        loop = index.owner.parent_op() if isinstance(index, BlockArgument) else None
        if not isinstance(loop, ForOp):
            raise CompileError(
                f"{name} is indexed by %{index.name_hint or '?'}, which is known at run time only; "
                'keep it in scope "local"',
                access,
            )
        trip = constant_trip(loop)
        if trip is None:
            obstacle = "whose trip count is known at run time only: partition the loop around it, or pad"
        elif trip > self.max_trip:
            obstacle = (
                f"which runs {trip} times, more than {self.max_trip}: split it, or keep the buffer in a loop inside"
            )
        elif loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
            obstacle = f"which is {loop.kind.data}: keep the buffer in a loop inside"
        else:
            loop.properties["kind"] = KindAttr(Kind.UNROLLED)
            for outer in loop.index_operands:
                if outer in loop.lower.variables():
                    self._make_constant(outer, access, buffer)
            return
        raise CompileError(f"{name} is indexed in loop '{loop.axis.data}', {obstacle}", access, (("the loop", loop),))
