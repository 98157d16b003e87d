"""Fill buffers one iteration early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, minimum, var
from tilework.analysis.accesses import root_buffer
from tilework.analysis.intrinsics import intrinsic_buffers
from tilework.dialects.loop import INDEX, ForOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.annotations import DOUBLE_BUFFER
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import access_one_of, allocate_several
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class InjectDoubleBuffer(PatternPass):
    """Fill buffers marked `loop.double_buffer` for the next iteration before this one uses them.

                                                      %b = memref.alloca() : memref<2x4xf32>
    loop.for %i = 0 to 8 "i" {                        fill b[0] for iteration 0
      %b = memref.alloca() {loop.double_buffer}  ->   loop.for %i = 0 to 8 "i" {
      fill b for %i                                     fill b[(%i + 1) mod 2] for %i + 1, unless %i is the last
      use b                                             use b[%i mod 2]

    Requires buffers that operations right inside a serial loop fill from memory which that loop leaves alone; leaves
    none of the marks.
    """

    name = "loop-inject-double-buffer"
    anchor = KernelOp


class FillEarly(RewritePattern):
    """A loop that fills a buffer and uses it fills one half for its next iteration, and uses the other half."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        if DOUBLE_BUFFER in op.attributes:
            _DoubleBuffer(op).inject(rewriter)


class _DoubleBuffer:
    """One buffer, the loop around it, and the operations of the loop's body that fill it."""

    def __init__(self, alloca: memref.AllocaOp):
        self.alloca = alloca
        self.name = f"buffer %{alloca.memref.name_hint or '?'}"
        loop = alloca.parent_op()
        if not isinstance(loop, ForOp) or loop.kind.data is not Kind.SERIAL:
            self.refuse("is not right inside a serial loop; compute it at an axis that runs serially")
        self.loop = loop
        body = loop.body.block
        self.fill = [op for op in body.ops if any(s.memref is alloca.memref for s in _stores(op))]
        self.rest = [op for op in body.ops if op not in self.fill and op is not alloca]
        self.check()

    def refuse(self, why: str) -> NoReturn:
        raise CompileError(f"{self.name} cannot be a double buffer: it {why}", self.alloca)

    def check(self) -> None:
        """Whether filling may be done one iteration earlier."""
        if intrinsic_buffers(self.loop):
            self.refuse("is in a loop with intrinsics on buffers; run loop-tensorize behind this pass")
        if {s.memref for op in self.fill for s in _stores(op) if not _is_inside(s.memref, op)} - {self.alloca.memref}:
            self.refuse("is filled together with other memory; compute the other stage elsewhere")
        written = {root_buffer(s.memref) for op in self.rest for s in _stores(op)}
        body = self.loop.body.block
        for op in (inner for filling in self.fill for inner in filling.walk()):
            if isinstance(op, LoadOp) and root_buffer(op.memref) in written:
                self.refuse("is filled from memory that the same loop writes; compute that memory outside the loop")
            if any(self.is_local(value, body) for value in op.operands):
                self.refuse("is filled from values of the same iteration; compute them outside the loop")

    def is_local(self, value: SSAValue, body: Block) -> bool:
        """Whether a value is made in the loop's body, outside of what fills the buffer."""
        return isinstance(value.owner, Operation) and value.owner.parent is body and value is not self.alloca.memref

    def inject(self, rewriter: PatternRewriter) -> None:
        """Rewrite the loop."""
        twice = self.allocate(rewriter)
        index, lower, upper = var(self.loop.index), self.loop.lower, self.loop.upper
        first = self.filling(lower, minimum(lower + 1, upper), f"{self.loop.axis.data}.first", twice)
        following = self.filling(index + 1, minimum(index + 2, upper), f"{self.loop.axis.data}.next", twice)
        rewriter.insert(first, InsertPoint.before(self.loop))
        rewriter.insert(following, InsertPoint.before(self.fill[0]))
        for op in self.rest:
            self.use_half(op, index, twice)
        for op in (*self.fill, self.alloca):
            rewriter.erase(op)

    def allocate(self, rewriter: PatternRewriter) -> SSAValue:
        """A buffer with room for two iterations, in front of the loop."""
        return rewriter.insert(allocate_several(self.alloca, 2), InsertPoint.before(self.loop)).memref

    def filling(self, lower: Expr, upper: Expr, axis: str, twice: SSAValue) -> ForOp:
        """A loop that fills the halves of the iterations from `lower` to `upper`, at most one."""
        body = Block(arg_types=[INDEX])
        body.args[0].name_hint = self.loop.index.name_hint
        loop = ForOp(lower, upper, axis, Region(body))
        copy_location(loop, self.loop)
        mapped: dict[SSAValue, SSAValue] = {self.loop.index: body.args[0]}
        for op in self.fill:
            copy = op.clone(mapped)
            body.add_op(copy)
            self.use_half(copy, var(body.args[0]), twice)
        return loop

    def use_half(self, op: Operation, index: Expr, twice: SSAValue) -> None:
        """Let accesses to the buffer go to the half of an iteration."""
        half = (index - self.loop.lower) % 2
        for access in op.walk():
            if isinstance(access, LoadOp | StoreOp) and access.memref is self.alloca.memref:
                access_one_of(access, twice, half)


def _stores(op: Operation) -> list[StoreOp]:
    return [inner for inner in op.walk() if isinstance(inner, StoreOp)]


def _is_inside(buffer: SSAValue, op: Operation) -> bool:
    return isinstance(buffer.owner, Operation) and op.is_ancestor(buffer.owner)
