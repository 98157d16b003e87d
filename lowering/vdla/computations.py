"""Nests of loops that compute with accumulators, element by element: each is a sequence of operations of the ALU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.analysis.loop_nest import LoopNest, NoNest
from tilework.dialects import arith
from tilework.dialects.isa import vdla
from tilework.dialects.loop import ApplyOp, LoadOp
from tilework.lowering.vdla.buffers import Buffers
from tilework.lowering.vdla.emitter import Emitter
from tilework.lowering.vdla.tiles import tile_nest
from tilework.targets.vdla.target import TileMemory
from tilework.targets.vdla.units import AluOperation

_OPERATIONS: dict[type[Operation], AluOperation] = {
    arith.MaxSIOp: AluOperation.MAX,
    arith.MinSIOp: AluOperation.MIN,
    arith.AddiOp: AluOperation.ADD,
    arith.MuliOp: AluOperation.MUL,
}
"""The operations of the machine that commute."""


@dataclass(frozen=True)
class _Step:
    """One operation of the ALU on every tile: with an accumulator that is loaded, or with an immediate.

    operation: None for a step that sets accumulators to zero.
    """

    operation: AluOperation | None
    other: LoadOp | None = None
    immediate: int = 0


def emit_computation(
    nest: LoopNest, known: Mapping[SSAValue, Expr], memory: TileMemory, buffers: Buffers, emitter: Emitter
) -> None:
    """Append what computes what a nest stores into accumulators. Raises NoNest, with the reason, where nothing does.

    known: what the indices of loops around are, as far as numbers depend on them.
    All loops run for one step before the next one. Elements are independent of each other: accumulators that are
    written are read at no other subscript.
    """
    steps = list(_Sequence(nest, known, buffers).value(nest.store.value))
    stored = nest.steps(nest.store)
    elements = memory.rows * memory.columns
    acc = buffers.on_chip(nest.store.memref)
    for step in steps:
        others = [] if step.other is None else [nest.steps(step.other)]
        tiles = tile_nest(nest, (stored, *others), elements)
        other = None if step.other is None else buffers.on_chip(step.other.memref)

        def compute(at: Sequence[Expr], step: _Step = step, other: SSAValue | None = other) -> None:
            emitter.add(_operation(step, acc, other, [emitter.index(e) for e in at]))

        emitter.nest(tiles.dims, tiles.starts, compute)


def _operation(step: _Step, acc: SSAValue, other: SSAValue | None, at: Sequence[SSAValue]) -> Operation:
    if step.operation is None:
        return vdla.ResetOp.create(operands=[acc, *at])
    operands = [acc, at[0]], [] if other is None else [other], [*at[1:]]
    return vdla.AluOp(
        operands=[acc, at[0], operands[1], operands[2], []],
        properties={
            "operation": StringAttr(step.operation.value),
            "immediate": None if other is not None else IntegerAttr(step.immediate, i64),
        },
        result_types=[[]],
    )


class _Sequence:
    """The steps that leave a value in the accumulators that a nest stores to."""

    def __init__(self, nest: LoopNest, known: Mapping[SSAValue, Expr], buffers: Buffers):
        self.nest = nest
        self.known = known
        self.buffers = buffers

    def value(self, value: SSAValue) -> Iterator[_Step]:
        """The steps for one value. Raises NoNest for what the ALU does not compute."""
        op, number = value.owner, self.number(value)
        if number is not None:
            yield _Step(None)
            if number:
                yield self.with_immediate(AluOperation.ADD, number)
        elif isinstance(op, LoadOp):
            if not self.is_stored(op):
                self.check(op)
                yield _Step(None)
                yield _Step(AluOperation.ADD, op)
        elif isinstance(op, Operation) and type(op) in _OPERATIONS:
            yield from self.joined(_OPERATIONS[type(op)], *op.operands)
        elif isinstance(op, arith.SubiOp) and (number := self.number(op.rhs)) is not None:
            yield from self.value(op.lhs)
            yield self.with_immediate(AluOperation.ADD, -number)
        elif isinstance(op, arith.ShRSIOp | arith.ShLIOp) and (number := self.number(op.rhs)) is not None:
            yield from self.value(op.lhs)
            yield self.with_immediate(AluOperation.SHR, number if isinstance(op, arith.ShRSIOp) else -number)
        else:
            what = op.name if isinstance(op, Operation) else "an argument"
            raise NoNest(
                f"{self.nest.text_of(self.nest.store)} is computed by {what}: the ALU adds, multiplies, shifts by a "
                "constant, and takes the greater or the lesser one"
            )

    def joined(self, operation: AluOperation, one: SSAValue, other: SSAValue) -> Iterator[_Step]:
        """The steps for an operation that commutes: the operand that takes more than a load comes first."""
        if self.is_simpler(one, other):
            one, other = other, one
        if isinstance(other.owner, LoadOp) and self.is_stored(other.owner):
            one, other = other, one
        number, loaded = self.number(other), other.owner
        if number is not None:
            yield from self.value(one)
            yield self.with_immediate(operation, number)
            return
        if not isinstance(loaded, LoadOp) or self.is_stored(loaded):
            raise NoNest(
                f"{self.nest.text_of(self.nest.store)} joins two values that are both computed first, and there is one "
                "accumulator: store one of them before"
            )
        self.check(loaded)
        yield from self.value(one)
        yield _Step(operation, loaded)

    def is_simpler(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether a value is rather joined to another one than the other way round.

        Of two loads the one comes first that moves as the store does: the accumulators may be the same.
        """
        ranks: list[int] = []
        for value in (one, other):
            op, stored = value.owner, self.nest.steps(self.nest.store)
            if self.number(value) is not None:
                ranks.append(0)
            elif isinstance(op, LoadOp):
                ranks.append(2 if self.nest.steps(op).steps == stored.steps else 1)
            else:
                ranks.append(3)
        return ranks[0] < ranks[1]

    def with_immediate(self, operation: AluOperation, number: int) -> _Step:
        """A step with an immediate. Raises NoNest for one that has more bits than the ALU takes."""
        if not -(1 << 15) <= number < 1 << 15:
            raise NoNest(f"the constant {number} does not fit into the 16 bits of an immediate")
        return _Step(operation, None, number)

    def number(self, value: SSAValue) -> int | None:
        """The number that a value is, if it is known: a constant, or one that indices of loops around say."""
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            return op.value.value.data
        index = op.input.owner if isinstance(op, arith.IndexCastOp) else None
        return index.value.substitute(self.known).constant if isinstance(index, ApplyOp) else None

    def is_stored(self, load: LoadOp) -> bool:
        """Whether a load is of the element that the nest stores."""
        store = self.nest.store
        return (load.memref, load.exprs) == (store.memref, store.exprs)

    def check(self, load: LoadOp) -> None:
        """Refuse what is no accumulator, or one that the nest may have written already."""
        memory = self.buffers.memory_of(load.memref)
        if memory is None or memory.name != "acc":
            raise NoNest(f"{self.nest.text_of(load)} is no accumulator: the ALU reads nothing else")
        if load.memref is self.nest.store.memref:
            raise NoNest(f"{self.nest.text_of(load)} may be written before it is read, in the same accumulators")
