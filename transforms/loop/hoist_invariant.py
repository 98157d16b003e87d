"""Move what is the same in every iteration out of loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Pure

from tilework.algebra.predicate import at_least
from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import Scopes
from tilework.analysis.intrinsics import written_buffers
from tilework.dialects.loop import ForOp, KernelOp, Kind, LoadOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class HoistInvariant(PatternPass):
    """Move pure operations and loads that are the same in every iteration in front of their serial or unrolled loop.

    loop.for %j = 0 to 8 "j" {                     %a = loop.load %x[%i] : memref<8xf32>
      %a = loop.load %x[%i] : memref<8xf32>   ->   %e = math.exp %a : f32
      %e = math.exp %a : f32                       loop.for %j = 0 to 8 "j" {
      loop.store %e, %y[%j] : memref<8xf32>          loop.store %e, %y[%j] : memref<8xf32>

    A load moves where the loop certainly runs and does not store to its buffer. An input and an output may be the same
    memory, but only where every element is read before it is written: reading it still earlier is as good.
    Requires nothing; leaves the same operations in outer places.
    """

    name = "loop-hoist-invariant"
    anchor = KernelOp

    def operations(self, op: Operation) -> Iterable[Operation]:
        """Inner loops first: what leaves one may leave the next."""
        assert isinstance(op, KernelOp)
        return op.body.walk(region_first=True)

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        return [MoveOutOfLoop(Scopes())]


@dataclass(frozen=True)
class MoveOutOfLoop(RewritePattern):
    """What is the same in every iteration of a loop is computed once before it."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        block = op.parent_block()
        if block is None or op.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
            return
        inside = set(op.body.block.args) | {r for inner in op.walk() for r in inner.results}
        stored = written_buffers(op)
        runs = self.scopes.at(op).proves(at_least(op.extent, 1)) is True
        for inner in list(op.body.block.ops):
            if any(operand in inside for operand in inner.operands) or not _movable(inner, stored, runs):
                continue
            inner.detach()
            block.insert_op_before(inner, op)
            inside.difference_update(inner.results)
            rewriter.notify_op_modified(inner)


def _movable(op: Operation, stored: set[SSAValue], runs: bool) -> bool:
    if isinstance(op, LoadOp):
        return runs and root_buffer(op.memref) not in stored
    return op.has_trait(Pure) and not op.regions
