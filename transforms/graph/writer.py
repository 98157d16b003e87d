"""New operators in the place of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of


@dataclass(frozen=True)
class Writer:
    """Inserts operators in front of one that a pattern rewrites, with its location."""

    rewriter: PatternRewriter
    before: Operation

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operator; its first result."""
        copy_location(op, self.before)
        self.rewriter.insert(op, InsertPoint.before(self.before))
        return op.results[0]

    def reshape(self, value: SSAValue, dims: Sequence[Expr]) -> SSAValue:
        """The value under these dimensions, by a reshape if it has others."""
        same = dims_of(value.type) == tuple(dims)
        return value if same else self.insert(ReshapeOp.of(value, shape=DimsAttr(tuple(dims))))
