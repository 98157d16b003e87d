"""Loads in the order in which they are waited for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.dialects.isa.vdla import LoadOp, VdlaOp
from tilework.targets.vdla.units import Unit
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class OrderLoads(PatternPass):
    """Move a load in front of those right before it that are waited for later.

    vdla.load %x[..] to %a[%c0] ..                     vdla.load %x[..] to %a[%c0] ..
    vdla.load %x[..] to %b[%c0] ..                     vdla.load %w[..] to %c[%c0] ..
    vdla.load %w[..] to %c[%c0] ..              ->     vdla.load %x[..] to %b[%c0] ..
    vdla.gemm %s[..], %a[%c0], %c[%c0] ..              vdla.gemm %s[..], %a[%c0], %c[%c0] ..
    vdla.gemm %s[..], %b[%c0], %c[%c0] ..              vdla.gemm %s[..], %b[%c0], %c[%c0] ..

    The unit of loads runs them in order: one that waits for the buffer of the last computation holds up all that come
    behind, and with them the first computation.
    Requires operations without tokens (before `vdla-insert-tokens`).
    """

    name = "vdla-order-loads"
    anchor = func.FuncOp


class LoadEarlier(RewritePattern):
    """Loads to different buffers may change places, since both only read DRAM."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        if not _may_move(op) or op.parent is None:
            return
        needed, place = _first_use(op), None
        before = op.prev_op
        while before is not None and not isinstance(before, scf.ForOp):
            if isinstance(before, VdlaOp):
                if not isinstance(before, LoadOp) or not _may_move(before) or before.target is op.target:
                    break
                if _first_use(before) <= needed:
                    break
                place = before
            elif before in {operand.owner for operand in op.operands}:
                break
            before = before.prev_op
        if place is None:
            return
        subscripts = [o for v in op.operands if isinstance(o := v.owner, Operation) and _is_behind(o, place)]
        for moved in (*subscripts, op):
            moved.detach()
            rewriter.insert(moved, InsertPoint.before(place))


def _may_move(op: LoadOp) -> bool:
    return op.unit is Unit.LOAD and not op.waits and not op.pushes


def _first_use(op: LoadOp) -> int:
    """The place in the block of the first operation behind a load that uses its buffer."""
    block = op.parent
    assert block is not None
    own = block.get_operation_index(op)
    users = (block.find_ancestor_op_in_block(use.operation) for use in op.target.uses)
    places = (block.get_operation_index(user) for user in users if user is not None and not isinstance(user, LoadOp))
    return min((place for place in places if place > own), default=own)


def _is_behind(op: Operation, place: Operation) -> bool:
    block = place.parent
    assert block is not None
    return op.parent is block and block.get_operation_index(op) > block.get_operation_index(place)
