"""Compute element by element before elements are moved, where that can join the kernel that makes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.parameters import values_from_parameters
from tilework.dialects.graph.base import Category, GraphOp, ints
from tilework.dialects.graph.broadcast import BinaryOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import UnaryOp
from tilework.dialects.graph.logic import WhereOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer

Movement: TypeAlias = ConcatOp | ReshapeOp | TransposeOp

Elementwise: TypeAlias = BinaryOp | CastOp | UnaryOp | WhereOp


@dataclass(frozen=True)
class HoistElementwise(GraphPatternPass):
    """Move what is computed element by element in front of transpose, reshape and concat.

        %0 = graph.conv %x, %w                   %0 = graph.conv %x, %w
        %1 = graph.conv %x, %v                   %1 = graph.conv %x, %v
        %2 = graph.concat %0, %1           ->    %2 = graph.sigmoid %0
        %3 = graph.sigmoid %2                    %3 = graph.sigmoid %1
                                                 %4 = graph.concat %2, %3

    Several operators move together if one result of theirs is all that is read behind them; other operands of theirs
    are parameters, which are moved back. Only where operators that sum make all that is moved, and nothing else reads
    that: what moves becomes a part of their kernels. Requires and leaves nothing in particular.
    """

    name = "graph-hoist-elementwise"

    def operations(self, op: Operation) -> Iterable[Operation]:
        return reversed(list(super().operations(op)))  # what has come in front of a movement may go on

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        return [HoistOverMovement(values_from_parameters(op))]


@dataclass(frozen=True)
class HoistOverMovement(RewritePattern):
    """f(move(x)) is move(f(x)) for what f computes element by element, and so for every part of a concatenation.

    known: the values that depend on parameters only.
    """

    known: Set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp | ReshapeOp | TransposeOp, rewriter: PatternRewriter) -> None:
        chain = _chain_behind(op, self.known) if _is_fresh(op, self.known) else []
        if not chain:
            return
        *others, last = chain
        rewriter.replace(last, [], [_moved_behind(chain, op, rewriter)])
        for done in (*reversed(others), op):
            rewriter.erase(done)


def _is_fresh(movement: Movement, known: Set[SSAValue]) -> bool:
    """Whether operators that sum make all that is moved, parameters apart, and nothing else reads it."""
    parts = [value for value in movement.operands if value not in known]
    return bool(parts) and all(map(_is_computed, parts))


def _is_computed(value: SSAValue) -> bool:
    """Whether a value comes from an operator that sums, perhaps through some that could be in one kernel with it."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        op = value.owner
        if not isinstance(op, GraphOp) or not value.has_one_use():
            continue
        if op.category in (Category.REDUCTION, Category.COMPLEX):
            return True
        if op.category <= Category.INJECTIVE:
            waiting += op.operands
    return False


def _chain_behind(movement: Movement, known: Set[SSAValue]) -> list[Elementwise]:
    """As many operators as can move in front, in order: of their results, only the last is read by others."""
    chain: list[Elementwise] = []
    made: list[SSAValue] = [movement.result]
    ends = 0
    for value in made:  # which grows meanwhile
        for op in [use.operation for use in value.uses]:
            if op in chain or not isinstance(op, Elementwise) or not _can_move(op, movement, made, known):
                continue
            chain.append(op)
            made.append(op.results[0])
            if [v for v in made if any(use.operation not in chain for use in v.uses)] == [op.results[0]]:
                ends = len(chain)
    return chain[:ends]


def _can_move(op: Elementwise, movement: Movement, made: Sequence[SSAValue], known: Set[SSAValue]) -> bool:
    """Whether all operands are there in front of the movement, or are parameters that can be."""
    dims = dims_of(movement.result.type)
    others = [value for value in op.operands if value not in made]
    return dims_of(op.results[0].type) == dims and all(v in known and _is_movable(v, movement) for v in others)


def _is_movable(parameter: SSAValue, movement: Movement) -> bool:
    own, dims = dims_of(parameter.type), dims_of(movement.result.type)
    match movement:
        case TransposeOp():
            return True
        case ConcatOp():
            return _along(movement, own) == 1 or dims[movement.axis.value.data].is_constant
        case ReshapeOp():
            return own == dims or all(d == 1 for d in own)


def _moved_behind(chain: Sequence[Elementwise], movement: Movement, rewriter: PatternRewriter) -> SSAValue:
    """What a chain makes, computed for every part of what is moved, and then moved."""
    last = chain[-1]
    made: list[dict[SSAValue, SSAValue]] = [{movement.result: part} for part in movement.operands]
    for op in chain:
        write = Writer(rewriter, op)
        for nth, values in enumerate(made):
            operands = [values.get(v) or _in_front_of(movement, v, nth, write) for v in op.operands]
            values[op.results[0]] = write.insert(type(op).of(*operands, **op.properties))
    parts = [values[last.results[0]] for values in made]
    return Writer(rewriter, last).insert(type(movement).of(*parts, **movement.properties))


def _in_front_of(movement: Movement, parameter: SSAValue, nth: int, write: Writer) -> SSAValue:
    """What stands beside part `nth` of what is moved where the parameter stands beside the whole."""
    own = dims_of(parameter.type)
    if all(d == 1 for d in own):
        return write.reshape(parameter, ())
    match movement:
        case ReshapeOp():
            return write.reshape(parameter, dims_of(movement.input.type))
        case TransposeOp():
            permutation = movement.permutation.get_values()
            full = write.reshape(parameter, (*[const(1)] * (len(permutation) - len(own)), *own))
            inverse = [permutation.index(axis) for axis in range(len(permutation))]
            return write.insert(TransposeOp.of(full, permutation=ints(inverse)))
        case ConcatOp() if _along(movement, own) == 1:
            return parameter
        case ConcatOp():
            sizes = [_along(movement, dims_of(part.type)).offset for part in movement.operands[: nth + 1]]
            bounds = {"starts": ints([sum(sizes[:nth])]), "stops": ints([sum(sizes)]), "steps": ints([1])}
            axis = len(own) - len(dims_of(movement.result.type)) + movement.axis.value.data
            return write.insert(SliceOp.of(parameter, axes=ints([axis]), **bounds))


def _along(concat: ConcatOp, dims: Sequence[Expr]) -> Expr:
    """The dimension along an axis of the result, of those that broadcast to it."""
    axis = concat.axis.value.data - len(dims_of(concat.result.type)) + len(dims)
    return dims[axis] if axis >= 0 else const(1)
