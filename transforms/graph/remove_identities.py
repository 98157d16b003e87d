"""Drop operators that change nothing, and chains of movements that one movement can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilework.dialects.graph.base import GraphOp, ints
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import DropoutOp
from tilework.dialects.graph.movement import BroadcastOp, ConcatOp, PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.shapes import dims_of
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class RemoveIdentities(TileworkPass):
    """Remove dropout, casts to the same type, and movements that leave every element in place; join the others.

        %1 = graph.dropout %0 {ratio = ...}
        %2 = graph.reshape %1 {shape = [2, 6]}         ->     %3 = graph.reshape %0 {shape = [3, 4]}
        %3 = graph.reshape %2 {shape = [3, 4]}

    Two transposes become one; a transpose that moves only axes of size 1 becomes a reshape, which costs nothing.
    Requires nothing; what it makes superfluous goes too.
    """

    name = "graph-remove-identities"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if op.is_declaration:
            return
        block = op.body.block
        replaced: list[GraphOp] = []
        for movement in [o for o in block.ops if isinstance(o, GraphOp)]:
            joined = join(movement)
            current = movement if joined is None else joined
            if joined is not None:
                joined.location = movement.location
                joined.results[0].name_hint = movement.results[0].name_hint
                block.insert_op_before(joined, movement)
            value = identity(current)
            if value is None and joined is None:
                continue
            movement.results[0].replace_all_uses_with(current.results[0] if value is None else value)
            replaced += dict.fromkeys([movement, current])
        _erase_unused(replaced)


def identity(op: GraphOp) -> SSAValue | None:
    """The operand that the result of `op` always equals, or None."""
    match op:
        case DropoutOp():
            return op.input
        case ReshapeOp() | CastOp() | BroadcastOp() | PadOp():
            return op.input if op.input.type == op.results[0].type else None
        case SliceOp():
            same = op.input.type == op.result.type and all(step == 1 for step in op.steps.get_values())
            return op.input if same else None
        case TransposeOp():
            return op.input if _is_sorted(op.permutation.get_values()) else None
        case ConcatOp():
            return op.inputs[0] if len(op.inputs) == 1 else None
        case _:
            return None


def join(op: GraphOp) -> GraphOp | None:
    """One operator that does what `op` and the one before it do, or what `op` does at less cost; None if there is none.

    Both operators are in use still: the caller replaces them.
    """
    match op:
        case ReshapeOp():
            before = op.input.owner
            return ReshapeOp.of(before.input, shape=op.shape) if isinstance(before, ReshapeOp) else None
        case TransposeOp():
            source, permutation = _transposed(op)
            if _moves_only_ones(source, permutation):
                return ReshapeOp.of(source, shape=DimsAttr(dims_of(op.result.type)))
            return None if source is op.input else TransposeOp.of(source, permutation=ints(permutation))
        case _:
            return None


def _transposed(op: TransposeOp) -> tuple[SSAValue, Sequence[int]]:
    """What `op` transposes and how, seen through a transpose in front of it."""
    permutation, before = op.permutation.get_values(), op.input.owner
    if not isinstance(before, TransposeOp):
        return op.input, permutation
    first = before.permutation.get_values()
    return before.input, [first[axis] for axis in permutation]


def _moves_only_ones(source: SSAValue, permutation: Sequence[int]) -> bool:
    """Whether the axes that are not of size 1 keep their order, though others move."""
    dims = dims_of(source.type)
    return not _is_sorted(permutation) and _is_sorted([axis for axis in permutation if dims[axis] != 1])


def _is_sorted(axes: Sequence[int]) -> bool:
    return list(axes) == sorted(axes)


def _erase_unused(ops: Sequence[GraphOp]) -> None:
    """Erase those of `ops`, given in program order, whose results nothing uses, and movements that only they used."""
    pending: list[Operation] = list(ops)
    while pending:
        op = pending.pop()
        if op.parent is None or any(result.uses for result in op.results):
            continue
        owners = [operand.owner for operand in op.operands]
        op.detach()
        op.erase()
        pending += [owner for owner in owners if isinstance(owner, ReshapeOp | TransposeOp)]
