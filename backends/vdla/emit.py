"""Functions of operations on units as streams: loops are run, and what their operations do then is written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from tilework.analysis.functions import body_of
from tilework.analysis.loop_nest import buffer_name
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.isa.vdla import (
    SCOPE,
    AluOp,
    GemmOp,
    LoadOp,
    NopOp,
    ResetOp,
    StepsOp,
    StoreOp,
    TokenType,
    TransferOp,
    VdlaOp,
)
from tilework.dialects.loop.common import integers, memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import source_position
from tilework.dialects.support.unit_op import UnitOp
from tilework.interpreters.units import UnitsRun
from tilework.runtime.devices.vdla.stream import (
    NO_PADDING,
    NO_QUEUES,
    ONCE,
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Loop,
    MicroOp,
    Padding,
    Store,
    Stream,
)
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import AluOperation, Unit


def stream_of(function: func.FuncOp, target: VdlaTarget) -> Stream:
    """The stream that does what a function does.

    Arguments lie one behind the other in DRAM, as `places_in_dram` says. Raises CompileError where a buffer on the chip
    has no address yet, or the target has too few micro-operations.
    """
    run = _Writing(function, target)
    run.block(body_of(function))
    return run.stream(function)


def places_in_dram(function: func.FuncOp, target: VdlaTarget) -> tuple[list[int], int]:
    """The byte at which each argument of a function begins, and how many bytes they take: all begin with any tile."""
    align = max(memory.tile_bytes for memory in target.memories.values())
    places: list[int] = []
    end = 0
    for argument in function.args:
        if isinstance(argument.type, IndexType):
            raise CompileError(f"@{function.sym_name.data} takes numbers, and a stream is of fixed ones", function)
        places.append(end)
        type_ = memref_of(argument)
        end += -(-type_.element_count() * numpy_dtype(type_.element_type).itemsize // align) * align
    return places, end


class _Writing(UnitsRun):
    """A run that writes instructions down instead of executing operations."""

    def __init__(self, function: func.FuncOp, target: VdlaTarget):
        super().__init__()
        self.target = target
        self.instructions: list[Instruction] = []
        self.micro_ops: list[MicroOp] = []
        self._first: dict[tuple[MicroOp, ...], int] = {}
        self._in_dram: dict[SSAValue, int] = dict(zip(function.args, places_in_dram(function, target)[0], strict=True))
        self._on_chip: dict[str, memref.AllocaOp | memref.AllocOp] = {}

    def allocate(self, op: memref.AllocaOp | memref.AllocOp) -> None:
        space = str(memref_of(op.memref).memory_space).strip('"')
        if self._on_chip.setdefault(space, op) is not op:
            raise CompileError(
                f'{buffer_name(op.memref)} is one of several buffers in "{space}", which have no places yet: run '
                "vdla-assign-memory",
                op,
            )

    def execute(self, op: UnitOp) -> None:
        assert isinstance(op, VdlaOp)
        at = [self.values[value] for value in op.operands if isinstance(value.type, IndexType)]
        pop, push = (
            frozenset(value.type.queue for value in tokens if isinstance(value.type, TokenType))
            for tokens in (op.waits, op.pushes)
        )
        place = source_position(op.location)
        common: dict[str, Any] = {"pop": pop, "push": push, "origin": "" if place is None else str(place)}
        self.instructions.append(self.instruction(op, at, common))

    def instruction(self, op: VdlaOp, at: Sequence[int], common: dict[str, Any]) -> Instruction:
        """What an operation is whose subscripts have these values."""
        match op:
            case NopOp():
                memory = {Unit.LOAD: "inp", Unit.COMPUTE: "uop"}.get(op.unit)
                return Store(**common) if memory is None else Load(memory, **common)
            case LoadOp():
                sizes = self.sizes(op)
                padding = NO_PADDING if op.pad is None else Padding(*integers(op.pad))
                memory = str(memref_of(op.target).memory_space).strip('"').removeprefix(SCOPE)
                return Load(memory, at[1], self.dram(op.source, memory, at[0]), *sizes, padding, **common)
            case StoreOp():
                return Store(at[0], self.dram(op.target, "out", at[1]), *self.sizes(op), **common)
            case ResetOp():
                return Gemm(*self.looped(op, at), reset=True, **common)
            case GemmOp():
                return Gemm(*self.looped(op, at), **common)
            case _:
                assert isinstance(op, AluOp)
                looped = self.looped(op, at)
                immediate = None if op.immediate is None else op.immediate.value.data
                return Alu(*looped, operation=AluOperation(op.operation.data), immediate=immediate, **common)

    def sizes(self, op: TransferOp) -> tuple[int, int, int]:
        """Rows, columns and stride of a transfer."""
        rows, columns = integers(op.size)
        return rows, columns, op.stride.value.data

    def dram(self, buffer: SSAValue, memory: str, tile: int) -> int:
        """The number of a tile of an argument among all tiles of DRAM that are as large."""
        return self._in_dram[buffer] // self.target.memories[memory].tile_bytes + tile

    def looped(self, op: StepsOp, at: Sequence[int]) -> tuple[int, int, Loop, Loop]:
        """The micro-operations of a computation, and its loops."""
        starts = (*at, *[0] * (op.SUBSCRIPTS - len(at)))
        offsets = (0,) * op.SUBSCRIPTS if op.micro_ops is None else integers(op.micro_ops)
        places = [
            [start + offset for start, offset in zip(starts, offsets[i : i + op.SUBSCRIPTS], strict=True)]
            for i in range(0, len(offsets), op.SUBSCRIPTS)
        ]
        ops = tuple(MicroOp(*place, *[0] * (2 - len(place))) for place in places)
        outer, inner = (ONCE if loop is None else Loop(*integers(loop)) for loop in (op.outer, op.inner))
        if ops not in self._first:
            self._first[ops] = len(self.micro_ops)
            self.micro_ops += ops
        first = self._first[ops]
        return first, first + len(ops), outer, inner

    def stream(self, function: func.FuncOp) -> Stream:
        """What was written, with a load of all micro-operations in front and the end behind."""
        count, room = len(self.micro_ops), self.target.memories["uop"].depth
        if count > room:
            raise CompileError(
                f"@{function.sym_name.data} takes {count} micro-operations, and their memory has room for {room}: make "
                "loops around computations fewer, or their tiles larger",
                function,
            )
        table = [Load("uop", 0, 0, 1, count, count)] if count else []
        last = self.instructions[-1] if self.instructions else None
        pop = NO_QUEUES
        if isinstance(last, Load) and last.memory == "uop" and not last.push:
            pop = self.instructions.pop().pop  # it does nothing but to wait, which the end does as well
        return Stream(tuple(self.micro_ops), (*table, *self.instructions, Finish(pop=pop)))
