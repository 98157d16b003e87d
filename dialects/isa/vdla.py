"""What the units of a VDLA do: copy tiles to the chip, multiply them, compute with the results, copy these back.

Memories of the chip are memrefs of tiles, `memref<2048x1x16xi8, "vdla.inp">`; memrefs in DRAM have tiles of the same
shape. A subscript is the number of a tile. Loads of inputs and weights, computations, and stores each have a unit of
their own, which runs them in order; between units, order is what tokens say. A token is an SSA value of a type such as
`!vdla.token<"load", "compute">`: the operation that makes it pushes it when it has run, and the one operation that
takes it waits for it. Loops around are `scf.for`, which hands tokens on from one iteration to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.loop.common import integers, memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.unit_op import Token, UnitOp
from tilework.targets.vdla.alu import combined
from tilework.targets.vdla.units import AluOperation, Queue, Unit, unit_of_load

SCOPE = "vdla."
"""How the memory spaces of the chip begin; the name of a memory follows."""

_ELEMENTS = {"inp": i8, "wgt": i8, "acc": i32}


@irdl_attr_definition
class TokenType(ParametrizedAttribute, Token):
    """A token from one unit to a neighbour: `!vdla.token<"load", "compute">`."""

    name = "vdla.token"
    source: StringAttr
    destination: StringAttr

    @property
    def queue_name(self) -> str:
        return f"{self.source.data}->{self.destination.data}"

    @property
    def queue(self) -> Queue:
        """The queue that such tokens go through."""
        return Queue(self.queue_name)

    def verify(self) -> None:
        queues = [queue.value for queue in Queue]
        if self.queue_name not in queues:
            raise VerifyException(f"there are no tokens {self.queue_name}: the queues are {', '.join(queues)}")


class VdlaOp(UnitOp):
    """What operations on units have in common: the tokens that they take and push."""

    waits = var_operand_def(TokenType)
    pushes = var_result_def(TokenType)

    @property
    def unit(self) -> Unit:
        """The unit that runs it."""
        return Unit.COMPUTE

    def verify_(self) -> None:
        _verify_queues(self, self.waits, "waits for", taken=True)
        _verify_queues(self, self.pushes, "pushes", taken=False)
        for token in (*self.waits, *self.pushes):
            if token.uses.get_length() > 1:
                raise VerifyException(f"a token is taken once, not by {token.uses.get_length()} operations")


def _verify_queues(op: VdlaOp, tokens: Sequence[SSAValue], verb: str, *, taken: bool) -> None:
    queues: list[Queue] = []
    for token in tokens:
        assert isinstance(token.type, TokenType)
        queue = token.type.queue
        if (queue.destination if taken else queue.source) is not op.unit:
            raise VerifyException(f"{op.name} runs on the unit '{op.unit.value}', which {verb} no {queue.value}")
        if queue in queues:
            raise VerifyException(f"{op.name} {verb} one token of {queue.value} at most")
        queues.append(queue)


_TOKENS = "(`wait` `(` $waits^ `:` type($waits) `)`)? attr-dict"
_PUSHES = "(`->` type($pushes)^)?"
_STEPS = "(`ops` $micro_ops^)? (`outer` $outer^)? (`inner` $inner^)?"


@irdl_op_definition
class NopOp(VdlaOp):
    """Take and push tokens, on any unit, and do nothing else: the first token for a loop is pushed so.

    `%t = vdla.nop "compute" -> !vdla.token<"compute", "load">`
    """

    name = "vdla.nop"
    on = prop_def(StringAttr)
    assembly_format = f"$on {_TOKENS} {_PUSHES}"
    traits = traits_def(MemoryWriteEffect())

    @property
    def unit(self) -> Unit:
        return Unit(self.on.data)

    def verify_(self) -> None:
        units = [unit.value for unit in Unit]
        if self.on.data not in units:
            raise VerifyException(f"there is no unit '{self.on.data}': the units are {', '.join(units)}")
        super().verify_()

    def execute(self, *operands: Any) -> None:
        """There is nothing to do."""


class TransferOp(VdlaOp):
    """What loads and stores have in common: `rows` runs of `columns` tiles, `stride` tiles apart in DRAM.

    On the chip all tiles lie side by side.
    """

    source = operand_def(MemRefType)
    source_at = operand_def(IndexType)
    target = operand_def(MemRefType)
    target_at = operand_def(IndexType)
    size = prop_def(DenseArrayBase.constr(i64))
    stride = prop_def(IntegerAttr.constr(i64))

    def verify_(self) -> None:
        size = integers(self.size)
        if len(size) != 2 or min(*size, self.stride.value.data) < 0:
            raise VerifyException("a transfer has a size of rows and columns, and a stride; none is negative")
        super().verify_()

    def _in_dram(self, start: int) -> Any:
        """The numbers of the tiles in DRAM: row, column."""
        rows, columns = integers(self.size)
        return start + np.arange(rows)[:, None] * self.stride.value.data + np.arange(columns)


@irdl_op_definition
class LoadOp(TransferOp):
    """Copy tiles from DRAM to a memory of the chip, with tiles of zeros around: rows above and below, columns beside.

    `%t = vdla.load %x[%i] to %buffer[%j] size [2, 8] stride 32 pad [1, 0, 0, 2] wait(%w : !vdla.token<"compute",
    "load">) : memref<64x1x16xi8> to memref<2048x1x16xi8, "vdla.inp"> -> !vdla.token<"load", "compute">`
    """

    name = "vdla.load"
    pad = opt_prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "$source `[` $source_at `]` `to` $target `[` $target_at `]` `size` $size `stride` $stride (`pad` $pad^)? "
        f"{_TOKENS} `:` type($source) `to` type($target) {_PUSHES}"
    )
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def unit(self) -> Unit:
        return unit_of_load(_memory_of(self.target) or "")

    def verify_(self) -> None:
        memory = _verify_on_chip(self.target, *_ELEMENTS)
        _verify_in_dram(self.source, self.target, _ELEMENTS[memory])
        pad = (0, 0, 0, 0) if self.pad is None else integers(self.pad)
        if len(pad) != 4 or min(pad) < 0:
            raise VerifyException("padding is four numbers, above, below, left and right, of which none is negative")
        super().verify_()

    def execute(self, *operands: Any) -> None:
        source, source_at, target, target_at = operands
        above, below, left, right = (0, 0, 0, 0) if self.pad is None else integers(self.pad)
        tiles = _taken(self, source, self._in_dram(source_at))
        padded = np.pad(tiles, ((above, below), (left, right), (0, 0), (0, 0))).reshape(-1, *target.shape[1:])
        written = target_at + np.arange(len(padded))
        check_bounds(self, len(target), written)
        target[written] = padded


@irdl_op_definition
class StoreOp(TransferOp):
    """Copy the lowest byte of each number of accumulators to DRAM.

    `vdla.store %acc[%i] to %y[%j] size [1, 4] stride 4 wait(%t : !vdla.token<"compute", "store">) :
    memref<2048x1x16xi32, "vdla.acc"> to memref<64x1x16xi8>`
    """

    name = "vdla.store"
    assembly_format = (
        "$source `[` $source_at `]` `to` $target `[` $target_at `]` `size` $size `stride` $stride "
        f"{_TOKENS} `:` type($source) `to` type($target) {_PUSHES}"
    )
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def unit(self) -> Unit:
        return Unit.STORE

    def verify_(self) -> None:
        _verify_on_chip(self.source, "acc")
        _verify_in_dram(self.target, self.source, i8)
        super().verify_()

    def execute(self, *operands: Any) -> None:
        source, source_at, target, target_at = operands
        written = self._in_dram(target_at).ravel()
        check_bounds(self, len(target), written)
        target[written] = _taken(self, source, source_at + np.arange(len(written))).astype(np.int8)


class StepsOp(VdlaOp):
    """What computations have in common: micro-operations, which two loops repeat.

    A micro-operation has an offset for each subscript of the operation; a loop has a number of iterations, then for
    each subscript a step. Without any there is one micro-operation, without offsets, that is done once.
    """

    SUBSCRIPTS: ClassVar[int]

    micro_ops = opt_prop_def(DenseArrayBase.constr(i64))
    outer = opt_prop_def(DenseArrayBase.constr(i64))
    inner = opt_prop_def(DenseArrayBase.constr(i64))

    def verify_(self) -> None:
        for name, loop in (("outer", self.outer), ("inner", self.inner)):
            numbers = (1,) if loop is None else integers(loop)
            if loop is not None and len(numbers) != 1 + self.SUBSCRIPTS or min(numbers) < 0:
                raise VerifyException(
                    f"the {name} loop has a number of iterations and {self.SUBSCRIPTS} steps, of which none is negative"
                )
        offsets = () if self.micro_ops is None else integers(self.micro_ops)
        if len(offsets) % self.SUBSCRIPTS or min(offsets, default=0) < 0:
            wanted = f"{self.SUBSCRIPTS} offsets, of which none is negative"
            raise VerifyException(f"each micro-operation has {wanted}; there are {len(offsets)} in all")
        super().verify_()

    def steps(self, *starts: int) -> Iterator[tuple[int, ...]]:
        """The subscripts of each step, in order: micro-operations run fastest, then the inner loop."""
        once, single = (1, *[0] * self.SUBSCRIPTS), (0,) * self.SUBSCRIPTS
        outer, inner = (once if loop is None else integers(loop) for loop in (self.outer, self.inner))
        flat = single if self.micro_ops is None else integers(self.micro_ops)
        ops = [flat[at : at + self.SUBSCRIPTS] for at in range(0, len(flat), self.SUBSCRIPTS)]
        for o in range(outer[0]):
            for i in range(inner[0]):
                for op in ops:
                    grown = zip(starts, op, outer[1:], inner[1:], strict=True)
                    yield tuple(start + offset + o * a + i * b for start, offset, a, b in grown)


@irdl_op_definition
class ResetOp(StepsOp):
    """Set accumulators to zero: the matrix unit does it, a tile a micro-operation.

    `vdla.reset %acc[%i] inner [4, 1] : memref<2048x1x16xi32, "vdla.acc">`
    """

    name = "vdla.reset"
    SUBSCRIPTS: ClassVar[int] = 1
    acc = operand_def(MemRefType)
    acc_at = operand_def(IndexType)
    assembly_format = f"$acc `[` $acc_at `]` {_STEPS} {_TOKENS} `:` type($acc) {_PUSHES}"
    traits = traits_def(MemoryWriteEffect())

    def verify_(self) -> None:
        _verify_on_chip(self.acc, "acc")
        super().verify_()

    def execute(self, *operands: Any) -> None:
        acc, acc_at = operands
        for (at,) in self.steps(acc_at):
            check_bounds(self, len(acc), at)
            acc[at] = 0


@irdl_op_definition
class GemmOp(StepsOp):
    """Multiply tiles of inputs by the transposes of tiles of weights, and add the products to accumulators.

    `vdla.gemm %acc[%i], %inp[%j], %wgt[%k] outer [4, 1, 0, 8] inner [8, 0, 1, 1] : memref<2048x1x16xi32, "vdla.acc">,
    memref<2048x1x16xi8, "vdla.inp">, memref<128x16x16xi8, "vdla.wgt">`
    """

    name = "vdla.gemm"
    SUBSCRIPTS: ClassVar[int] = 3
    acc = operand_def(MemRefType)
    acc_at = operand_def(IndexType)
    inp = operand_def(MemRefType)
    inp_at = operand_def(IndexType)
    wgt = operand_def(MemRefType)
    wgt_at = operand_def(IndexType)
    assembly_format = (
        f"$acc `[` $acc_at `]` `,` $inp `[` $inp_at `]` `,` $wgt `[` $wgt_at `]` {_STEPS} {_TOKENS} "
        f"`:` type($acc) `,` type($inp) `,` type($wgt) {_PUSHES}"
    )
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        operands = {"acc": self.acc, "inp": self.inp, "wgt": self.wgt}
        for memory, operand in operands.items():
            _verify_on_chip(operand, memory)
        (_, *acc), (_, *inp), (_, *wgt) = (memref_of(operand).get_shape() for operand in operands.values())
        if acc != [inp[0], wgt[0]] or inp[1] != wgt[1]:
            wanted = f"tiles of {inp[0]}x{inp[1]} by the transposes of {wgt[0]}x{wgt[1]}"
            raise VerifyException(f"a product of {wanted} does not fit accumulators of {acc[0]}x{acc[1]}")
        super().verify_()

    def execute(self, *operands: Any) -> None:
        acc, acc_at, inp, inp_at, wgt, wgt_at = operands
        for onto, i, j in self.steps(acc_at, inp_at, wgt_at):
            check_bounds(self, len(acc), onto)
            inputs, weights = (_taken(self, tiles, at).astype(np.int32) for tiles, at in ((inp, i), (wgt, j)))
            acc[onto] += inputs @ weights.T


@irdl_op_definition
class AluOp(StepsOp):
    """Combine each number of accumulators with one of others, or with an immediate: by "min", "max", "add", "shr" or
    "mul".

    `vdla.alu "max" %acc[%i], %acc[%j] imm 0 inner [4, 1, 0] : memref<2048x1x16xi32, "vdla.acc">, memref<2048x1x16xi32,
    "vdla.acc">`
    """

    name = "vdla.alu"
    SUBSCRIPTS: ClassVar[int] = 2
    operation = prop_def(StringAttr)
    acc = operand_def(MemRefType)
    acc_at = operand_def(IndexType)
    other = opt_operand_def(MemRefType)
    other_at = opt_operand_def(IndexType)
    immediate = opt_prop_def(IntegerAttr.constr(i64))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        f"$operation $acc `[` $acc_at `]` (`with` $other^ `[` $other_at `]`)? (`imm` $immediate^)? {_STEPS} {_TOKENS} "
        f"`:` type($acc) (`with` type($other)^)? {_PUSHES}"
    )
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        names = [operation.value for operation in AluOperation]
        if self.operation.data not in names:
            raise VerifyException(f"the ALU has no '{self.operation.data}': it has {', '.join(names)}")
        _verify_on_chip(self.acc, "acc")
        if (self.other is None) == (self.immediate is None):
            raise VerifyException("the ALU combines accumulators with others or with an immediate: one of the two")
        if self.immediate is not None and not -(1 << 15) <= self.immediate.value.data < 1 << 15:
            raise VerifyException(f"the immediate {self.immediate.value.data} does not fit in 16 bits")
        if self.other is not None:
            _verify_on_chip(self.other, "acc")
            if memref_of(self.other).get_shape()[1:] != memref_of(self.acc).get_shape()[1:]:
                raise VerifyException(f"tiles of {self.other.type} differ from those of {self.acc.type}")
        super().verify_()

    def execute(self, *operands: Any) -> None:
        acc, acc_at, other, other_at = operands if self.other is not None else (*operands, None, 0)
        immediate = None if self.immediate is None else np.full(1, self.immediate.value.data, np.int32)
        for onto, at in self.steps(acc_at, other_at):
            right = _taken(self, other, at) if immediate is None else immediate
            acc[onto] = combined(AluOperation(self.operation.data), _taken(self, acc, onto), right)


def _memory_of(value: SSAValue) -> str | None:
    """The name of the memory of the chip that a memref lies in; None for one in DRAM."""
    space = memref_of(value).memory_space
    name = space.data if isinstance(space, StringAttr) else ""
    return name.removeprefix(SCOPE) if name.startswith(SCOPE) else None


def _verify_on_chip(value: SSAValue, *memories: str) -> str:
    """The memory of a memref of tiles. Raises VerifyException where it is none of those, or holds no such tiles."""
    type_, memory = memref_of(value), _memory_of(value)
    if memory not in memories:
        wanted = " or ".join(f'"{SCOPE}{name}"' for name in memories)
        raise VerifyException(f"{type_}: expected a memref in the memory {wanted}")
    if type_.get_num_dims() != 3 or not isinstance(type_.layout, NoneAttr) or type_.element_type != _ELEMENTS[memory]:
        raise VerifyException(f"{type_}: expected tiles of {_ELEMENTS[memory]}, one behind the other: three dimensions")
    return memory


def _verify_in_dram(value: SSAValue, on_chip: SSAValue, element: Attribute) -> None:
    """Check that a memref in DRAM has tiles of the same shape as one on the chip, of some elements."""
    type_, tile = memref_of(value), memref_of(on_chip).get_shape()[1:]
    same = type_.get_num_dims() == 3 and type_.get_shape()[1:] == tile
    if not same or not isinstance(type_.layout, NoneAttr) or type_.element_type != element or _memory_of(value):
        wanted = "x".join(map(str, tile))
        raise VerifyException(f"{type_}: expected tiles in DRAM of {wanted}x{element}, one behind the other")


def check_bounds(op: VdlaOp, size: int, at: Any) -> None:
    """Raise CompileError for numbers of tiles that there are not."""
    wrong = [n for n in np.unique(at).tolist() if not 0 <= n < size]
    if wrong:
        raise CompileError(f"{op.name} out of bounds: tile {wrong[0]} of a memory that has {size}", op)


def _taken(op: VdlaOp, tiles: Any, at: Any) -> Any:
    """Some tiles of a memory, a copy."""
    check_bounds(op, len(tiles), at)
    return np.array(tiles[at])


Vdla = Dialect("vdla", [NopOp, LoadOp, ResetOp, GemmOp, AluOp, StoreOp], [TokenType])
