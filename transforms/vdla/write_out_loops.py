"""Loops around operations of units as these operations, one iteration behind the other."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import body_of
from tilework.dialects import arith
from tilework.dialects.isa.vdla import VdlaOp
from tilework.dialects.loop import INDEX
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.unit_op import UnitOp
from tilework.interpreters.units import UnitsRun
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class WriteOutLoops(TileworkPass):
    """Write every iteration of all loops out, with numbers for subscripts, as the stream will have them.

    scf.for %i = %c0 to %c2 step %c1 {              vdla.load %x[%c0] to %inp[%c0] ..
      vdla.load %x[%i] to %inp[%c0] ..        ->    vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0]
      vdla.gemm %acc[%c0], %inp[%c0], ..            vdla.load %x[%c1] to %inp[%c0] ..
    }                                               vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0]

    The machine has no loops but those of its instructions. Without others a token goes from any operation to any later
    one; around a loop it would go to what comes behind the loop, and the last iteration of all would be waited for.
    This is an algorithm and no pattern: the loops are run, and their operations written down.
    Requires operations without tokens, loops whose bounds are known, and buffers outside of them
    (`vdla-assign-memory`); leaves no loops.
    """

    name = "vdla-write-out-loops"
    anchor = func.FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, func.FuncOp)
        body = body_of(op)
        if not any(isinstance(inner, scf.ForOp) for inner in body.ops):
            return
        if any(isinstance(argument.type, IndexType) for argument in op.args):
            raise CompileError(f"@{op.sym_name.data} takes numbers, so that its loops cannot be written out", op)
        for inner in op.walk():
            if isinstance(inner, VdlaOp) and (inner.waits or inner.pushes):
                raise CompileError(f"{inner.name} has tokens already: loops are written out before", inner)
        end = body.last_op
        assert end is not None
        old = [inner for inner in body.ops if inner is not end and not isinstance(inner, _BUFFERS)]
        run = _WritingOut(body)
        run.block(body)
        Rewriter.insert_op(run.written, InsertPoint.before(end))
        for inner in reversed(old):
            Rewriter.erase_op(inner)


_BUFFERS = (memref.AllocaOp, memref.AllocOp)


class _WritingOut(UnitsRun):
    """A run that writes operations down; they stand in no block before it is over, since it would run them too."""

    def __init__(self, body: Block):
        super().__init__()
        self.written: list[Operation] = []
        self._body = body
        self._numbers: dict[int, SSAValue] = {}

    def allocate(self, op: memref.AllocaOp | memref.AllocOp) -> None:
        """The buffer stays where it is."""
        if op.parent is not self._body:
            raise CompileError("a buffer is allocated in a loop: give it a place first, by vdla-assign-memory", op)

    def execute(self, op: UnitOp) -> None:
        new = op.clone()
        for at, operand in enumerate(op.operands):
            if isinstance(operand.type, IndexType):
                new.operands[at] = self._number(self.values[operand])
        self.written.append(new)

    def _number(self, number: int) -> SSAValue:
        if number not in self._numbers:
            constant = arith.ConstantOp(IntegerAttr(number, INDEX))
            self.written.append(constant)
            self._numbers[number] = constant.result
        return self._numbers[number]
