"""What each instruction computes, in numpy: the memories of the chip, and DRAM as an array of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tilework.runtime.devices.vdla.footprint import Footprint, tiles_in_dram, tiles_on_chip
from tilework.runtime.devices.vdla.machine import Places
from tilework.runtime.devices.vdla.stream import Alu, Gemm, Instruction, Load, Looped, Store
from tilework.targets.vdla.alu import combined
from tilework.targets.vdla.target import TileMemory, VdlaTarget

Tiles = np.ndarray[Any, np.dtype[Any]]
"""Tiles of one memory: number, row, column."""
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

CHUNK = 4096
"""So many steps of a computation are done at a time: all of them need not fit in memory."""
_TYPES = {8: np.dtype(np.int8), 32: np.dtype(np.int32)}


class Steps(NamedTuple):
    """The tiles of some steps of a computation, in the order in which it does them."""

    dst: Places
    src: Places
    wgt: Places


def steps_of(instruction: Looped, micro_ops: Places) -> Iterator[Steps]:
    """All steps of a computation, some at a time: micro-operations run fastest, then the inner loop."""
    outer, inner, count = instruction.outer, instruction.inner, len(micro_ops)
    total = instruction.micro_operations
    for first in range(0, total, CHUNK):
        at = np.arange(first, min(first + CHUNK, total))
        o, i, op = at // (inner.count * count), at // count % inner.count, micro_ops[at % count]
        yield Steps(
            op[:, 0] + o * outer.dst + i * inner.dst,
            op[:, 1] + o * outer.src + i * inner.src,
            op[:, 2] + o * outer.wgt + i * inner.wgt,
        )


class Chip:
    """The memories of a machine while it runs. dram: what loads read and stores write, in place."""

    def __init__(self, target: VdlaTarget, dram: Bytes):
        self._target = target
        self._dram = dram
        self._tiles = {name: _zeros(target.memories[name]) for name in ("inp", "wgt", "acc")}

    def run(self, instruction: Instruction, footprint: Footprint):
        """Run one instruction, all of whose addresses are in range."""
        match instruction:
            case Load(memory="uop"):
                pass  # footprints have read the micro-operations
            case Load():
                self._load(instruction)
            case Store():
                self._store(instruction)
            case Looped():
                assert footprint.micro_ops is not None
                for steps in steps_of(instruction, footprint.micro_ops):
                    self._compute(instruction, steps)
            case _:
                pass

    def _compute(self, instruction: Looped, steps: Steps):
        match instruction:
            case Alu():
                self._calculate(instruction, steps)
            case Gemm(reset=True):
                self._tiles["acc"][steps.dst] = 0
            case _:
                self._multiply(steps)

    def _load(self, load: Load):
        tiles = self._tiles[load.memory]
        tiles[load.sram : load.sram + load.height * load.width] = 0
        tiles[tiles_on_chip(load)] = self._in_dram(load.memory)[tiles_in_dram(load)]

    def _store(self, store: Store):
        narrow = self._tiles["acc"][tiles_on_chip(store)].astype(np.int8)  # keeps the lowest byte
        self._in_dram("out")[tiles_in_dram(store)] = narrow

    def _in_dram(self, name: str) -> Tiles:
        """DRAM as tiles of the kind of a memory; a rest too short for one is left out."""
        memory = self._target.memories[name]
        count = len(self._dram) // memory.tile_bytes
        tiles = self._dram[: count * memory.tile_bytes].view(_TYPES[memory.element_bits])
        return tiles.reshape(count, memory.rows, memory.columns)

    def _multiply(self, steps: Steps):
        inputs = self._tiles["inp"][steps.src].astype(np.int32)
        weights = self._tiles["wgt"][steps.wgt].astype(np.int32)
        _add_up(self._tiles["acc"], steps.dst, np.matmul(inputs, weights.transpose(0, 2, 1)))

    def _calculate(self, alu: Alu, steps: Steps):
        tiles = self._tiles["acc"]
        if alu.immediate is None and _depends(steps):
            for dst, src in zip(steps.dst.tolist(), steps.src.tolist(), strict=True):
                tiles[dst] = combined(alu.operation, tiles[dst], tiles[src])
        elif alu.immediate is None:
            tiles[steps.dst] = combined(alu.operation, tiles[steps.dst], tiles[steps.src])
        else:
            immediate = np.full(1, alu.immediate, np.int32)
            for dst in _rounds(steps.dst):
                tiles[dst] = combined(alu.operation, tiles[dst], immediate)


def _zeros(memory: TileMemory) -> Tiles:
    return np.zeros((memory.depth, memory.rows, memory.columns), _TYPES[memory.element_bits])


def _add_up(tiles: Tiles, places: Places, products: Tiles):
    """Add products to tiles, several to one tile where a place occurs more than once."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    tiles[ordered[starts]] += np.add.reduceat(products[order], starts, axis=0)


def _depends(steps: Steps) -> bool:
    """Whether a micro-operation may read or write what another of the same instruction writes."""
    several = len(np.unique(steps.dst)) < len(steps.dst)
    return several or bool(np.isin(steps.src[steps.src != steps.dst], steps.dst).any())


def _rounds(places: Places) -> list[Places]:
    """The places, in parts in each of which every one occurs once: micro-operations on one tile follow each other."""
    rounds: list[Places] = []
    while len(places):
        _, first = np.unique(places, return_index=True)
        rounds.append(places[first])
        places = np.delete(places, first)
    return rounds
