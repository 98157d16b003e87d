"""Faults planted in streams that a compiler has made: the simulator reports every one that does any harm.

What is planted changes which instruction waits for which, and nothing else. It is harmless where the tokens that are
left still put every two accesses to one place in order, as where another token implies the one that is missing. Whether
that is so, `oracle` says, which compares all pairs of instructions place by place; and on machines of all speeds the
results are then what they were.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np

from tilework.runtime.devices.vdla.findings import StreamError
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import Queue
from tilework.tools.fuzz.vdla.faults import LOST_ORDER
from tilework.tools.fuzz.vdla.kernels import Array
from tilework.tools.fuzz.vdla.oracle import judge

FOUND, HARMLESS = "planted faults found", "planted faults harmless"

MOST_INSTRUCTIONS = 120
"""In longer streams nothing is planted: all pairs of instructions are compared."""


def plant_faults(stream: Stream, target: VdlaTarget, dram: Array, seed: int) -> tuple[Counter[str], str | None]:
    """Plant every kind of fault in a correct stream; how many were found and harmless, and what was missed, if any was.

    dram: what is there before the stream runs.
    """
    counts: Counter[str] = Counter()
    if len(stream.instructions) > MOST_INSTRUCTIONS:
        return counts, None
    expected, draw = dram.copy(), random.Random(seed)
    simulate(stream, expected, target)
    mutants = [(stream, replace(target, queue=depth), f"a queue of {depth}") for depth in _shorter(stream, target)]
    for fault in LOST_ORDER if any(one.push for one in stream.instructions) else ():
        mutant = fault(stream, draw)
        if mutant != stream:
            mutants.append((mutant, target, fault.__name__))
    for mutant, machine, name in mutants:
        is_found, wrong = _run(mutant, machine, dram, expected)
        if wrong is not None:
            return counts, f"{name}: {wrong}"
        counts[FOUND if is_found else HARMLESS] += 1
    return counts, None


def _shorter(stream: Stream, target: VdlaTarget) -> list[int]:
    """Depths of queues with less room than the machine's, and than tokens of the stream could take."""
    most = max(sum(queue in one.push for one in stream.instructions) for queue in Queue)
    return sorted({depth for depth in (1, 2, 3) if depth < min(target.queue, most)})


def _run(stream: Stream, target: VdlaTarget, dram: Array, expected: Array) -> tuple[bool, str | None]:
    """Whether the simulator finds something, and what it misses or finds for nothing."""
    verdict = judge(stream, target)
    for speed in (
        target,
        replace(target, dram_bytes=1, dram_latency=900),
        replace(target, dram_bytes=4096, dram_latency=0),
    ):
        result = dram.copy()
        try:
            simulate(stream, result, speed)
        except StreamError as error:
            if verdict.clean:
                return True, f"nothing is wrong, and the simulator says: {error}"
            continue
        if not verdict.clean:
            return False, f"the simulator finds nothing, and there is {verdict}"
        if not np.array_equal(result, expected):
            return False, "the simulator finds nothing, and the results are others"
    return not verdict.clean, None
