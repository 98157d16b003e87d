"""Buffers that iterations use in turns."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects.loop.annotations import DOUBLE_BUFFER
from tilework.dialects.loop.common import memref_of
from tilework.transforms.patterns import PatternPass
from tilework.transforms.vdla.values import computing, number_of


@dataclass(frozen=True)
class DoubleBuffer(PatternPass):
    """Give a buffer that is marked `loop.double_buffer` a second half, and let iterations use the halves in turns.

    scf.for %i = .. {                                          scf.for %i = .. {
      %b = memref.alloca() {loop.double_buffer} :                %b = memref.alloca() : memref<8x1x16xi8, ..>
           memref<4x1x16xi8, "vdla.inp">                  ->
      vdla.load %x[%i] to %b[%c0] ..                             vdla.load %x[%i] to %b[(%i mod 2) * 4] ..

    Units take operations out of the stream on their own, so that the unit of loads fills one half while another unit
    still reads the other one. Which turn it is, the number of iterations of all loops around says. A buffer in no loop
    keeps its size.
    Requires operations without tokens (before `vdla-insert-tokens`); leaves none of the marks.
    """

    name = "vdla-double-buffer"
    anchor = func.FuncOp


class UseHalves(RewritePattern):
    """A buffer that each iteration fills anew is one half of a buffer of twice the size, another half each time."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        if DOUBLE_BUFFER not in op.attributes:
            return
        turn, type_ = _turn(op), memref_of(op.memref)
        count, *tile = type_.get_shape()
        halves = count if turn.is_constant else 2 * count
        whole = MemRefType(type_.element_type, [halves, *tile], type_.layout, type_.memory_space)
        new = memref.AllocaOp(operands=[[], []], result_types=[whole], properties=op.properties)
        new.memref.name_hint = op.memref.name_hint
        for use in list(op.memref.uses):
            if not turn.is_constant:
                _move(use.operation, op.memref, turn * count, rewriter)
        rewriter.replace(op, new)


def _turn(op: Operation) -> Expr:
    """Which half it is where an operation is: 0 or 1, by the number of iterations that ran before."""
    number, inside = const(0), 1
    around = op.parent_op()
    while isinstance(around, scf.ForOp):
        lower, upper, step = (number_of(bound).constant for bound in (around.lb, around.ub, around.step))
        if lower is None or upper is None or step is None:
            break
        number += (var(around.body.block.args[0]) - lower) // step * (inside % 2)
        inside *= -(-(upper - lower) // step)
        around = around.parent_op()
    return number % 2


def _move(op: Operation, buffer: SSAValue, by: Expr, rewriter: PatternRewriter) -> None:
    """Add a number to the subscripts that an operation has of a buffer."""
    for at, operand in enumerate(op.operands):
        if operand is buffer:
            moved = rewriter.insert(computing(number_of(op.operands[at + 1]) + by), InsertPoint.before(op))
            op.operands[at + 1] = moved.results[0]
    rewriter.notify_op_modified(op)
