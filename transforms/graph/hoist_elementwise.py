"""Compute element by element before elements are moved, where that can join the kernel that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, values_from_parameters
from tilework.dialects.graph.base import Category, GraphOp, ints
from tilework.dialects.graph.broadcast import BinaryOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import UnaryOp
from tilework.dialects.graph.logic import WhereOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.base import TileworkPass

Movement: TypeAlias = ConcatOp | ReshapeOp | TransposeOp

Elementwise: TypeAlias = BinaryOp | CastOp | UnaryOp | WhereOp


@dataclass(frozen=True)
class HoistElementwise(TileworkPass):
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
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        known = values_from_parameters(op)
        movements = [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, Movement)]
        for movement in reversed(movements):  # what has come in front of one may go on
            chain = _chain_behind(movement, known) if _is_fresh(movement, known) else []
            if chain:
                _hoist(chain, movement)


def _is_fresh(movement: Movement, known: set[SSAValue]) -> bool:
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


def _chain_behind(movement: Movement, known: set[SSAValue]) -> list[Elementwise]:
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


def _can_move(op: Elementwise, movement: Movement, made: Sequence[SSAValue], known: set[SSAValue]) -> bool:
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


def _hoist(chain: Sequence[Elementwise], movement: Movement) -> None:
    """Compute for every part of what is moved, and move the results."""
    last = chain[-1]
    made: list[dict[SSAValue, SSAValue]] = [{movement.result: part} for part in movement.operands]
    for op in chain:
        for nth, values in enumerate(made):
            operands = [values.get(v) or _Writer(op).in_front_of(movement, v, nth) for v in op.operands]
            values[op.results[0]] = _Writer(op).insert(type(op).of(*operands, **op.properties))
    parts = [values[last.results[0]] for values in made]
    moved = _Writer(last).insert(type(movement).of(*parts, **movement.properties))
    moved.name_hint = last.results[0].name_hint
    last.results[0].replace_all_uses_with(moved)
    for op in (*reversed(chain), movement):
        op.detach()
        op.erase()


@dataclass(frozen=True)
class _Writer:
    """Inserts operators in front of one, with its location."""

    before: Operation

    def insert(self, op: GraphOp) -> SSAValue:
        copy_location(op, self.before)
        Rewriter.insert_op(op, InsertPoint.before(self.before))
        return op.results[0]

    def in_front_of(self, movement: Movement, parameter: SSAValue, nth: int) -> SSAValue:
        """What stands beside part `nth` of what is moved where the parameter stands beside the whole."""
        own = dims_of(parameter.type)
        if all(d == 1 for d in own):
            return self.shaped(parameter, ())
        match movement:
            case ReshapeOp():
                return self.shaped(parameter, dims_of(movement.input.type))
            case TransposeOp():
                permutation = movement.permutation.get_values()
                full = self.shaped(parameter, (*[const(1)] * (len(permutation) - len(own)), *own))
                inverse = [permutation.index(axis) for axis in range(len(permutation))]
                return self.insert(TransposeOp.of(full, permutation=ints(inverse)))
            case ConcatOp() if _along(movement, own) == 1:
                return parameter
            case ConcatOp():
                sizes = [_along(movement, dims_of(part.type)).offset for part in movement.operands[: nth + 1]]
                bounds = {"starts": ints([sum(sizes[:nth])]), "stops": ints([sum(sizes)]), "steps": ints([1])}
                axis = len(own) - len(dims_of(movement.result.type)) + movement.axis.value.data
                return self.insert(SliceOp.of(parameter, axes=ints([axis]), **bounds))

    def shaped(self, value: SSAValue, dims: Sequence[Expr]) -> SSAValue:
        same = dims_of(value.type) == tuple(dims)
        return value if same else self.insert(ReshapeOp.of(value, shape=DimsAttr(tuple(dims))))


def _along(concat: ConcatOp, dims: Sequence[Expr]) -> Expr:
    """Of dimensions that broadcast to those of the result, the one along its axis."""
    axis = concat.axis.value.data - len(dims_of(concat.result.type)) + len(dims)
    return dims[axis] if axis >= 0 else const(1)
