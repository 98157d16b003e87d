"""Run a stream: refuse one that is not clean, compute what it computes, and tell how long that takes.

FPGAs do not say what is wrong with a stream: they stop, or compute with what happens to be there. The simulator finds
deadlocks, tokens that are left, accesses that no token orders, and addresses out of range, before it computes anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.runtime.devices.vdla.deadlock import deadlocks, left_over
from tilework.runtime.devices.vdla.execution import Bytes, Chip
from tilework.runtime.devices.vdla.findings import StreamError
from tilework.runtime.devices.vdla.footprint import Footprint, footprints
from tilework.runtime.devices.vdla.hazards import hazards
from tilework.runtime.devices.vdla.machine import Machine
from tilework.runtime.devices.vdla.report import RunReport, report_of
from tilework.runtime.devices.vdla.stream import Instruction, Stream
from tilework.runtime.devices.vdla.timeline import timeline_of
from tilework.targets.vdla.target import VdlaTarget


def simulate(stream: Stream, dram: Bytes, target: VdlaTarget) -> RunReport:
    """Run a stream on a machine with this DRAM, which it changes as stores say.

    Raises StreamError, with all that was found, for a stream that is not clean; DRAM is as it was then.
    """
    if dram.dtype != np.uint8 or dram.ndim != 1 or not dram.flags.c_contiguous or not dram.flags.writeable:
        raise UsageError(f"DRAM is bytes in a row that can be written, not {dram.dtype} of the shape {dram.shape}")
    prepared = prepare(stream, len(dram), target)
    prepared.run(dram)
    return prepared.report


def prepare(stream: Stream, dram_bytes: int, target: VdlaTarget) -> Prepared:
    """A stream for a machine with so much DRAM, when it is found to be clean, to be run as often as one likes.

    Neither what is found nor how long it takes depends on what is in memory. Raises StreamError as `simulate` does.
    """
    machine = Machine(target, dram_bytes)
    touched, findings = footprints(stream, machine)
    timeline = timeline_of(stream, target)
    order = [span.instruction for span in timeline.spans]
    findings += left_over(stream, timeline) if timeline.complete else deadlocks(stream, timeline)
    findings += hazards(stream, set(order), touched, machine)
    if findings:
        raise StreamError(findings)
    steps = tuple((stream.instructions[at], touched[at]) for at in order)
    return Prepared(target, steps, report_of(stream, timeline, target))


@dataclass(frozen=True)
class Prepared:
    """A stream that is clean. steps: its instructions in an order in which they may run, with what they touch."""

    target: VdlaTarget
    steps: tuple[tuple[Instruction, Footprint], ...]
    report: RunReport

    def run(self, dram: Bytes) -> None:
        """Compute what it computes, in this DRAM."""
        chip = Chip(self.target, dram)
        for instruction, footprint in self.steps:
            chip.run(instruction, footprint)
