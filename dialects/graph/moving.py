"""Which operators move elements about and make no new numbers of them."""

from __future__ import annotations

from xdsl.ir import Operation

from tilework.dialects.graph.extend import ExtendOp
from tilework.dialects.graph.gather import GatherOp
from tilework.dialects.graph.logic import WhereOp
from tilework.dialects.graph.movement import BroadcastOp, ConcatOp, PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.scatter import REPLACE, ScatterOp
from tilework.dialects.graph.sizes import SectionOp

_MOVES = (BroadcastOp, ConcatOp, ExtendOp, GatherOp, PadOp, ReshapeOp, SectionOp, SliceOp, TransposeOp, WhereOp)


def moves(op: Operation) -> bool:
    """Whether an operator makes no new numbers: of those that scatter, only one that replaces elements."""
    return isinstance(op, _MOVES) or (isinstance(op, ScatterOp) and op.combine.data == REPLACE)
