"""Copies of accumulators that nobody reads any more."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func, memref
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import arith
from tilework.dialects.isa.vdla import AluOp, ResetOp
from tilework.dialects.loop import ApplyOp
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
    """What is computed with a copy of a whole buffer is computed with the buffer, if this is its last use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AluOp, rewriter: PatternRewriter) -> None:
        reset = _reset_before(op)
        if reset is None or op.other is None or op.operation.data != "add" or op.waits or op.pushes:
            return
        copy, source = op.acc.owner, op.other.owner
        if not isinstance(copy, memref.AllocaOp) or not isinstance(source, memref.AllocaOp) or copy is source:
            return
        if copy.memref.type != source.memref.type or not _is_of_all(reset) or not _is_of_all(op):
            return
        block = op.parent
        if block is None or copy.parent is not block or source.parent is not block:
            return
        place = block.get_operation_index
        uses_of_source = [place(_ancestor(use.operation, block)) for use in source.memref.uses]
        uses_of_copy = [place(_ancestor(use.operation, block)) for use in copy.memref.uses]
        if max(uses_of_source) > place(op) or min(uses_of_copy) < place(reset):
            return
        rewriter.erase(op)
        rewriter.erase(reset)
        rewriter.replace(copy, [], [source.memref])


def _reset_before(op: AluOp) -> ResetOp | None:
    """The operation that resets the accumulators of another right before it."""
    before = op.prev_op
    while isinstance(before, ApplyOp | arith.ConstantOp):
        before = before.prev_op
    is_it = isinstance(before, ResetOp) and before.acc is op.acc and not before.waits and not before.pushes
    return before if is_it else None


def _is_of_all(op: ResetOp | AluOp) -> bool:
    """Whether an operation does the same with each tile of its buffers, once: tile by tile where there are two."""
    subscripts = [op.acc_at] if isinstance(op, ResetOp) or op.other_at is None else [op.acc_at, op.other_at]
    numbers = [number_of(subscript).constant for subscript in subscripts]
    if None in numbers or len(numbers) != op.SUBSCRIPTS:
        return False
    touched = sorted(op.steps(*(number for number in numbers if number is not None)))
    return touched == [(tile,) * op.SUBSCRIPTS for tile in range(memref_of(op.acc).get_shape()[0])]


def _ancestor(op: Operation, block: Block) -> Operation:
    """The operation of a block that another one is, or lies in."""
    while op.parent is not block:
        around = op.parent_op()
        assert around is not None
        op = around
    return op
