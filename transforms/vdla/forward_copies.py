"""Copies of accumulators that nobody reads any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.isa.vdla import AluOp, ResetOp, StepsOp, VdlaOp
from tilework.dialects.loop.common import memref_of
from tilework.transforms.patterns import PatternPass
from tilework.transforms.vdla.values import number_of


@dataclass(frozen=True)
class ForwardCopies(PatternPass):
    """Compute in the accumulators themselves, where a copy of them is changed and they are not read any more.

    vdla.reset %b[%c0] inner [8, 1]                              vdla.alu "shr" %a[%c0] imm 4 inner [8, 1, 0]
    vdla.alu "add" %b[%c0] with %a[%c0] inner [8, 1, 1]     ->   vdla.store %a[%c0] to ..
    vdla.alu "shr" %b[%c0] imm 4 inner [8, 1, 0]
    vdla.store %b[%c0] to ..

    The ALU changes accumulators in place, so that a stage with a buffer of its own begins with a copy.
    Requires copies without loops around (`vdla-fold-loops`), and operations without tokens.
    """

    name = "vdla-forward-copies"
    anchor = func.FuncOp


class ForwardCopy(RewritePattern):
    """What is computed with a copy of a whole buffer is computed with the buffer, if it is not used behind the copy."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        block = op.parent
        if block is None:
            return
        users = _users(op.memref, block)
        copying = list(takewhile(lambda user: _is_copying(user, op.memref), users))
        source = next((user.other for user in copying if isinstance(user, AluOp)), None)
        others = (at for at, user in enumerate(copying) if isinstance(user, AluOp) and user.other is not source)
        copying = copying[: next(others, len(copying))]  # behind a copy, what is added to it
        if source is None or not _are_whole_copy(copying, op.memref):
            return
        if not isinstance(source.owner, memref.AllocaOp) or source.owner.parent is not block:
            return
        if source.type != op.memref.type or any(isinstance(user, VdlaOp) and _has_tokens(user) for user in copying):
            return
        place = block.get_operation_index
        first = min(place(user) for user in copying if isinstance(user, AluOp))
        if any(place(user) > first and user not in copying for user in _users(source, block)):
            return
        for user in reversed(copying):
            rewriter.erase(user)
        rewriter.replace(op, [], [source])


def _users(buffer: SSAValue, block: Block) -> list[Operation]:
    """The operations of a block that use a buffer, or hold one that does, in order."""
    found = {block.find_ancestor_op_in_block(use.operation) for use in buffer.uses}
    return sorted((op for op in found if op is not None), key=block.get_operation_index)


def _is_copying(op: Operation, copy: SSAValue) -> bool:
    """Whether an operation resets tiles of a buffer, or adds those of another one to them."""
    if isinstance(op, AluOp):
        return op.operation.data == "add" and op.acc is copy and op.other is not None and op.other is not copy
    return isinstance(op, ResetOp)


def _are_whole_copy(ops: Sequence[Operation], copy: SSAValue) -> bool:
    """Whether operations set each tile of a buffer to zero, then add to it the tile of that number, once."""
    cleared: set[int] = set()
    copied: set[int] = set()
    for op in ops:
        subscripts = [value for value in op.operands if isinstance(value.type, IndexType)]
        starts = [number for value in subscripts if (number := number_of(value).constant) is not None]
        if not isinstance(op, StepsOp) or len(starts) != op.SUBSCRIPTS:
            return False
        steps = list(op.steps(*starts))
        tiles = {step[0] for step in steps}
        is_each_once = len(tiles) == len(steps) and all(len(set(step)) == 1 for step in steps)
        if not is_each_once or tiles & copied or (isinstance(op, AluOp) and not tiles <= cleared):
            return False
        (cleared if isinstance(op, ResetOp) else copied).update(tiles)
    return copied == set(range(memref_of(copy).get_shape()[0]))


def _has_tokens(op: VdlaOp) -> bool:
    return bool(op.waits) or bool(op.pushes)
