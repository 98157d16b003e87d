"""Accesses to one tile that nothing puts in order, and reads of what nothing has written.

Two instructions of two units, one of which writes what the other touches, must be ordered by tokens; whether they met
this time is no matter. The last access of each unit to each tile tells enough: where it is ordered, all before it are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilework.runtime.devices.vdla.clocks import Clock, Clocks
from tilework.runtime.devices.vdla.findings import Fault, Finding
from tilework.runtime.devices.vdla.footprint import DRAM, Footprint, Places
from tilework.runtime.devices.vdla.stream import Stream, Unit

Counts = np.ndarray[Any, np.dtype[np.int64]]
"""For each tile, the last instruction of a unit to touch it, counted among those of the unit from one; 0 for none."""


class _Memory:
    """Who touched what last, in one memory."""

    def __init__(self, size: int):
        self.reads: Mapping[Unit, Counts] = {unit: np.zeros(size, np.int64) for unit in Unit}
        self.writes: Mapping[Unit, Counts] = {unit: np.zeros(size, np.int64) for unit in Unit}


def hazards(
    stream: Stream, order: Sequence[int], footprints: Sequence[Footprint], sizes: Mapping[str, int]
) -> list[Finding]:
    """Findings about what the instructions touch that ran in this order, and about what the last does not wait for."""
    search = _Search(stream, order, sizes)
    for at in order:
        search.instruction(at, footprints[at])
    if order and order[-1] == len(stream.instructions) - 1:
        search.finish(order[-1])
    return search.findings


class _Search:
    def __init__(self, stream: Stream, order: Sequence[int], sizes: Mapping[str, int]):
        self._stream = stream
        self._clocks = Clocks(stream, order)
        self._memories = {name: _Memory(size) for name, size in sizes.items()}
        self.findings: list[Finding] = []

    def instruction(self, at: int, footprint: Footprint):
        """Compare an instruction with those before it, then remember what it touches."""
        unit, clock, count = self._stream.instructions[at].unit, self._clocks.before[at], self._clocks.count[at]
        for name, places in footprint.reads.items():
            memory = self._memories[name]
            if name != DRAM:  # the host has written that before
                self._check_loaded(at, name, places)
            self._check_order(at, clock, name, places, memory.writes, writes=False)
        for name, places in footprint.writes.items():
            memory = self._memories[name]
            self._check_order(at, clock, name, places, memory.writes, writes=True)
            self._check_order(at, clock, name, places, memory.reads, writes=True)
        for name, places in footprint.reads.items():
            self._memories[name].reads[unit][places] = count
        for name, places in footprint.writes.items():
            self._memories[name].writes[unit][places] = count

    def finish(self, at: int):
        """The host may use everything again when the machine says that it is finished."""
        for unit, program in self._stream.programs.items():
            waited = self._clocks.before[at][unit]
            if unit is not self._stream.instructions[at].unit and waited < len(program):
                running = program[waited]
                told = self._stream.told
                message = f"{told(running)} may still run when {told(at)} says that all is done: it does not wait"
                self.findings.append(Finding(Fault.UNFINISHED, message, (running, at)))

    def _check_loaded(self, at: int, name: str, places: Places):
        written = np.zeros(len(places), bool)
        for counts in self._memories[name].writes.values():
            written |= counts[places] > 0
        missing = places[~written]
        if len(missing):
            message = f"{self._stream.told(at)} reads {_tiles(name, missing)}, which nothing has written before"
            self.findings.append(Finding(Fault.NOT_LOADED, message, (at,)))

    def _check_order(
        self, at: int, clock: Clock, name: str, places: Places, touched: Mapping[Unit, Counts], *, writes: bool
    ):
        """A finding for every unit whose last access to one of these places may happen at the same time.

        writes: whether this instruction writes them. The accesses are writes, unless they are the memory's reads.
        """
        others = [unit for unit in Unit if unit is not self._stream.instructions[at].unit]
        for unit in others:
            counts = touched[unit][places]
            open_ = counts > clock[unit]
            if not open_.any():
                continue
            other = self._stream.programs[unit][int(counts[open_].min()) - 1]
            same = places[open_ & (counts == self._clocks.count[other])]
            verb = "writes" if touched is self._memories[name].writes else "reads"
            self.findings.append(self._race(at, other, _tiles(name, same), own_write=writes, other_verb=verb))

    def _race(self, at: int, other: int, tiles: str, *, own_write: bool, other_verb: str) -> Finding:
        """The fault of two instructions, told from the one that comes later in the stream."""
        verbs = {at: "writes" if own_write else "reads", other: other_verb}
        first, second = sorted((at, other))
        told = self._stream.told
        if verbs[second] == "reads":
            fault, message = Fault.EARLY_READ, f"{told(second)} reads {tiles}, which {told(first)} writes"
        else:
            fault, message = Fault.EARLY_WRITE, f"{told(second)} writes {tiles}, which {told(first)} {verbs[first]}"
        return Finding(fault, f"{message}: no token makes it wait", (first, second))


def _tiles(name: str, places: Places) -> str:
    first, last = int(places.min()), int(places.max())
    what = "piece" if name == DRAM else "tile"
    return f"{what} {first} of {name}" if first == last else f"{what}s {first} to {last} of {name}"
