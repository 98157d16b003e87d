"""Which tiles of which memory each instruction of a stream reads and writes.

That is known before a stream runs: no address depends on data other than micro-operations, which the stream brings.
It takes no longer for loops that run for ever, and no more room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tilework.runtime.devices.vdla.findings import Fault, Finding
from tilework.runtime.devices.vdla.machine import DRAM, Machine, Places
from tilework.runtime.devices.vdla.stream import Alu, Gemm, Load, Looped, Store, Stream

FAR = 1 << 40
"""A tile beyond all memories: larger numbers mean the same, and would not fit in arrays."""


@dataclass(frozen=True)
class Footprint:
    """What an instruction touches: for each memory, the tiles, each once. Nothing in it is out of range.

    micro_ops: of an instruction that computes, the numbers dst, src and wgt of each of its micro-operations.
    """

    reads: Mapping[str, Places] = field(default_factory=dict[str, Places])
    writes: Mapping[str, Places] = field(default_factory=dict[str, Places])
    micro_ops: Places | None = None


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
        table = [[min(number, FAR) for number in (op.dst, op.src, op.wgt)] for op in stream.micro_ops]
        self._table = np.array(table, np.int64).reshape(-1, 3)
        self._micro_ops = np.zeros((self._sizes["uop"], 3), np.int64)
        self.findings: list[Finding] = []

    def footprint(self, at: int) -> Footprint:
        match instruction := self._stream.instructions[at]:
            case Load():
                return self._load(at, instruction)
            case Store():
                read = self._run(at, "reads", "acc", instruction.sram, instruction.rows * instruction.columns)
                return Footprint({"acc": read}, {DRAM: self._dram(at, "writes", instruction, "out", "acc")})
            case Looped():
                return self._computation(at, instruction)
            case _:
                return Footprint()

    def _load(self, at: int, load: Load) -> Footprint:
        memory = load.memory
        written = self._run(at, "writes", memory, load.sram, load.height * load.width)
        if memory != "uop":
            return Footprint({DRAM: self._dram(at, "reads", load, memory, memory)}, {memory: written})
        self._micro_ops[written] = 0
        moved = self._fitting(load, memory)
        source, onto, size = tiles_in_dram(moved), tiles_on_chip(moved), len(self._table)
        if _end(load) > size:
            self._out_of_range(at, f"reads micro-operation {_end(load) - 1} of the table", size)
        there = (source < size) & (onto < len(self._micro_ops))
        self._micro_ops[onto[there]] = self._table[source[there]]
        return Footprint({}, {memory: written})

    def _computation(self, at: int, instruction: Looped) -> Footprint:
        used = self._run(at, "reads", "uop", instruction.first, instruction.end - instruction.first)
        ops = self._micro_ops[used]
        written = self._reached(at, "writes", "acc", ops, "dst")
        reads = {"uop": used}
        match instruction:
            case Gemm(reset=True):
                pass
            case Gemm():
                reads |= {
                    "acc": written,
                    "inp": self._reached(at, "reads", "inp", ops, "src"),
                    "wgt": self._reached(at, "reads", "wgt", ops, "wgt"),
                }
            case Alu(immediate=None):
                reads["acc"] = np.union1d(written, self._reached(at, "reads", "acc", ops, "src"))
            case _:
                reads["acc"] = written
        return Footprint(reads, {"acc": written}, ops)

    def _run(self, at: int, verb: str, memory: str, first: int, count: int) -> Places:
        """Tiles side by side."""
        size, end = self._sizes[memory], first + count
        if count and end > size:
            outside = max(first, size)
            tiles = f"tile {outside}" if outside == end - 1 else f"tiles {outside} to {end - 1}"
            self._out_of_range(at, f"{verb} {tiles} of {memory}", size)
        return np.arange(min(first, size), min(end, size))

    def _dram(self, at: int, verb: str, transfer: Load | Store, kind: str, memory: str) -> Places:
        """The pieces of DRAM that the tiles of a transfer are made of, which are of some memory's kind."""
        size, all_bytes = self._machine.target.memories[kind].tile_bytes, self._machine.dram_bytes
        if _end(transfer) * size > all_bytes:
            what = f"{verb} bytes {transfer.dram * size} to {_end(transfer) * size - 1} of DRAM"
            self._out_of_range(at, what, all_bytes)
        tiles = tiles_in_dram(self._fitting(transfer, memory))
        tiles = tiles[(tiles + 1) * size <= all_bytes]
        pieces = size // self._machine.piece
        return np.unique(tiles[:, None] * pieces + np.arange(pieces))

    def _fitting(self, transfer: Load | Store, memory: str) -> Load | Store:
        """A transfer with so few tiles that the memory may hold them; of one with more it is known to be wrong."""
        columns = min(transfer.columns, self._sizes[memory])
        rows = min(transfer.rows, self._sizes[memory] // max(columns, 1))
        sram, dram, stride = (min(number, FAR) for number in (transfer.sram, transfer.dram, transfer.stride))
        return replace(transfer, rows=rows, columns=columns, sram=sram, dram=dram, stride=stride)

    def _reached(self, at: int, verb: str, memory: str, ops: Places, name: str) -> Places:
        """The tiles that the micro-operations and loops of a computation reach."""
        instruction = self._stream.instructions[at]
        assert isinstance(instruction, Looped)
        size, loops = self._sizes[memory], (instruction.inner, instruction.outer)
        places = np.unique(ops[:, ("dst", "src", "wgt").index(name)])
        if not len(places) or not all(loop.count for loop in loops):
            return np.arange(0)
        last = int(places[-1]) + sum((loop.count - 1) * getattr(loop, name) for loop in loops)
        if last >= size:
            self._out_of_range(at, f"{verb} tile {last} of {memory}", size)
        for loop in loops:  # indices only grow, so that what is beyond the memory once remains there
            step = min(getattr(loop, name), FAR)
            offsets: Places = np.arange(min(loop.count, -(-size // step)) if step else 1) * step
            places = places[places < size]
            places = np.unique(places[:, None] + offsets)
        return places[places < size]

    def _out_of_range(self, at: int, what: str, size: int):
        message = f"{self._stream.describe(at)} {what}, which has {size}"
        self.findings.append(Finding(Fault.OUT_OF_RANGE, message, (at,)))


def _end(transfer: Load | Store) -> int:
    """The tile behind the last one that a transfer moves in DRAM; 0 where it moves none."""
    if not transfer.rows * transfer.columns:
        return 0
    return transfer.dram + (transfer.rows - 1) * transfer.stride + transfer.columns
