"""Give buffers on the chip their places."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.ir import Block, Operation, SSAValue
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

    After this a subscript of a buffer on the chip is an address. Buffers of two loops that follow each other lie in the
    same place, all others have places of their own, so that none makes another one wait. A function whose buffers do
    not fit is refused.
    This is an algorithm and no pattern: where a buffer lies, the sizes of all others say.
    Requires buffers of known size; leaves at most one for each memory, at the top.
    """

    name = "vdla-assign-memory"
    anchor = func.FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, func.FuncOp)
        spaces = dict.fromkeys(space for inner in op.walk() if (space := _on_chip(inner)) is not None)
        for space in spaces:
            _join(op, space, VdlaTarget.of(target_of(op)))


def _on_chip(op: Operation) -> str | None:
    """The memory of the chip that an operation allocates a buffer in."""
    space = memory_space(op.memref) if isinstance(op, memref.AllocaOp) else None
    return space if space is not None and space.startswith(SCOPE) else None


@dataclass
class _Places:
    """Where each buffer of one memory begins, and how many tiles they take together."""

    space: str
    at: dict[memref.AllocaOp, int] = field(default_factory=dict[memref.AllocaOp, int])
    end: int = 0

    def put(self, block: Block, start: int) -> None:
        """Put the buffers that a block allocates behind each other, and those of the blocks inside behind these."""
        for op in block.ops:
            if isinstance(op, memref.AllocaOp) and _on_chip(op) == self.space:
                size = memref_of(op.memref).get_shape()[0]
                if size == DYNAMIC_INDEX:
                    raise CompileError(f"{buffer_name(op.memref)} has an unknown size: its place cannot be fixed", op)
                self.at[op] = start
                start += size
        self.end = max(self.end, start)
        for op in block.ops:
            for region in op.regions:
                for inner in region.blocks:
                    self.put(inner, start)


def _join(function: func.FuncOp, space: str, target: VdlaTarget) -> None:
    """Make the buffers of one memory one."""
    body, places = body_of(function), _Places(space)
    places.put(body, 0)
    buffers = list(places.at)
    memory = target.memories[space.removeprefix(SCOPE)]
    if places.end > memory.depth:
        sizes = (f"{buffer_name(op.memref)} {memref_of(op.memref).get_shape()[0]}" for op in buffers)
        raise CompileError(
            f'the buffers in "{space}" take {places.end} tiles, and it has {memory.depth}: {", ".join(sizes)}; make '
            "the tiles of the schedule smaller",
            buffers[0],
        )
    shape = memref_of(buffers[0].memref).get_shape()[1:]
    element = memref_of(buffers[0].memref).element_type
    whole = memref.AllocaOp.get(element, None, [places.end, *shape], memory_space=StringAttr(space))
    whole.memref.name_hint = space.removeprefix(SCOPE)
    copy_location(whole, buffers[0])
    top = body.first_op
    assert top is not None
    Rewriter.insert_op(whole, InsertPoint.before(top))
    for buffer, at in places.at.items():
        for use in list(buffer.memref.uses):
            _move(use.operation, buffer.memref, at)
        buffer.memref.replace_all_uses_with(whole.memref)
        Rewriter.erase_op(buffer)


def _move(op: Operation, buffer: SSAValue, by: int) -> None:
    """Add a number to the subscripts that an operation has of a buffer: each stands behind its buffer."""
    for at, operand in enumerate(op.operands):
        if operand is buffer and by:
            moved = computing(number_of(op.operands[at + 1]) + by)
            copy_location(moved, op)
            Rewriter.insert_op(moved, InsertPoint.before(op))
            op.operands[at + 1] = moved.results[0]
