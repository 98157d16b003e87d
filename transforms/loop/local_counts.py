"""Local buffers that vectors may access whole, so that they can live in registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.accesses import memref_type
from tilework.dialects.loop import LoadOp, StoreOp
from tilework.transforms.loop.rewriting import set_access


class TouchAllLanes(RewritePattern):
    """Accesses to the first lanes of a local buffer touch all lanes, if nobody reads what the others hold.

    That is so where nothing but vectors of one length, aligned to it, access the buffer, with one and the same count,
    which does not change while the buffer lives. Masked accesses would keep the buffer in memory.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        users = [use.operation for use in op.memref.uses]
        accesses = [user for user in users if isinstance(user, LoadOp | StoreOp)]
        if len(accesses) < len(users) or not _count_is_idle(op, accesses):
            return
        for access in accesses:
            set_access(access, access.exprs)
            rewriter.notify_op_modified(access)


def _count_is_idle(alloca: memref.AllocaOp, uses: Sequence[LoadOp | StoreOp]) -> bool:
    types = {_accessed(op).type for op in uses}
    counts = {op.lane_count for op in uses}
    if len(types) != 1 or len(counts) != 1 or any(op.first is not None for op in uses):
        return False
    [type_], [count] = types, counts
    if count is None or not isinstance(type_, VectorType):
        return False
    [lanes], [size] = type_.get_shape(), memref_type(alloca.memref.type).get_shape()
    aligned = all(op.lane_stride == 1 and (op.exprs[0] % lanes) == 0 for op in uses)
    return size % lanes == 0 and aligned and all(_is_before(key, alloca) for key in count.variables())


def _accessed(op: LoadOp | StoreOp) -> SSAValue:
    return op.value if isinstance(op, StoreOp) else op.result


def _is_before(key: object, alloca: Operation) -> bool:
    """Whether an index has one value for as long as the buffer lives: defined in a block around the allocation."""
    if not isinstance(key, SSAValue):
        return False
    defined_in = key.owner if isinstance(key.owner, Block) else key.owner.parent_block()
    block = alloca.parent_block()
    while block is not None and block is not defined_in:
        block = block.parent_block()
    return block is not None
