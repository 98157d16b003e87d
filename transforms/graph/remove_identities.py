"""Drop operators that change nothing, and chains of movements that one movement can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from tilework.analysis.functions import graphs_of
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.canonicalization import identity, join
from tilework.dialects.graph.movement import TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class RemoveIdentities(TileworkPass):
    """Remove dropout, casts to the same type, and movements that leave every element in place; join the others.

        %1 = graph.dropout %0 {ratio = ...}
        %2 = graph.reshape %1 {shape = [2, 6]}         ->     %3 = graph.reshape %0 {shape = [3, 4]}
        %3 = graph.reshape %2 {shape = [3, 4]}

    Additions of -0.0, products with 1 and the second of two equal relus or clips go too. Two transposes become one; one
    that moves only axes of size 1 becomes a reshape, which costs nothing.
    Requires nothing; what it makes superfluous goes too.
    """

    name = "graph-remove-identities"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if op.is_declaration:
            return
        for graph in graphs_of(op):
            _remove(graph)


def _remove(graph: Block) -> None:
    replaced: list[GraphOp] = []
    for movement in [o for o in graph.ops if isinstance(o, GraphOp)]:
        joined = join(movement)
        current = movement if joined is None else joined
        if joined is not None:
            joined.location = movement.location
            joined.results[0].name_hint = movement.results[0].name_hint
            graph.insert_op_before(joined, movement)
        value = identity(current)
        if value is None and joined is None:
            continue
        movement.results[0].replace_all_uses_with(current.results[0] if value is None else value)
        replaced += dict.fromkeys([movement, current])
    _erase_unused(replaced)


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
