"""Accesses to one tile that nothing puts in order, and reads of what nothing has written.

Two instructions of two units, one of which writes what the other reads, must be ordered by tokens; whether they met
this time is no matter. The last access of each unit to each tile tells enough: where it is ordered, all before it are.
No memory is written by two units, so that writes of one tile are always in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from tilework.runtime.devices.vdla.clocks import Clocks, settled_order
from tilework.runtime.devices.vdla.findings import Fault, Finding
from tilework.runtime.devices.vdla.footprint import Footprint
from tilework.runtime.devices.vdla.machine import DRAM, Machine, Places
from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets.vdla.units import Unit

Counts = np.ndarray[Any, np.dtype[np.int64]]
"""The last instruction, for each tile, of a unit to touch it, counted among those of the unit from one; 0 for none."""


class _Memory:
    """Who touched what last, in one memory."""

    def __init__(self, size: int):
        self.reads: Mapping[Unit, Counts] = {unit: np.zeros(size, np.int64) for unit in Unit}
        self.writes: Mapping[Unit, Counts] = {unit: np.zeros(size, np.int64) for unit in Unit}


def hazards(stream: Stream, ran: Set[int], footprints: Sequence[Footprint], machine: Machine) -> list[Finding]:
    """Findings about what the instructions touch that ran, and about what the last does not wait for."""
    order = settled_order(stream, ran)
    search = _Search(stream, order, machine)
    for at in order:
        search.instruction(at, footprints[at])
        if at == len(stream.instructions) - 1:
            search.finish(at)
    return search.findings


class _Search:
    """One search: what the instructions so far have touched, and what was found about them."""

    def __init__(self, stream: Stream, order: Sequence[int], machine: Machine):
        self._stream = stream
        self._machine = machine
        self._clocks = Clocks(stream, order)
        self._memories = {name: _Memory(size) for name, size in machine.sizes().items()}
        self.findings: list[Finding] = []

    def instruction(self, at: int, footprint: Footprint):
        """Compare an instruction with those before it, then remember what it touches."""
        unit, count = self._stream.instructions[at].unit, self._clocks.count[at]
        for name, places in footprint.reads.items():
            if name != DRAM:  # the host has written that before
                self._check_loaded(at, name, places)
            for other, shared in self._unordered(at, places, self._memories[name].writes):
                self._race(at, other, self._machine.describe(name, shared))
        for name, places in footprint.writes.items():
            for other, shared in self._unordered(at, places, self._memories[name].reads):
                self._race(other, at, self._machine.describe(name, shared))
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
                named = self._stream.describe
                message = f"{named(running)} may still run when {named(at)} says that all is done: it does not wait"
                self.findings.append(Finding(Fault.UNFINISHED, message, (running, at)))

    def _check_loaded(self, at: int, name: str, places: Places):
        written = np.zeros(len(places), bool)
        for counts in self._memories[name].writes.values():
            written |= counts[places] > 0
        missing = places[~written]
        if len(missing):
            tiles = self._machine.describe(name, missing)
            message = f"{self._stream.describe(at)} reads {tiles}, which nothing has written before"
            self.findings.append(Finding(Fault.NOT_LOADED, message, (at,)))

    def _unordered(self, at: int, places: Places, touched: Mapping[Unit, Counts]) -> Iterator[tuple[int, Places]]:
        """The first instruction of each other unit that touched one of these places last, and may do so only now."""
        clock = self._clocks.before[at]
        for unit, counts in touched.items():
            here = counts[places]
            late = here > clock[unit]
            if unit is not self._stream.instructions[at].unit and late.any():
                first = here[late].min()
                yield self._stream.programs[unit][int(first) - 1], places[here == first]

    def _race(self, reader: int, writer: int, tiles: str):
        """The one that comes later in the stream is the one that should wait."""
        named = self._stream.describe
        if reader > writer:
            fault, message = Fault.EARLY_READ, f"{named(reader)} reads {tiles}, which {named(writer)} writes"
        else:
            fault, message = Fault.EARLY_WRITE, f"{named(writer)} writes {tiles}, which {named(reader)} reads"
        pair = (min(reader, writer), max(reader, writer))
        self.findings.append(Finding(fault, f"{message}: no token makes it wait", pair))
