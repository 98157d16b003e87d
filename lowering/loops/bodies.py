"""The scalar bodies of computes as loop operations: reads, choices, reducers."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, Key, var
from tilework.algebra.predicate import Predicate
from tilework.dialects import arith, loop
from tilework.dialects.te import CallIntrinsicOp, ComputeOp, IfThenElseOp, IndexOp, ReadOp, ReduceOp, YieldOp
from tilework.dialects.te.joining import identities, joined, zero


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

    A local buffer holds a part of the tensor, from `origin`, along each dimension one element in so many `steps`; its
    dimension i is the tensor's dimension `order[i]`.
    """

    memrefs: list[SSAValue]
    origin: Sequence[Expr] = ()
    order: Sequence[int] = ()
    steps: Sequence[int] = ()

    def subscripts(self, indices: Sequence[Expr]) -> list[Expr]:
        """Where the tensor's element at `indices` is in the buffer."""
        if not self.origin:
            return list(indices)
        steps = self.steps or [1] * len(indices)
        return [(indices[i] - self.origin[i]) // steps[i] for i in self.order]


@dataclass
class Bodies:
    """Appends the scalar bodies of computes at a cursor; tensors live in `buffers`.

    A read among `guarded` is made under its conditions only, and gives zero elsewhere.
    """

    cursor: Cursor
    buffers: Mapping[SSAValue, Buffer]
    guarded: Mapping[ReadOp, Sequence[Predicate]] = field(default_factory=dict[ReadOp, Sequence[Predicate]])

    def values(self, compute: ComputeOp, axes: Mapping[Key, Expr]) -> list[SSAValue]:
        """What the body ends in, one value for every result, where the axes have these values."""
        return self._block(compute.body.block, axes, {})

    def identities(self, compute: ComputeOp) -> list[SSAValue]:
        """What a reduction starts from."""
        reduce = compute.terminator
        assert isinstance(reduce, ReduceOp)
        return [self._insert(arith.ConstantOp(number)) for number in identities(reduce)]

    def combined(self, compute: ComputeOp, axes: Mapping[Key, Expr], before: Sequence[SSAValue]) -> list[SSAValue]:
        """The values before and the body's, joined by the reducer; those before where its condition does not hold."""
        reduce = compute.terminator
        assert isinstance(reduce, ReduceOp)
        mapped: dict[SSAValue, SSAValue] = {}
        values = self._block(compute.body.block, axes, mapped)
        ops, results = joined(reduce, before, values)
        for op in ops:
            self.cursor.insert(op)
        if reduce.where is None:
            return results
        where = mapped[reduce.where]
        return [self._insert(arith.SelectOp(where, new, old)) for new, old in zip(results, before, strict=True)]

    def load(self, tensor: SSAValue, indices: Sequence[Expr]) -> SSAValue:
        """One element of a tensor."""
        buffer = self.buffers[tensor]
        return self._insert(loop.LoadOp(buffer.memrefs[0], buffer.subscripts(indices)))

    def store(self, value: SSAValue, tensor: SSAValue, indices: Sequence[Expr]) -> None:
        """Write one element of a tensor, wherever it lives."""
        buffer = self.buffers[tensor]
        for target in buffer.memrefs:
            self.cursor.insert(loop.StoreOp(value, target, buffer.subscripts(indices)))

    def copy(self, source: SSAValue, target: SSAValue, extents: Sequence[Expr], name: str) -> None:
        """Emit loops, named with numbers, that copy the first elements of a tensor along each dimension."""
        self._copy(source, target, extents, name, [])

    def _copy(
        self, source: SSAValue, target: SSAValue, extents: Sequence[Expr], name: str, indices: list[Expr]
    ) -> None:
        if len(indices) == len(extents):
            self.store(self.load(source, indices), target, indices)
            return
        for_op = loop.ForOp(0, extents[len(indices)], f"{name}.{len(indices)}")
        self.cursor.insert(for_op)
        with self.cursor.inside(for_op.body.block):
            self._copy(source, target, extents, name, [*indices, var(for_op.index)])

    def _block(self, block: Block, axes: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> list[SSAValue]:
        for op in block.ops:
            match op:
                case ReadOp():
                    mapped[op.result] = self._read(op, [e.substitute(_here(op, axes, mapped)) for e in op.exprs])
                case IndexOp():
                    mapped[op.result] = self._insert(loop.ApplyOp(op.value.substitute(_here(op, axes, mapped))))
                case IfThenElseOp():
                    mapped[op.result] = self._choose(op, axes, mapped)
                case YieldOp() | ReduceOp():
                    return [mapped[v] for v in op.values]
                case _:
                    self.cursor.insert(_in_loops(op, mapped))
        raise AssertionError("a body ends in te.yield or te.reduce")

    def _read(self, op: ReadOp, indices: Sequence[Expr]) -> SSAValue:
        if op not in self.guarded:
            return self.load(op.tensor, indices)
        then, otherwise = Block(), Block()
        with self.cursor.inside(then):
            self.cursor.insert(loop.YieldOp([self.load(op.tensor, indices)]))
        with self.cursor.inside(otherwise):
            self.cursor.insert(loop.YieldOp([self._insert(arith.ConstantOp(zero(op.result.type)))]))
        return self._insert(loop.IfOp(self.guarded[op], Region(then), Region(otherwise), [op.result.type]))

    def _choose(self, op: IfThenElseOp, axes: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> SSAValue:
        def branch(body: Block) -> Region:
            block = Block()
            with self.cursor.inside(block):
                self.cursor.insert(loop.YieldOp(self._block(body, axes, dict(mapped))))
            return Region(block)

        when = [p.substitute(_here(op, axes, mapped)) for p in op.conditions]
        then, otherwise = branch(op.then_body.block), branch(op.else_body.block)
        return self._insert(loop.IfOp(when, then, otherwise, [op.result.type]))

    def _insert(self, op: Operation) -> SSAValue:
        return self.cursor.insert(op).results[0]


def _here(
    op: ReadOp | IndexOp | IfThenElseOp, axes: Mapping[Key, Expr], mapped: Mapping[SSAValue, SSAValue]
) -> Mapping[Key, Expr]:
    """What stands for the axes and the values in the expressions of an operation."""
    if not op.index_operands:
        return axes
    return {**axes, **{v: var(mapped[v]) for v in op.index_operands}}


def _in_loops(op: Operation, mapped: dict[SSAValue, SSAValue]) -> Operation:
    """An operation of a scalar body as one of the loop level; its results are added to what is `mapped`."""
    if not isinstance(op, CallIntrinsicOp):
        return op.clone(mapped)
    call = loop.CallIntrinsicOp(op.intrinsic, [mapped.get(v, v) for v in op.arguments], op.result.type)
    call.result.name_hint = op.result.name_hint
    mapped[op.result] = call.result
    return call
