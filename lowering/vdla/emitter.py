"""Where operations on units are appended, with loops around them and numbers of tiles as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr, ExprLike, const, to_expr, var
from tilework.dialects import arith
from tilework.dialects.loop import INDEX, ApplyOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.names import identifier
from tilework.lowering.vdla.tiles import Dim


class Emitter:
    """The end of a block, and the operation whose location new ones get.

    values: what stands for the indices of loops that are lowered.
    """

    def __init__(self, block: Block, place: Operation):
        self.block = block
        self.place = place
        self.values: dict[SSAValue, Expr] = {}

    def add(self, op: Operation) -> Operation:
        """Append an operation."""
        copy_location(op, self.place)
        self.block.add_op(op)
        return op

    def index(self, e: ExprLike) -> SSAValue:
        """A number as a value."""
        expr = to_expr(e).substitute(self.values)
        key = expr.as_var
        if isinstance(key, SSAValue):
            return cast(SSAValue, key)
        if expr.is_constant:
            return self.add(arith.ConstantOp(IntegerAttr(expr.offset, INDEX))).results[0]
        return self.add(ApplyOp(expr)).results[0]

    def loop(
        self, lower: ExprLike, upper: ExprLike, name: str, body: Callable[[Expr], None], *, written_out: bool
    ) -> None:
        """Append a loop, or all that it holds once for each iteration; `body` appends that, for an index."""
        first, end = to_expr(lower).constant, to_expr(upper).constant
        if written_out and first is not None and end is not None:
            for index in range(first, end):
                body(const(index))
            return
        bounds = (self.index(lower), self.index(upper), self.index(1))
        block = Block(arg_types=[INDEX])
        block.args[0].name_hint = identifier(name)
        self.add(scf.ForOp(*bounds, [], block))
        outer, self.block = self.block, block
        body(var(block.args[0]))
        self.add(scf.YieldOp())
        self.block = outer

    def nest(self, dims: Sequence[Dim], starts: Sequence[Expr], body: Callable[[Sequence[Expr]], None]) -> None:
        """Append loops that move numbers of tiles; `body` appends what is in them, for these numbers."""
        if not dims:
            body(starts)
            return
        first, *inner = dims

        def at(index: ExprLike) -> None:
            moved = [start + to_expr(index) * step for start, step in zip(starts, first.steps, strict=True)]
            self.nest(inner, moved, body)

        self.loop(0, first.trip, first.name, at, written_out=first.written_out)
