"""Which tiles of which memory each instruction of a stream reads and writes, and in which order it computes with them.

That is known before a stream runs: no address depends on data other than micro-operations, which the stream brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from tilework.runtime.devices.vdla.findings import Fault, Finding
from tilework.runtime.devices.vdla.stream import Alu, Gemm, Load, Loop, Looped, Store, Stream
from tilework.targets.vdla.target import VdlaTarget

Places = np.ndarray[Any, np.dtype[np.int64]]
"""Numbers of tiles."""

DRAM = "DRAM"
"""How footprints call the memory outside the chip. They count it in pieces of `Machine.piece` bytes."""


class Steps(NamedTuple):
    """The tiles of the micro-operations of an instruction, in the order in which it does them."""

    dst: Places
    src: Places
    wgt: Places


@dataclass(frozen=True)
class Footprint:
    """What an instruction touches: for each memory, the tiles, each once. Nothing in it is out of range.

    steps: of an instruction that computes.
    """

    reads: Mapping[str, Places] = field(default_factory=dict[str, Places])
    writes: Mapping[str, Places] = field(default_factory=dict[str, Places])
    steps: Steps | None = None


class Machine(NamedTuple):
    """The memories that a stream runs with."""

    target: VdlaTarget
    dram_bytes: int

    @property
    def piece(self) -> int:
        """The largest number of bytes that tiles of all kinds in DRAM are multiples of."""
        return gcd(*(self.target.memories[name].tile_bytes for name in ("inp", "wgt", "acc", "out")))

    def sizes(self) -> dict[str, int]:
        """How many tiles each memory has, or pieces."""
        depths = {name: memory.depth for name, memory in self.target.memories.items() if name != "out"}
        return {**depths, DRAM: -(-self.dram_bytes // self.piece)}

    def told(self, memory: str, places: Places) -> str:
        """Some tiles, or pieces of DRAM, for messages."""
        first, last = int(places.min()), int(places.max())
        if memory == DRAM:
            return f"bytes {first * self.piece} to {(last + 1) * self.piece - 1} of DRAM"
        if first == last:
            return f"tile {first} of {memory}"
        return f"{'tiles' if last - first + 1 == len(places) else 'some of tiles'} {first} to {last} of {memory}"


def footprints(stream: Stream, machine: Machine) -> tuple[list[Footprint], list[Finding]]:
    """The footprints of all instructions, and findings about addresses that are out of range."""
    walk = _Walk(stream, machine)
    return [walk.footprint(at) for at in range(len(stream.instructions))], walk.findings


def tiles_in_dram(transfer: Load | Store) -> Places:
    """The tiles of DRAM that a transfer moves, in order."""
    rows = np.arange(transfer.rows)[:, None] * transfer.stride
    return (transfer.dram + rows + np.arange(transfer.columns)).ravel()


def tiles_on_chip(transfer: Load | Store) -> Places:
    """The tiles on the chip that a transfer moves, in order, without those that are filled with zeros."""
    padding = transfer.padding if isinstance(transfer, Load) else None
    above, left = (padding.above, padding.left) if padding else (0, 0)
    width = transfer.width if isinstance(transfer, Load) else transfer.columns
    rows = (np.arange(transfer.rows)[:, None] + above) * width + left
    return (transfer.sram + rows + np.arange(transfer.columns)).ravel()


class _Walk:
    """Instructions in the order of the stream, which is the order in which one unit loads and uses micro-operations."""

    def __init__(self, stream: Stream, machine: Machine):
        self._stream = stream
        self._machine = machine
        self._sizes = machine.sizes()
        table = [(op.dst, op.src, op.wgt) for op in stream.micro_ops]
        self._table = np.array(table, np.int64).reshape(-1, 3)
        self._micro_ops = np.zeros((self._sizes["uop"], 3), np.int64)
        self.findings: list[Finding] = []

    def footprint(self, at: int) -> Footprint:
        match instruction := self._stream.instructions[at]:
            case Load(memory="uop"):
                return self._micro_op_load(at, instruction)
            case Load(memory=memory):
                written = instruction.sram + np.arange(instruction.height * instruction.width)
                return Footprint(
                    {DRAM: self._dram(at, "reads", tiles_in_dram(instruction), memory)},
                    {memory: self._in_range(at, "writes", memory, written)},
                )
            case Store():
                return Footprint(
                    {"acc": self._in_range(at, "reads", "acc", tiles_on_chip(instruction))},
                    {DRAM: self._dram(at, "writes", tiles_in_dram(instruction), "out")},
                )
            case Looped():
                return self._computation(at, instruction)
            case _:
                return Footprint()

    def _micro_op_load(self, at: int, load: Load) -> Footprint:
        written = load.sram + np.arange(load.height * load.width)
        kept = self._in_range(at, "writes", "uop", written)
        self._micro_ops[kept] = 0
        source, onto = tiles_in_dram(load), tiles_on_chip(load)
        size = len(self._table)
        if len(source) and source.max() >= size:
            self._out_of_range(at, f"reads micro-operation {source.max()} of the table", f"has {size}")
        there = (source < size) & (onto < len(self._micro_ops))
        self._micro_ops[onto[there]] = self._table[source[there]]
        return Footprint({}, {"uop": kept})

    def _computation(self, at: int, instruction: Looped) -> Footprint:
        used = self._in_range(at, "reads", "uop", np.arange(instruction.first, instruction.end))
        dst, src, wgt = self._micro_ops[used].T
        steps = Steps(_nest(dst, "dst", instruction), _nest(src, "src", instruction), _nest(wgt, "wgt", instruction))
        written = self._in_range(at, "writes", "acc", steps.dst)
        reads = {"uop": used}
        match instruction:
            case Gemm(reset=True):
                pass
            case Gemm():
                reads |= {
                    "acc": written,
                    "inp": self._in_range(at, "reads", "inp", steps.src),
                    "wgt": self._in_range(at, "reads", "wgt", steps.wgt),
                }
            case Alu(immediate=None):
                reads["acc"] = np.union1d(written, self._in_range(at, "reads", "acc", steps.src))
            case _:
                reads["acc"] = written
        return Footprint(reads, {"acc": written}, steps)

    def _dram(self, at: int, verb: str, tiles: Places, memory: str) -> Places:
        """The pieces of DRAM that tiles of some memory's kind are made of."""
        size = self._machine.target.memories[memory].tile_bytes
        last = (int(tiles.max()) + 1) * size if len(tiles) else 0
        if last > self._machine.dram_bytes:
            what = f"{verb} bytes {int(tiles.min()) * size} to {last - 1} of DRAM"
            self._out_of_range(at, what, f"has {self._machine.dram_bytes}")
            tiles = tiles[(tiles + 1) * size <= self._machine.dram_bytes]
        pieces = size // self._machine.piece
        return np.unique(tiles[:, None] * pieces + np.arange(pieces))

    def _in_range(self, at: int, verb: str, memory: str, tiles: Places) -> Places:
        size = self._sizes[memory]
        if len(tiles) and tiles.max() >= size:
            outside = np.unique(tiles[tiles >= size])
            self._out_of_range(at, f"{verb} {self._machine.told(memory, outside)}", f"has {size}")
            tiles = tiles[tiles < size]
        return np.unique(tiles)

    def _out_of_range(self, at: int, what: str, there: str):
        message = f"{self._stream.told(at)} {what}, which {there}"
        self.findings.append(Finding(Fault.OUT_OF_RANGE, message, (at,)))


def _nest(starts: Places, name: str, instruction: Looped) -> Places:
    """The indices of one kind of tile, step by step: micro-operations run fastest, then the inner loop."""
    outer, inner = (_offsets(loop, name) for loop in (instruction.outer, instruction.inner))
    return (outer[:, None, None] + inner[:, None] + starts).ravel()


def _offsets(loop: Loop, name: str) -> Places:
    return np.arange(loop.count) * getattr(loop, name)
