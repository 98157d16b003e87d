"""What a run tells: how long it took, what kept each unit from working, and how much went through DRAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilework.runtime.devices.vdla.stream import Load, Store, Stream
from tilework.runtime.devices.vdla.timeline import SHARED_DRAM, Span, Timeline
from tilework.runtime.devices.vdla.timing import useful_cycles
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import Unit


@dataclass(frozen=True)
class UnitReport:
    """How one unit spent its cycles. waited: by cause. after: when it had nothing left to do."""

    busy: int
    waited: Mapping[str, int]
    after: int


@dataclass(frozen=True)
class RunReport:
    """One run of a stream.

    cycles: until the last instruction had run. gemm_cycles: in which the matrix unit multiplied. dram_cycles: in which
    DRAM moved bytes. dram_bytes: how many, by the memory that they went to or, of "out", came from.
    spans: which unit ran which instruction when, by begin.
    """

    target: VdlaTarget
    cycles: int
    gemm_cycles: int
    dram_cycles: int
    dram_bytes: Mapping[str, int]
    units: Mapping[Unit, UnitReport]
    spans: tuple[Span, ...]

    @property
    def utilisation(self) -> float:
        """The part of all cycles in which the matrix unit multiplied."""
        return self.gemm_cycles / self.cycles

    @property
    def seconds(self) -> float:
        """How long the run takes at the machine's clock."""
        return self.cycles / (self.target.mhz * 1e6)

    def __str__(self) -> str:
        moved = ", ".join(f"{count} {name}" for name, count in self.dram_bytes.items() if count)
        lines = [
            f"{self.cycles} cycles, {self.seconds * 1e6:.1f} us at {self.target.mhz} MHz",
            f"matrix unit: {self.gemm_cycles} cycles, {self.utilisation:.1%} of all",
            f"DRAM: {self.dram_cycles} cycles, {self.dram_cycles / self.cycles:.1%} of all; bytes: {moved or 'none'}",
        ]
        for unit, spent in self.units.items():
            waits = "".join(f", {count} for {cause}" for cause, count in spent.waited.items())
            lines.append(f"{unit.value}: {spent.busy} busy{waits}, {spent.after} after its last")
        return "\n".join(lines)


def report_of(stream: Stream, timeline: Timeline, target: VdlaTarget) -> RunReport:
    """What a run that came to its end tells."""
    dram_bytes = dict.fromkeys(target.memories, 0)
    for instruction in stream.instructions:
        if isinstance(instruction, Load | Store):
            memory = instruction.memory if isinstance(instruction, Load) else "out"
            dram_bytes[memory] += instruction.rows * instruction.columns * target.memories[memory].tile_bytes
    return RunReport(
        target,
        timeline.cycles,
        sum(map(useful_cycles, stream.instructions)),
        timeline.dram_cycles,
        dram_bytes,
        {unit: _unit_report(unit, timeline) for unit in Unit},
        timeline.spans,
    )


def _unit_report(unit: Unit, timeline: Timeline) -> UnitReport:
    waited = dict(timeline.waited[unit])
    ran = sum(span.end - span.begin for span in timeline.spans if span.unit is unit)
    return UnitReport(
        busy=ran - waited.get(SHARED_DRAM, 0),
        waited=waited,
        after=timeline.cycles - timeline.states[unit].since,
    )
