"""Give buffers on the chip their places."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.accesses import memory_space
from tilework.analysis.functions import body_of
from tilework.analysis.loop_nest import buffer_name
from tilework.analysis.program_targets import target_of
from tilework.dialects.isa.vdla import SCOPE
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.targets.vdla.target import VdlaTarget
from tilework.transforms.base import TileworkPass
from tilework.transforms.vdla.values import computing, number_of


@dataclass(frozen=True)
class AssignMemory(TileworkPass):
    """Make the buffers of each memory of the chip one, in which they lie one behind the other.

    %a = memref.alloca() : memref<8x1x16xi8, "vdla.inp">             %inp = memref.alloca() : memref<12x1x16xi8, ..>
    scf.for ..                                                  ->   scf.for ..
      %b = memref.alloca() : memref<4x1x16xi8, "vdla.inp">             vdla.load %x[%i] to %inp[8] ..
      vdla.load %x[%i] to %b[%c0] ..

    After this a subscript of a buffer on the chip is an address. Buffers share no memory, so that none of them makes
    another one wait. A function whose buffers do not fit is refused.
    This is an algorithm and no pattern: where a buffer lies, the sizes of all others say.
    Requires buffers of known size; leaves at most one for each memory, at the top.
    """

    name = "vdla-assign-memory"
    anchor = func.FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, func.FuncOp)
        by_memory: dict[str, list[memref.AllocaOp]] = {}
        for inner in op.walk():
            space = memory_space(inner.memref) if isinstance(inner, memref.AllocaOp) else None
            if isinstance(inner, memref.AllocaOp) and space is not None and space.startswith(SCOPE):
                by_memory.setdefault(space, []).append(inner)
        for space, buffers in by_memory.items():
            _join(op, space, buffers)


def _join(function: func.FuncOp, space: str, buffers: list[memref.AllocaOp]) -> None:
    """Put buffers of one memory one behind the other."""
    sizes = [memref_of(buffer.memref).get_shape()[0] for buffer in buffers]
    for buffer, size in zip(buffers, sizes, strict=True):
        if size == DYNAMIC_INDEX:
            raise CompileError(f"{buffer_name(buffer.memref)} has an unknown size: its place cannot be fixed", buffer)
    memory = VdlaTarget.of(target_of(function)).memories[space.removeprefix(SCOPE)]
    if sum(sizes) > memory.depth:
        named = (f"{buffer_name(buffer.memref)} {size}" for buffer, size in zip(buffers, sizes, strict=True))
        raise CompileError(
            f'the buffers in "{space}" take {sum(sizes)} tiles, and it has {memory.depth}: {", ".join(named)}; make '
            "the tiles of the schedule smaller",
            buffers[0],
        )
    first = memref_of(buffers[0].memref)
    whole = memref.AllocaOp.get(
        first.element_type, None, [sum(sizes), *first.get_shape()[1:]], memory_space=StringAttr(space)
    )
    whole.memref.name_hint = space.removeprefix(SCOPE)
    copy_location(whole, buffers[0])
    at = 0
    top = body_of(function).first_op
    assert top is not None
    Rewriter.insert_op(whole, InsertPoint.before(top))
    for buffer, size in zip(buffers, sizes, strict=True):
        for use in list(buffer.memref.uses):
            _move(use.operation, buffer.memref, at)
        buffer.memref.replace_all_uses_with(whole.memref)
        Rewriter.erase_op(buffer)
        at += size


def _move(op: Operation, buffer: SSAValue, by: int) -> None:
    """Add a number to the subscripts that an operation has of a buffer: each stands behind its buffer."""
    for at, operand in enumerate(op.operands):
        if operand is buffer and by:
            moved = computing(number_of(op.operands[at + 1]) + by)
            copy_location(moved, op)
            Rewriter.insert_op(moved, InsertPoint.before(op))
            op.operands[at + 1] = moved.results[0]
