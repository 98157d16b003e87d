"""Small steps that several loop passes take: rewriting the index expressions of an operation, moving bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseArrayBase, IntAttr, MemRefType, NoneAttr, StridedLayoutAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from tilework.algebra.index_expr import Expr, var
from tilework.algebra.predicate import Predicate
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, LoadOp, StoreOp
from tilework.dialects.loop.buffer_regions import BufferRegionsOp
from tilework.dialects.support.index_attr import LoopIndexAttr, to_operands
from tilework.dialects.support.locations import copy_location

SEGMENTS = AttrSizedOperandSegments.attribute_name
"""The property that says how many operands are the subscripts' and how many are behind them."""


def set_access(
    op: LoadOp | StoreOp, indices: Sequence[Expr], *, first: Expr | None = None, count: Expr | None = None
) -> None:
    """Replace the subscripts and the lanes that an access touches, in place."""
    lanes = {name: e for name, e in (("count", count), ("first", first)) if e is not None}
    operands, exprs = to_operands([*indices, *lanes.values()])
    if isinstance(op, StoreOp):
        op.operands = [op.value, op.memref, *operands]
    else:
        rest = [] if op.otherwise is None else [op.otherwise]
        op.operands = [op.memref, *operands, *rest]
        op.properties[SEGMENTS] = DenseArrayBase.from_list(i32, [1, len(operands), len(rest)])
    for name in ("count", "first"):
        op.properties.pop(name, None)
    op.properties["indices"] = LoopIndexAttr(exprs[: len(indices)])
    op.properties |= {name: LoopIndexAttr((e,)) for name, e in zip(lanes, exprs[len(indices) :], strict=True)}


def allocate_several(alloca: memref.AllocaOp, number: int) -> memref.AllocaOp:
    """An allocation with room for a number of such buffers: one more dimension, in front of the others."""
    old = alloca.memref.type
    type_ = MemRefType(old.element_type, (number, *old.get_shape()), _several(old), old.memory_space)
    new = memref.AllocaOp(operands=[[], []], result_types=[type_], properties={"alignment": alloca.alignment})
    copy_location(new, alloca)
    new.memref.name_hint = alloca.memref.name_hint
    return new


def _several(old: MemRefType[Attribute]) -> StridedLayoutAttr | NoneAttr:
    """The layout of several such buffers one behind the other."""
    if not isinstance(old.layout, StridedLayoutAttr):
        return NoneAttr()
    strides = [s.data for s in old.layout.strides if isinstance(s, IntAttr)]
    return StridedLayoutAttr([old.get_shape()[0] * strides[0], *strides])


def access_one_of(op: LoadOp | StoreOp, several: SSAValue, which: Expr) -> None:
    """Let an access to a buffer go to one of several that have been allocated for it, in place."""
    exprs, first, count = op.exprs, op.lane_first, op.lane_count
    op.operands[op.operands.index(op.memref)] = several
    set_access(op, [which, *exprs], first=first, count=count)


def rewrite_indices(op: Operation, rewrite: Callable[[Expr], Expr]) -> bool:
    """Apply `rewrite` to every index expression that `op` itself holds, those of its body excepted.

    Says whether any is another one now.
    """
    match op:
        case LoadOp() | StoreOp():
            return _rewrite_access(op, rewrite)
        case BufferRegionsOp():
            positions = [part.position for part in op.buffer_regions]
            if (rewritten := [rewrite(e) for e in positions]) != positions:
                op.set_positions(rewritten)
                return True
        case ForOp():
            old = (op.lower, op.upper, *(p.expr for p in op.conditions))
            lower, upper, *rest = new = tuple(map(rewrite, old))
            if new != old:
                op.set_bounds(lower, upper, [Predicate(e, p.kind) for e, p in zip(rest, op.conditions, strict=True)])
                return True
        case IfOp():
            conditions = op.conditions
            rewritten = tuple(Predicate(rewrite(p.expr), p.kind) for p in conditions)
            if rewritten != conditions:
                op.set_conditions(rewritten)
                return True
        case ApplyOp():
            value = op.value
            if (rewritten := rewrite(value)) != value:
                operands, exprs = to_operands((rewritten,))
                op.operands = operands
                op.properties["expr"] = LoopIndexAttr(exprs)
                return True
        case _:
            pass
    return False


def _rewrite_access(op: LoadOp | StoreOp, rewrite: Callable[[Expr], Expr]) -> bool:
    old = (op.exprs, op.lane_first, op.lane_count)
    first, count = (None if e is None else rewrite(e) for e in old[1:])
    exprs = tuple(map(rewrite, old[0]))
    if (exprs, first, count) == old:
        return False
    set_access(op, exprs, first=first, count=count)
    return True


def substitute_index(value: SSAValue, e: Expr) -> bool:
    """Put an expression in the place of a value of type index wherever index expressions use it; whether any did."""
    users = dict.fromkeys(use.operation for use in value.uses)
    return any([rewrite_indices(user, lambda x: x.substitute({value: e})) for user in users])


def materialize_index(value: SSAValue, e: Expr) -> None:
    """Compute an index in front of each operation of another dialect that has it as an operand."""
    for use in list(value.uses):
        apply = ApplyOp(e)
        block = use.operation.parent_block()
        assert block is not None
        block.insert_op_before(apply, use.operation)
        use.operation.operands[use.index] = apply.result


def guarded(loop: ForOp, conditions: Iterable[Predicate]) -> None:
    """Put a loop into a conditional."""
    block = loop.parent_block()
    assert block is not None
    guard = IfOp(tuple(conditions), Region(Block()))
    copy_location(guard, loop)
    block.insert_op_before(guard, loop)
    loop.detach()
    guard.then_body.block.add_op(loop)


def remainder(loop: ForOp, lower: Expr) -> ForOp:
    """A copy of the loop behind it that starts at `lower`."""
    copy = loop.clone()
    block = loop.parent_block()
    assert block is not None
    block.insert_op_after(copy, loop)
    copy.set_bounds(lower, loop.upper)
    return copy


def restricted_copies(loop: ForOp, ranges: Sequence[tuple[Expr, Expr]]) -> list[ForOp]:
    """The loop over the last range and, before it, copies over the others, in order."""
    block = loop.parent_block()
    assert block is not None
    pieces = [loop.clone() for _ in ranges[1:]] + [loop]
    for piece, (lower, upper) in zip(pieces, ranges, strict=True):
        piece.set_bounds(lower, upper)
        if piece is not loop:
            block.insert_op_before(piece, loop)
    return pieces


def chunked(loop: ForOp, chunks: Expr, length: int) -> ForOp:
    """Put the loop, restricted to `length` iterations, into a serial loop over chunks of that many."""
    outer = ForOp(0, chunks, f"{loop.axis.data}.chunk")
    copy_location(outer, loop)
    block = loop.parent_block()
    assert block is not None
    block.insert_op_before(outer, loop)
    loop.detach()
    outer.body.block.add_op(loop)
    first = loop.lower + length * var(outer.index)
    loop.set_bounds(first, first + length)
    return loop


def constant_trip(loop: ForOp) -> int | None:
    """How often a loop runs, where that is a constant."""
    trip = loop.extent.constant
    return None if trip is None else max(trip, 0)
