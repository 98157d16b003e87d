"""Faults planted in streams that a compiler has made: the simulator reports every one that does any harm.

A fault is found, or it is harmless: the tokens that are left still put every two accesses to one place in order, as
where another token implies the one that is missing. Whether that is so, `oracle` says, which compares all pairs of
instructions place by place; and on machines of all speeds the results are then what they were. A load that is moved
may also make another program: one that computes something else when its instructions run one behind the other as they
stand in the stream, and just that on the machine. Nobody could know that something else was meant.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np

from tilework.runtime.devices.vdla.execution import Chip
from tilework.runtime.devices.vdla.findings import StreamError
from tilework.runtime.devices.vdla.footprint import footprints
from tilework.runtime.devices.vdla.machine import Machine
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import Queue
from tilework.tools.fuzz.vdla.faults import LOST_ORDER
from tilework.tools.fuzz.vdla.kernels import Array
from tilework.tools.fuzz.vdla.oracle import judge

FOUND, HARMLESS, OTHER = (f"planted faults {what}" for what in ("found", "harmless", "that make another program"))

MOST_INSTRUCTIONS = 120
"""In longer streams nothing is planted: all pairs of instructions are compared."""


def plant_faults(stream: Stream, target: VdlaTarget, dram: Array, seed: int) -> tuple[Counter[str], str | None]:
    """Plant every kind of fault in a correct stream: how many there were of each sort, and what was missed.

    dram: what is there before the stream runs.
    """
    counts: Counter[str] = Counter()
    if len(stream.instructions) > MOST_INSTRUCTIONS:
        return counts, None
    expected, draw = dram.copy(), random.Random(seed)
    simulate(stream, expected, target)
    mutants = [(stream, replace(target, queue=depth), f"a queue of {depth}") for depth in _shorter(stream, target)]
    for fault in LOST_ORDER:
        mutant = fault(stream, draw)
        if mutant != stream:
            mutants.append((mutant, target, fault.__name__))
    for mutant, machine, name in mutants:
        sort, missed = _sort_of(mutant, machine, dram, expected)
        if missed is not None:
            return counts, f"{name}: {missed}"
        counts[sort] += 1
    return counts, None


def _shorter(stream: Stream, target: VdlaTarget) -> list[int]:
    """Depths of queues with less room than the machine's, and than tokens of the stream could take."""
    most = max(sum(queue in one.push for one in stream.instructions) for queue in Queue)
    return [depth for depth in (1, 2, 3) if depth < min(target.queue, most)]


def _sort_of(stream: Stream, target: VdlaTarget, dram: Array, expected: Array) -> tuple[str, str | None]:
    """Which sort of fault a stream has, and what the simulator misses, or says for nothing."""
    verdict, results = judge(stream, target), list[Array]()
    slow, fast = replace(target, dram_bytes=1, dram_latency=900), replace(target, dram_bytes=4096, dram_latency=0)
    for machine in (target, slow, fast):
        result = dram.copy()
        try:
            simulate(stream, result, machine)
        except StreamError as error:
            if verdict.clean:
                return FOUND, f"nothing is wrong, and the simulator says: {error}"
        else:
            results.append(result)
    if not verdict.clean:
        return FOUND, f"the simulator finds nothing, and there is {verdict}" if results else None
    if all(np.array_equal(result, expected) for result in results):
        return HARMLESS, None
    told = run_in_order(stream, target, dram)
    if not np.array_equal(told, expected) and all(np.array_equal(result, told) for result in results):
        return OTHER, None
    return HARMLESS, "the simulator finds nothing, and the results are others"


def run_in_order(stream: Stream, target: VdlaTarget, dram: Array) -> Array:
    """What is in DRAM when the instructions have run one behind the other, as they stand in the stream."""
    result = dram.copy()
    chip, (touched, _) = Chip(target, result), footprints(stream, Machine(target, len(result)))
    for instruction, footprint in zip(stream.instructions, touched, strict=True):
        chip.run(instruction, footprint)
    return result
