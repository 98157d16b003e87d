"""An accelerator of the family VDLA as a target: its memories, its units and its queues, as one immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

from tilework.algebra.errors import UsageError
from tilework.targets.base import Target
from tilework.targets.vdla.units import INDEX_BITS


@dataclass(frozen=True)
class TileMemory:
    """A memory on the chip. What it holds is addressed by whole tiles: matrices of `rows` by `columns` integers.

    depth: how many tiles there are.
    """

    name: str
    rows: int
    columns: int
    element_bits: int
    depth: int

    @property
    def tile_bytes(self) -> int:
        """How long a tile is, on the chip and in DRAM."""
        return self.rows * self.columns * self.element_bits // 8


@dataclass(frozen=True)
class VdlaTarget(Target):
    """An accelerator to compile for.

    A micro-operation multiplies a tile of `batch` by `block_in` bytes by the transpose of one of `block_out` by
    `block_in`, and adds the product to an accumulator, a tile of `batch` by `block_out` words.
    inp_kib, wgt_kib, acc_kib, uop_kib: the memories of inputs, weights, accumulators and micro-operations.
    queue: how many tokens wait in each of the four queues between units. commands: how many instructions wait for each
    unit. dram_bytes: how many bytes DRAM moves a cycle. dram_latency: cycles from a request to its first byte.
    alu_cycles: how many cycles the ALU takes for a micro-operation.
    """

    batch: int
    block_in: int
    block_out: int
    inp_kib: int
    wgt_kib: int
    acc_kib: int
    uop_kib: int
    queue: int
    commands: int
    mhz: int
    dram_bytes: int
    dram_latency: int
    alu_cycles: int

    family: ClassVar[str] = "vdla"

    @classmethod
    def of(cls, target: Target) -> VdlaTarget:
        """A target that is such an accelerator; a UsageError for one that is not."""
        if not isinstance(target, cls):
            raise UsageError(f"this code is for targets of the kind 'vdla', not for '{target}'")
        return target

    @cached_property
    def memories(self) -> Mapping[str, TileMemory]:
        """The memories by name. "out" is the accumulators as a store reads them: their lowest bytes."""
        shapes = {
            "inp": (self.batch, self.block_in, 8, self.inp_kib),
            "wgt": (self.block_out, self.block_in, 8, self.wgt_kib),
            "acc": (self.batch, self.block_out, 32, self.acc_kib),
            "uop": (1, 1, 32, self.uop_kib),
        }
        found = {
            name: TileMemory(name, rows, columns, bits, kib * 8192 // (rows * columns * bits))
            for name, (rows, columns, bits, kib) in shapes.items()
        }
        return {**found, "out": TileMemory("out", self.batch, self.block_out, 8, found["acc"].depth)}

    def reachable(self, memory: str) -> int:
        """How many tiles of a memory instructions reach: numbers of tiles have so many bits in micro-operations."""
        return min(self.memories[memory].depth, 1 << INDEX_BITS[memory])

    @property
    def operations_per_second(self) -> int:
        """How many multiplications and additions the matrix unit does in a second, if it never waits."""
        return 2 * self.batch * self.block_in * self.block_out * self.mhz * 1_000_000

    @property
    def vectors_per_cycle(self) -> int:
        """The ALU starts no more than one micro-operation a cycle."""
        return 1

    @property
    def core_cache_bytes(self) -> int:
        """The size of the accumulators."""
        return self.acc_kib << 10

    @property
    def memory_speed(self) -> float:
        """How many bytes of weights come from DRAM each cycle."""
        return self.dram_bytes

    def lanes(self, element_bits: int) -> int:
        """How many elements a row of a tile of results has, whatever their width."""
        return self.block_out

    def moves_by_units(self, scope: str) -> bool:
        """Units copy to and from all memories but that of micro-operations, and compute with accumulators."""
        return scope in ("vdla.inp", "vdla.wgt", "vdla.acc")

    def __str__(self) -> str:
        return " ".join((self.kind, *(f"{option_of(name)}={getattr(self, name)}" for name in NUMBERS)))


NUMBERS = tuple(f.name for f in fields(VdlaTarget) if f.name not in {own.name for own in fields(Target)})
"""The numbers of an accelerator that its text form names, in the order in which it does."""


def option_of(number: str) -> str:
    """How the text form calls a number: `inp_kib` is "-inp-kib"."""
    return "-" + number.replace("_", "-")
