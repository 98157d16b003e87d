"""Loads and stores of loops that are certainly out of bounds.

Only what certainly happens is refused: where conditions on indices hold, and not under a condition on data, in a loop
whose bounds are data, or in an arm of an `arith.select`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.iterations import Clause, Iterations, opposite
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.dialects import arith
from tilework.dialects.loop.access import ApplyOp, LoadOp, StoreOp
from tilework.dialects.loop.control import ForOp, IfOp
from tilework.dialects.loop.kernel import KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.out_of_bounds import described, is_thrown_away, point_outside, shown

Sizes: TypeAlias = Callable[[SSAValue], Sequence[Expr] | None]
"""The dimensions of a buffer over values of symbols; None where they are not known."""

Ranges: TypeAlias = dict[Key, tuple[Expr, Expr]]


def refuse_accesses_outside(block: Block, sizes: Sizes, symbols: Sequence[SSAValue]) -> None:
    """Raise CompileError, about the operation, for a load or store that is out of bounds at a point it comes to."""
    _Checker(sizes, symbols).block(block, {}, [])


class _Checker:
    """Looks at the operations of a nest. `values` is what indices stand for that are computed from others."""

    def __init__(self, sizes: Sizes, symbols: Sequence[SSAValue]):
        self.sizes = sizes
        self.symbols = symbols
        self.values: dict[Key, Expr] = {}

    def block(self, block: Block, ranges: Ranges, clauses: Sequence[Clause]) -> None:
        """Check what a block holds, which runs for these indices of loops and where all clauses hold."""
        iterations = Iterations(ranges, clauses, self.symbols)
        for op in block.ops:
            match op:
                case LoadOp() | StoreOp():
                    self._access(op, iterations)
                case ForOp():
                    last = self._resolved(op.upper) - 1
                    self.block(op.body.block, {**ranges, op.index: (self._resolved(op.lower), last)}, clauses)
                case IfOp():
                    self._condition(op, ranges, clauses)
                case ApplyOp():
                    self.values[op.result] = self._resolved(op.value)
                case arith.ConstantOp(value=IntegerAttr() as number) if isinstance(number.type, IndexType):
                    self.values[op.result] = const(number.value.data)
                case _:
                    pass

    def _resolved(self, e: Expr) -> Expr:
        return e.substitute(self.values) if self.values else e

    def _condition(self, op: IfOp, ranges: Ranges, clauses: Sequence[Clause]) -> None:
        conditions = [Predicate(self._resolved(p.expr), p.kind) for p in op.conditions]
        self.block(op.then_body.block, ranges, [*clauses, *((p,) for p in conditions)])
        if op.else_body.blocks:
            fails = tuple(other for p in conditions for other in opposite(p))
            self.block(op.else_body.block, ranges, [*clauses, fails])

    def _access(self, op: LoadOp | StoreOp, iterations: Iterations) -> None:
        sizes = self.sizes(op.memref)
        if sizes is None or (isinstance(op, LoadOp) and is_thrown_away(op.result)):
            return
        subscripts = [self._resolved(e) for e in op.exprs]
        iterations, subscripts = self._of_lanes(op, iterations, subscripts)
        for dimension, (subscript, size) in enumerate(zip(subscripts, sizes, strict=True)):
            point = point_outside(subscript, size, iterations)
            if point is not None:
                text = described(subscript, point, iterations)
                raise CompileError(f"{out_of_bounds(op, dimension, shown(size))}, the subscript {text}", op)

    def _of_lanes(
        self, op: LoadOp | StoreOp, iterations: Iterations, subscripts: list[Expr]
    ) -> tuple[Iterations, list[Expr]]:
        """The subscripts of every lane of a vector that is touched."""
        accessed = op.result.type if isinstance(op, LoadOp) else op.value.type
        if not isinstance(accessed, VectorType) or op.lane_stride == 0:
            return iterations, subscripts
        lane = var(LANE)
        touched = [at_least(lane, self._resolved(e)) for e in (op.lane_first,) if e is not None]
        touched += [less_than(lane, self._resolved(e)) for e in (op.lane_count,) if e is not None]
        of_lanes = iterations.inside(LANE, const(0), const(accessed.get_shape()[0] - 1), [(p,) for p in touched])
        return of_lanes, [*subscripts[:-1], subscripts[-1] + lane * op.lane_stride]


LANE = "lane"
"""What stands for a lane of a vector in a subscript."""


# -- for messages


def out_of_bounds(op: LoadOp | StoreOp, dimension: int, size: object) -> str:
    """The first part of a message about an access that is out of bounds: where it is, and how long the dimension is."""
    what = "load from" if isinstance(op, LoadOp) else "store to"
    return f"{where(op)}: {what} {access_text(op)} out of bounds: dimension {dimension} has {size} elements"


def where(op: Operation) -> str:
    """The kernel and the loops around an operation, by name, outermost first."""
    parent = op.parent_op()
    while isinstance(parent, ForOp | IfOp):
        parent = parent.parent_op()
    return f"{_around(parent)}, {in_loops(op)}"


def in_loops(op: Operation) -> str:
    """The loops around an operation, by name, outermost first."""
    loops: list[str] = []
    parent = op.parent_op()
    while isinstance(parent, ForOp | IfOp):
        loops += [parent.axis.data] if isinstance(parent, ForOp) else []
        parent = parent.parent_op()
    return f"in {' > '.join(reversed(loops)) or 'no loop'}"


def _around(op: Operation | None) -> str:
    if isinstance(op, KernelOp):
        return f"@{op.sym_name.data}"
    stage = None if op is None else op.properties.get("stage")
    return "a kernel" if stage is None else f"extern {stage}"


def access_text(op: LoadOp | StoreOp) -> str:
    """The buffer and the subscripts as they are written."""
    operands = op.index_operands
    text = ", ".join(map(str, op.indices))
    named = re.sub(r"\bd(\d+)\b", lambda match: _name(operands[int(match[1])]), text)
    return f"{_name(op.memref)}[{named}]"


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint or '?'}"
