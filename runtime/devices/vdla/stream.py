"""A program of the machine: instructions that three units take from one stream, each in order, and wait by tokens.

It is plain data, which needs no compiler. Addresses on the chip and in DRAM are in whole tiles of the memory that an
instruction names; how large these are, the target says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.targets.vdla.units import LOADED, AluOperation, Queue, Unit, unit_of_load

Queues = frozenset[Queue]
NO_QUEUES: Queues = frozenset()


@dataclass(frozen=True, kw_only=True)
class Instruction(ABC):
    """One instruction.

    pop: from each of these queues a token is taken before it begins. push: into each a token is put when it has run.
    origin: where it comes from, for messages, in one line.
    """

    pop: Queues = NO_QUEUES
    push: Queues = NO_QUEUES
    origin: str = ""

    @property
    @abstractmethod
    def unit(self) -> Unit:
        """The unit that runs it."""

    @property
    @abstractmethod
    def mnemonic(self) -> str:
        """Its name in assembly, with what belongs to the name: "load.inp"."""

    def __post_init__(self):
        """Refuse what no machine of the family can run, whatever its sizes."""
        for queue in sorted(self.pop, key=str):
            if queue.destination is not self.unit:
                raise UsageError(f"{self.mnemonic} runs on the unit '{self.unit.value}', which pops no {queue.value}")
        for queue in sorted(self.push, key=str):
            if queue.source is not self.unit:
                raise UsageError(f"{self.mnemonic} runs on the unit '{self.unit.value}', which pushes no {queue.value}")
        for name, value in _numbers(self):
            if value < 0 and name != "immediate":
                raise UsageError(f"{self.mnemonic}: {name} is {value}, but cannot be negative")
        if self.origin != " ".join(self.origin.split()):
            raise UsageError(f"{self.mnemonic}: an origin is words with single spaces between, not {self.origin!r}")


def _numbers(part: Any) -> list[tuple[str, int]]:
    """The numbers of an instruction, those of its loops and of its padding too."""
    found: list[tuple[str, int]] = []
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Loop | Padding):
            found += [(f"{field.name}.{name}", number) for name, number in _numbers(value)]
        elif isinstance(value, int) and not isinstance(value, bool):
            found.append((field.name, value))
    return found


@dataclass(frozen=True)
class Padding:
    """How many tiles of zeros a load writes around those that it reads: rows above and below, columns beside them."""

    above: int = 0
    below: int = 0
    left: int = 0
    right: int = 0


NO_PADDING = Padding()


@dataclass(frozen=True)
class Load(Instruction):
    """Copy tiles from DRAM: `rows` runs of `columns` tiles, `stride` tiles apart there, side by side on the chip.

    Of a load to "uop", `dram` counts in the stream's table of micro-operations. A load of no tiles moves tokens only.
    """

    memory: str
    sram: int = 0
    dram: int = 0
    rows: int = 0
    columns: int = 0
    stride: int = 0
    padding: Padding = NO_PADDING

    def __post_init__(self):
        if self.memory not in LOADED:
            raise UsageError(f"a load writes one of {', '.join(LOADED)}, not '{self.memory}'")
        super().__post_init__()

    @property
    def unit(self) -> Unit:
        return unit_of_load(self.memory)

    @property
    def mnemonic(self) -> str:
        return f"load.{self.memory}"

    @property
    def width(self) -> int:
        """How many tiles a row has on the chip."""
        return self.padding.left + self.columns + self.padding.right

    @property
    def height(self) -> int:
        """How many rows there are on the chip."""
        return self.padding.above + self.rows + self.padding.below


@dataclass(frozen=True)
class Store(Instruction):
    """Copy the lowest byte of each number of accumulators to DRAM: tiles side by side to `rows` runs of `columns`."""

    sram: int = 0
    dram: int = 0
    rows: int = 0
    columns: int = 0
    stride: int = 0

    @property
    def unit(self) -> Unit:
        return Unit.STORE

    @property
    def mnemonic(self) -> str:
        return "store"


@dataclass(frozen=True)
class Loop:
    """Do the micro-operations `count` times, with indices of tiles that grow by so many each time."""

    count: int = 1
    dst: int = 0
    src: int = 0
    wgt: int = 0


ONCE = Loop()


@dataclass(frozen=True)
class Looped(Instruction):
    """Do the micro-operations `first` to `end`, without the last, in two loops."""

    first: int
    end: int
    outer: Loop = ONCE
    inner: Loop = ONCE

    def __post_init__(self):
        super().__post_init__()
        if self.end < self.first:
            raise UsageError(f"{self.mnemonic}: micro-operations {self.first}:{self.end} end before they begin")

    @property
    def unit(self) -> Unit:
        return Unit.COMPUTE

    @property
    def micro_operations(self) -> int:
        """How many it does in all."""
        return self.outer.count * self.inner.count * (self.end - self.first)


@dataclass(frozen=True)
class Gemm(Looped):
    """Compute, for each micro-operation, acc[dst] += inp[src] x transpose of wgt[wgt]; or acc[dst] = 0 where it
    resets."""

    reset: bool = False

    @property
    def mnemonic(self) -> str:
        return "gemm.reset" if self.reset else "gemm"


@dataclass(frozen=True, kw_only=True)
class Alu(Looped):
    """Compute, for each micro-operation, acc[dst] = operation(acc[dst], acc[src]), or with the immediate instead of
    acc[src]."""

    operation: AluOperation
    immediate: int | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.outer.wgt or self.inner.wgt:
            raise UsageError(f"{self.mnemonic}: it reads no weights, so that its loops have no steps of 'wgt'")
        if self.immediate is not None and not -(1 << 15) <= self.immediate < 1 << 15:
            raise UsageError(f"{self.mnemonic}: the immediate {self.immediate} does not fit in 16 bits")

    @property
    def mnemonic(self) -> str:
        return f"alu.{self.operation.value}"


@dataclass(frozen=True)
class Finish(Instruction):
    """Tell the host that all has run."""

    @property
    def unit(self) -> Unit:
        return Unit.COMPUTE

    @property
    def mnemonic(self) -> str:
        return "finish"


@dataclass(frozen=True)
class MicroOp:
    """The tiles that a computation begins with: of accumulators, of what is read, and of weights."""

    dst: int
    src: int
    wgt: int = 0


@dataclass(frozen=True)
class Stream:
    """A program: its instructions, and the table in DRAM that loads to "uop" read."""

    micro_ops: tuple[MicroOp, ...]
    instructions: tuple[Instruction, ...]

    def __post_init__(self):
        finishes = [at for at, instruction in enumerate(self.instructions) if isinstance(instruction, Finish)]
        if finishes != [len(self.instructions) - 1]:
            told = f"instructions {', '.join(map(str, finishes))} of" if finishes else "none of"
            raise UsageError(
                f"a stream ends with its only finish, but {told} {len(self.instructions)} instructions finish it"
            )
        for at, op in enumerate(self.micro_ops):
            if min(op.dst, op.src, op.wgt) < 0:
                raise UsageError(f"micro-operation {at}: an index is negative")

    @cached_property
    def programs(self) -> dict[Unit, tuple[int, ...]]:
        """The numbers of the instructions that each unit runs."""
        return {
            unit: tuple(at for at, instruction in enumerate(self.instructions) if instruction.unit is unit)
            for unit in Unit
        }

    def describe(self, at: int) -> str:
        """An instruction for messages: its number, its name and where it comes from."""
        instruction = self.instructions[at]
        origin = f", from {instruction.origin}" if instruction.origin else ""
        return f"instruction {at} ({instruction.mnemonic}{origin})"
