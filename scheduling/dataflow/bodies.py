"""Scalar bodies at other indices, and under conditions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, var
from tilework.algebra.predicate import Predicate
from tilework.dialects import arith
from tilework.dialects.te import ComputeOp, IfThenElseOp, ReadOp, ReduceOp, YieldOp


def copy_of(tensors: Sequence[SSAValue], name: str, axes: Sequence[tuple[str, Expr]]) -> ComputeOp:
    """A compute of that name whose elements are those of the tensors."""
    return gather_of(tensors, name, axes, [var(n) for n, _ in axes], [t.type for t in tensors])


def gather_of(
    tensors: Sequence[SSAValue],
    name: str,
    axes: Sequence[tuple[str, Expr]],
    indices: Sequence[Expr],
    types: Sequence[Attribute],
) -> ComputeOp:
    """A compute whose elements are those of the tensors at `indices` over its axes."""
    reads = [ReadOp(tensor, indices) for tensor in tensors]
    return ComputeOp(name, axes, [], types, Region(Block([*reads, YieldOp([r.result for r in reads])])))


# -- conditions


def guard_reads(body: Region, when: Sequence[Predicate]) -> None:
    """Read only where the conditions hold, elsewhere take zero; but for elements that are read all the same."""
    if not when:
        return
    for read in [op for op in body.walk() if isinstance(op, ReadOp)]:
        if not _is_read_anyway(read, when):
            _guard_read(read, when)


def _is_read_anyway(read: ReadOp, when: Sequence[Predicate]) -> bool:
    """Whether none of the conditions' indices decides which element is read, nor whether it is.

    Where there is an iteration at all, there is one in which the conditions hold.
    """
    keys = {key for e in read.exprs for key in e.variables()}
    parent = read.parent_op()
    while isinstance(parent, IfThenElseOp):
        keys |= {key for p in parent.conditions for key in p.expr.variables()}
        parent = parent.parent_op()
    asked = {key for p in when for key in p.expr.variables()}
    return all(isinstance(key, str) for key in keys) and keys.isdisjoint(asked)


def guard_reduction(body: Region, when: Sequence[Predicate]) -> None:
    """Read, and let elements take part in the reduction, only where the conditions hold."""
    guard_reads(body, when)
    last = body.block.last_op
    assert isinstance(last, ReduceOp)
    if when:
        _leave_out(last, when)


def _guard_read(read: ReadOp, when: Sequence[Predicate]) -> None:
    block = read.parent_block()
    assert block is not None
    type_ = read.result.type
    inside, zero = ReadOp(read.tensor, read.exprs), arith.ConstantOp(_number(0, type_))
    choice = IfThenElseOp(when, type_, _yielding(inside), _yielding(zero))
    for op in (inside, choice):
        op.location = read.location
    block.insert_op_before(choice, read)
    choice.result.name_hint = read.result.name_hint
    read.result.replace_all_uses_with(choice.result)
    read.detach()
    read.erase()


def _leave_out(reduce: ReduceOp, when: Sequence[Predicate]) -> None:
    block = reduce.parent_block()
    assert block is not None
    before = reduce.where
    if before is not None and (others := _conditions_of(before)) is not None:
        before, when = None, [*others, *when]
    true, false = (arith.ConstantOp(IntegerAttr(v, i1)) for v in (1, 0))
    holds = IfThenElseOp(when, i1, _yielding(true), _yielding(false))
    block.insert_op_before(holds, reduce)
    where: SSAValue = holds.result
    if before is not None:
        both = arith.AndIOp(before, where)
        block.insert_op_before(both, reduce)
        where = both.result
    replacement = ReduceOp(reducer_of(reduce), reduce.values, where)
    replacement.location = reduce.location
    block.insert_op_before(replacement, reduce)
    mask = reduce.where
    reduce.detach()
    reduce.erase()
    if mask is not None and not mask.uses and isinstance(mask.owner, Operation):
        Rewriter.erase_op(mask.owner)


def _conditions_of(where: SSAValue) -> Sequence[Predicate] | None:
    """The conditions that a truth value says hold; None for one that comes from elsewhere."""
    op = where.owner
    if not isinstance(op, IfThenElseOp):
        return None
    ends = [region.block.last_op for region in op.regions]
    values = [end.operands[0].owner for end in ends if end is not None]
    numbers = [v.value.value.data for v in values if isinstance(v, arith.ConstantOp) and isa(v.value, IntegerAttr)]
    return op.conditions if list(map(bool, numbers)) == [True, False] else None


def _yielding(op: Operation) -> Region:
    return Region(Block([op, YieldOp([op.results[0]])]))


def reducer_of(reduce: ReduceOp) -> str | tuple[Sequence[IntegerAttr[IntegerType] | FloatAttr[AnyFloat]], Region]:
    """The reducer, for another reduction by the same."""
    return reduce.kind.data if reduce.kind is not None else (reduce.numbers, reduce.combiner.clone())


def _number(value: int, type_: Attribute) -> IntegerAttr[IntegerType] | FloatAttr[AnyFloat]:
    if isa(type_, IntegerType):
        return IntegerAttr(value, type_)
    assert isa(type_, AnyFloat)
    return FloatAttr(float(value), type_)
