"""One kernel of a softmax between two products of matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilework.analysis.functions import body_of
from tilework.analysis.parameters import is_compiled
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.dense import MatmulOp
from tilework.dialects.graph.normalization import SoftmaxOp
from tilework.dialects.shapes import dims_of
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.fuse_operators import outline

LEAST_ROWS = 8
"""Of what is multiplied: fewer do not pay for a copy of the matrix."""


@dataclass(frozen=True)
class FuseAttention(TileworkPass):
    """Put a softmax, the product that it weighs and the one that weighs with it into one graph.fused.

    %0 = graph.matmul %q, %k ...         %3 = graph.fused "matmul_mul_softmax_matmul" (%q, %k, %v) : ... {
    %1 = graph.mul %0, %scale ...        ^bb0(%a: ..., %b: ..., %c: ...):
    %2 = graph.softmax %1 ...        ->    ..
    %3 = graph.matmul %2, %v ...           graph.yield %r : ...
                                         }

    Its scores are needed a few rows at a time then, and never as a whole. Between the products and the softmax may be
    operators that follow element by element, and nothing else may read what is between. Not for a few rows only, nor
    where sizes are not known. Requires nothing.
    """

    name = "graph-fuse-attention"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        for softmax in [o for o in body_of(op).ops if isinstance(o, SoftmaxOp)]:
            members = _attention_of(softmax)
            if members:
                outline(members)


def _attention_of(softmax: SoftmaxOp) -> list[GraphOp]:
    """The operators from the product in front of the softmax to the one behind it; none where there are no such."""
    dims = dims_of(softmax.result.type)
    rows = dims[-2].constant if len(dims) > 1 else None
    if softmax.axis.value.data != len(dims) - 1 or any(not d.constant for d in dims) or (rows or 0) < LEAST_ROWS:
        return []
    before = _chain_to(softmax.input)
    behind = _only_reader(softmax.result)
    if not before or not isinstance(behind, MatmulOp) or behind.left is not softmax.result:
        return []
    return [*before, softmax, behind]


def _chain_to(value: SSAValue) -> list[GraphOp]:
    """A product, and the operators one after the other that make the value of it element by element."""
    op = value.owner
    if not isinstance(op, GraphOp) or _only_reader(value) is None:
        return []
    if isinstance(op, MatmulOp):
        return [op]
    if op.CATEGORY > Category.BROADCAST:
        return []
    for operand in op.operands:
        if operand.type == value.type and (chain := _chain_to(operand)):
            return [*chain, op]
    return []


def _only_reader(value: SSAValue) -> Operation | None:
    users = {use.operation for use in value.uses}
    return users.pop() if len(users) == 1 else None
