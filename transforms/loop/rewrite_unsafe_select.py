"""Make choices lazy where they guard loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Pure

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.predicate import Predicate, at_least, equal, less_than
from tilework.analysis.accesses import buffer_dims, root_buffer
from tilework.analysis.domains import Scope, Scopes
from tilework.analysis.intrinsics import written_buffers
from tilework.dialects import arith
from tilework.dialects.loop import INDEX, ApplyOp, IfOp, KernelOp, LoadOp, YieldOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.patterns import PatternPass

Comparisons: TypeAlias = Mapping[str, Callable[[Expr, Expr], Predicate]]

COMPARISONS: Comparisons = {
    "eq": equal,
    "slt": less_than,
    "sle": lambda a, b: at_least(b, a),
    "sgt": lambda a, b: less_than(b, a),
    "sge": at_least,
}
"""The comparisons of indices that are a condition of a loop.if."""

UNEQUAL: Comparisons = {"ne": equal}
"""The one that is the opposite of a condition."""


@dataclass(frozen=True)
class RewriteUnsafeSelect(PatternPass):
    """Choose first and load then, where a load outside its buffer is possible but for the choice.

    %v = loop.load %x[%i - 1] : memref<8xf32>         %r = loop.if [%i - 1 >= 0] -> f32 {
    %c = arith.cmpi sge, %i, %one : index        ->     %v = loop.load %x[%i - 1] : memref<8xf32>
    %r = arith.select %c, %v, %zero : f32               loop.yield %v : f32
                                                      } else {
                                                        loop.yield %zero : f32

    A select evaluates both its arms, a `loop.if` one of them. Selects whose loads stay within their buffers whatever
    the condition says are left, and so is one around choices that have become lazy. A condition that compares indices
    is a condition of the `loop.if`; any other becomes an index that is 1 or 0.
    Requires scalars (before `loop-vectorize`); leaves no load in the arm of a select that its indices do not allow.
    """

    name = "loop-rewrite-unsafe-select"
    anchor = KernelOp

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        return [ChooseBeforeLoading(Scopes())]


@dataclass(frozen=True)
class ChooseBeforeLoading(RewritePattern):
    """A choice between two values computes the one that is chosen only, if a load may be outside of its buffer else."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SelectOp, rewriter: PatternRewriter) -> None:
        if op.cond.type != i1:
            return
        scope = self.scopes.at(op)
        then, otherwise = (_unsafe_part(arm, op, scope) for arm in (op.lhs, op.rhs))
        if not then and not otherwise:
            return
        then_body, else_body = _computed_inside(then, op.lhs), _computed_inside(otherwise, op.rhs)
        if (unequal := _comparison(op.cond, UNEQUAL)) is not None:
            choice = IfOp([unequal], else_body, then_body, [op.result.type])
        else:
            choice = IfOp(_conjunction(op.cond, rewriter), then_body, else_body, [op.result.type])
        copy_location(choice, op)
        rewriter.insert(choice)
        rewriter.replace_all_uses_with(op.result, choice.outputs[0])
        for old in (op, *reversed(then), *reversed(otherwise)):
            if old.parent is not None and all(result.first_use is None for result in old.results):
                rewriter.erase(old)


# -- what must not run unasked


def _unsafe_part(arm: SSAValue, select: Operation, scope: Scope) -> list[Operation]:
    """The loads behind an arm that may reach outside of their buffers, and what is computed from them, in order."""
    behind: dict[Operation, None] = {}
    todo = [arm]
    while todo:
        op = todo.pop().owner
        if isinstance(op, Operation) and op.parent is select.parent and op not in behind and _movable(op):
            behind[op] = None
            todo += op.operands
    unsafe: dict[Operation, None] = {}
    block = select.parent_block()
    assert block is not None
    for op in block.ops:
        if op in behind and (_may_leave_its_buffer(op, scope) or any(o.owner in unsafe for o in op.operands)):
            _refuse_stores_between(op, select)
            unsafe[op] = None
    return list(unsafe)


def _movable(op: Operation) -> bool:
    return isinstance(op, LoadOp) or (op.has_trait(Pure) and not op.regions)


def _may_leave_its_buffer(op: Operation, scope: Scope) -> bool:
    if not isinstance(op, LoadOp):
        return False
    within = [
        condition
        for e, size in zip(op.exprs, buffer_dims(op.memref), strict=True)
        for condition in (at_least(e, 0), less_than(e, size))
    ]
    return not all(scope.proves(condition) for condition in within)


def _refuse_stores_between(op: Operation, select: Operation) -> None:
    """A load moves down to the choice: nothing may change what it reads."""
    if not isinstance(op, LoadOp):
        return
    between = op.next_op
    while between is not None and between is not select:
        for inner in between.walk():
            if not inner.regions and root_buffer(op.memref) in written_buffers(inner):
                name = op.memref.name_hint or "?"
                raise CompileError(
                    f"%{name} may be read outside of it unless the condition of arith.select holds, but is stored to "
                    "in between: load right before the arith.select, or use loop.if",
                    op,
                    (("the store", inner),),
                )
        between = between.next_op


def _computed_inside(part: list[Operation], arm: SSAValue) -> Region:
    """A body that computes an arm; what is not among `part` it takes from outside."""
    block, mapping = Block(), dict[SSAValue, SSAValue]()
    for op in part:
        copy = op.clone(mapping)
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
        copy_location(copy, op)
        block.add_op(copy)
    block.add_op(YieldOp([mapping.get(arm, arm)]))
    return Region(block)


# -- conditions


def _conjunction(value: SSAValue, rewriter: PatternRewriter) -> list[Predicate]:
    """Conditions that all hold where a value of type i1 is true."""
    if (compared := _comparison(value, COMPARISONS)) is not None:
        return [compared]
    if isinstance(both := value.owner, arith.AndIOp):
        return [*_conjunction(both.lhs, rewriter), *_conjunction(both.rhs, rewriter)]
    wide = rewriter.insert(arith.ExtUIOp(value, i64))
    number = rewriter.insert(arith.IndexCastOp(wide, INDEX))
    return [at_least(var(number.results[0]), 1)]


def _comparison(value: SSAValue, known: Comparisons) -> Predicate | None:
    """A comparison of indices as a condition; None for another value, or a comparison that is not `known`."""
    op = value.owner
    if not isinstance(op, arith.CmpiOp):
        return None
    a, b = _index(op.lhs), _index(op.rhs)
    condition = known.get(arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data])
    return None if a is None or b is None or condition is None else condition(a, b)


def _index(value: SSAValue) -> Expr | None:
    """A value of type index, or one that was converted to i64, as an expression; None for any other."""
    match op := value.owner:
        case arith.IndexCastOp() if value.type == i64:
            return _index(op.input)
        case arith.ConstantOp(value=IntegerAttr(value=number)) if value.type in (INDEX, i64):
            return const(number.data)
        case ApplyOp():
            return op.value
        case _:
            return var(value) if value.type == INDEX else None
