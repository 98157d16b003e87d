"""The scalar bodies of computes as loop operations: reads, choices, reducers."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, Key
from tilework.dialects import arith, loop
from tilework.dialects.te import ComputeOp, IfThenElseOp, ReadOp, ReduceOp, YieldOp
from tilework.lowering.te_reducers import combine, identity


class Cursor:
    """Where operations are appended, and the location that they get."""

    def __init__(self, block: Block, location: LocationAttr):
        self._at = Builder(InsertPoint.at_end(block))
        self._location = location

    def insert(self, op: Operation) -> Operation:
        """Append an operation."""
        op.location = self._location
        return self._at.insert(op)

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to that block instead."""
        outer, self._at = self._at, Builder(InsertPoint.at_end(block))
        yield
        self._at = outer

    @contextmanager
    def located(self, location: LocationAttr) -> Generator[None]:
        """Give operations that location instead."""
        outer, self._location = self._location, location
        yield
        self._location = outer


@dataclass
class Buffer:
    """Where a tensor lives. An output named twice has two memrefs.

    A local buffer holds a part of the tensor, from `origin`; its dimension i is the tensor's dimension `order[i]`.
    """

    memrefs: list[SSAValue]
    origin: Sequence[Expr] = ()
    order: Sequence[int] = ()

    def subscripts(self, indices: Sequence[Expr]) -> list[Expr]:
        """Where the tensor's element at `indices` is in the buffer."""
        return [indices[i] - self.origin[i] for i in self.order] if self.origin else list(indices)


@dataclass
class Bodies:
    """Appends the scalar bodies of computes at a cursor; tensors live in `buffers`."""

    cursor: Cursor
    buffers: Mapping[SSAValue, Buffer]

    def value(self, compute: ComputeOp, axes: Mapping[Key, Expr]) -> SSAValue:
        """What the body ends in, where the axes have these values."""
        return self._block(compute.body.block, axes, {})

    def identity(self, compute: ComputeOp) -> SSAValue:
        """What a reduction starts from."""
        reduce = compute.terminator
        assert isinstance(reduce, ReduceOp)
        return self._insert(arith.ConstantOp(identity(reduce.kind.data, reduce.value.type)))

    def combined(self, compute: ComputeOp, axes: Mapping[Key, Expr], before: SSAValue) -> SSAValue:
        """The value before and the body's, joined by the reducer."""
        reduce = compute.terminator
        assert isinstance(reduce, ReduceOp)
        return self._insert(combine(reduce.kind.data, before, self.value(compute, axes)))

    def load(self, tensor: SSAValue, indices: Sequence[Expr]) -> SSAValue:
        """One element of a tensor."""
        buffer = self.buffers[tensor]
        return self._insert(loop.LoadOp(buffer.memrefs[0], buffer.subscripts(indices)))

    def store(self, value: SSAValue, tensor: SSAValue, indices: Sequence[Expr]) -> None:
        """Write one element of a tensor, wherever it lives."""
        buffer = self.buffers[tensor]
        for target in buffer.memrefs:
            self.cursor.insert(loop.StoreOp(value, target, buffer.subscripts(indices)))

    def _block(self, block: Block, axes: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> SSAValue:
        for op in block.ops:
            match op:
                case ReadOp():
                    mapped[op.result] = self.load(op.tensor, [e.substitute(axes) for e in op.indices])
                case IfThenElseOp():
                    mapped[op.result] = self._choose(op, axes, mapped)
                case YieldOp() | ReduceOp():
                    return mapped[op.value]
                case _:
                    self.cursor.insert(op.clone(mapped))
        raise AssertionError("a body ends in te.yield or te.reduce")

    def _choose(self, op: IfThenElseOp, axes: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> SSAValue:
        def branch(body: Block) -> Region:
            block = Block()
            with self.cursor.inside(block):
                self.cursor.insert(loop.YieldOp([self._block(body, axes, dict(mapped))]))
            return Region(block)

        when = [p.substitute(axes) for p in op.when]
        then, otherwise = branch(op.then_body.block), branch(op.else_body.block)
        return self._insert(loop.IfOp(when, then, otherwise, [op.result.type]))

    def _insert(self, op: Operation) -> SSAValue:
        return self.cursor.insert(op).results[0]
