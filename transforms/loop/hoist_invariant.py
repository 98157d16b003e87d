"""Move what is the same in every iteration out of loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from tilework.algebra.predicate import at_least
from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import Scope, kernel_scope, scope_of_block
from tilework.analysis.tiles import written_buffers
from tilework.dialects.loop import ForOp, KernelOp, Kind, LoadOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class HoistInvariant(TileworkPass):
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

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if not op.is_declaration:
            _hoist_from(op.body.block, kernel_scope(op))


def _hoist_from(block: Block, scope: Scope) -> None:
    """Hoist in all loops of a block, inner ones first."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                _hoist_from(inner, scope_of_block(inner, scope))
        if isinstance(op, ForOp) and op.kind.data in (Kind.SERIAL, Kind.UNROLLED):
            _hoist(op, scope)


def _hoist(loop: ForOp, scope: Scope) -> None:
    block = loop.parent_block()
    assert block is not None
    inside = set(loop.body.block.args) | {r for op in loop.walk() for r in op.results}
    stored = written_buffers(loop)
    runs = scope.proves(at_least(loop.extent, 1)) is True
    for op in list(loop.body.block.ops):
        if any(operand in inside for operand in op.operands) or not _movable(op, stored, runs):
            continue
        op.detach()
        block.insert_op_before(op, loop)
        inside.difference_update(op.results)


def _movable(op: Operation, stored: set[SSAValue], runs: bool) -> bool:
    if isinstance(op, LoadOp):
        return runs and root_buffer(op.memref) not in stored
    return op.has_trait(Pure) and not op.regions
