"""Refuse registers that would need an address."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Operation

from tilework.analysis.accesses import root_buffer
from tilework.analysis.registers import RegisterIndex, register_indices
from tilework.dialects.loop import ForOp, KernelOp, Kind
from tilework.dialects.support.diagnostics import CompileError
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.rewriting import constant_trip


@dataclass(frozen=True)
class VerifyRegisters(TileworkPass):
    """Refuse buffers of scope "register" whose subscripts are no constants once unrolled loops are expanded, and tiles.

    loop.for %i = 0 to %N "i" {                                  error: register buffer %acc is indexed in loop 'i',
      loop.store %v, %acc[%i] : memref<4xf32, "register">   ->     whose trip count is known at run time only

    One subscript that is not constant throws all accumulators of a register tile to the stack, silently. Registers
    that hold tiles are named in instructions.
    This is a check and no pattern: it rewrites nothing.
    Requires unrolled loops (`loop-unroll`); changes nothing.
    """

    name = "loop-verify-registers"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        for index in register_indices(op):
            _verify(index)


def _verify(register: RegisterIndex) -> None:
    index, access, loop = register.index, register.access, register.loop
    name = f"register buffer %{root_buffer(register.buffer).name_hint or '?'}"
    if loop is None:
        what = f"%{index.name_hint or '?'}, which is known at run time only"
        raise CompileError(f'{name} is indexed by {what}; keep it in scope "local"', access)
    if (obstacle := _obstacle(loop)) is not None:
        raise CompileError(f"{name} is indexed in loop '{loop.axis.data}', {obstacle}", access, (("the loop", loop),))


def _obstacle(loop: ForOp) -> str | None:
    """What keeps the index of a loop from being a constant, and the remedy; None where nothing does."""
    trip = constant_trip(loop)
    if trip == 1:
        return None
    if trip is None:
        return "whose trip count is known at run time only: partition the loop around it, or pad"
    match loop.kind.data:
        case Kind.UNROLLED:
            return None
        case Kind.SERIAL:
            return f"which runs {trip} times and is not unrolled: split it, or keep the buffer in a loop inside"
        case kind:
            return f"which is {kind}: keep the buffer in a loop inside"
