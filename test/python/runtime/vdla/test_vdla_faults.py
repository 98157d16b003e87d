"""The simulator of VDLA finds what is wrong with a stream, nothing more, and says it whatever the timing was."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from vdla_programs import Layout, data_for, layout_of, machine, matmul, one_after_the_other, random_matmul, shuffled

from tilework.runtime.devices.vdla.findings import Fault, Finding, StreamError
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets import parse_target
from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.fuzz.vdla.faults import FAULTS
from tilework.tools.fuzz.vdla.oracle import Verdict, judge

SPEEDS = ("", "-dram-bytes=1 -dram-latency=500", "-dram-bytes=4096 -dram-latency=0 -alu-cycles=9")
"""Machines of which one waits for DRAM alone, and another for the ALU."""
RACES = (Fault.EARLY_READ, Fault.EARLY_WRITE)


class Case(NamedTuple):
    """A correct stream, DRAM before it runs, the part of DRAM that it writes, and what is to be there then."""

    stream: Stream
    dram: np.ndarray
    results: slice
    expected: np.ndarray
    target: VdlaTarget

    def run(self, stream: Stream, speed: str) -> np.ndarray:
        """The results of a stream on a machine with other speeds."""
        dram = self.dram.copy()
        simulate(stream, dram, VdlaTarget.of(parse_target(with_speed(self.target, speed))))
        return dram[self.results]


def with_speed(target: VdlaTarget, speed: str) -> str:
    keys = [word.partition("=")[0] for word in speed.split()]
    kept = [word for word in str(target).split() if word.partition("=")[0] not in keys]
    return " ".join((*kept, speed))


def random_case(seed: int) -> Case:
    """In some cases, a second product has the results of a first for its inputs."""
    draw = random.Random(seed)
    return draw.choice([product_case, product_case, chain_case])(draw, seed)


def product_case(draw: random.Random, seed: int) -> Case:
    product = random_matmul(draw)
    target = machine(f"-block-in=4 -block-out=8 -queue={draw.randint(1, 4)}")
    data = data_for(product, target, seed)
    results = slice(data.start, data.start + len(data.expected))
    return Case(shuffled(matmul(product, target), draw), data.dram, results, data.expected, target)


def chain_case(draw: random.Random, seed: int) -> Case:
    """What is expected is what the two streams compute that run alone, one by one."""
    target = machine(f"-block-in=4 -block-out=4 -queue={draw.randint(1, 4)}")
    first = random_matmul(draw)
    second = replace(random_matmul(draw), m=first.m, k=first.n, block=(first.m, 1, 1), n=2)
    places = layout_of(first, target)
    onto = layout_of(second, target)
    shifted = Layout(places.out, *(places.size + at for at in onto[1:]))
    streams = matmul(first, target), matmul(second, target, shifted)
    dram = np.random.default_rng(seed).integers(0, 256, shifted.size).astype(np.uint8)
    alone = dram.copy()
    for stream in streams:
        simulate(stream, alone, target)
    written = slice(places.out, None)
    return Case(shuffled(one_after_the_other(*streams), draw), dram, written, alone[written], target)


@pytest.mark.parametrize("seed", range(100))
def test_nothing_is_found_in_correct_streams(seed: int):
    case = random_case(seed)
    assert judge(case.stream, case.target).clean
    for speed in SPEEDS:
        np.testing.assert_array_equal(case.run(case.stream, speed), case.expected)


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("seed", range(25))
def test_planted_faults_are_found(seed: int, plant: Callable[[Stream, random.Random], Stream]):
    """The search agrees with one over all pairs of instructions, on machines of all speeds."""
    case = random_case(seed)
    stream = plant(case.stream, random.Random(seed))
    verdict = judge(stream, case.target)
    results: list[np.ndarray] = []
    findings: set[tuple[Finding, ...]] = set()
    for speed in SPEEDS:
        try:
            results.append(case.run(stream, speed))
        except StreamError as error:
            findings.add(error.findings)
            check_findings(error.findings, verdict)
        else:
            assert verdict.clean
    assert len(findings) <= 1
    for other in results[1:]:  # no race, so that what is computed does not depend on how fast anything is
        np.testing.assert_array_equal(results[0], other)


def check_findings(findings: Sequence[Finding], verdict: Verdict):
    kinds = {finding.fault for finding in findings}
    assert (Fault.DEADLOCK in kinds) == verdict.deadlock
    assert (Fault.LEFT_OVER in kinds) == verdict.left
    assert (Fault.UNFINISHED in kinds) == verdict.unfinished
    races = {finding.instructions for finding in findings if finding.fault in RACES}
    assert races <= verdict.races and bool(races) == bool(verdict.races)
    unwritten = {finding.instructions[0] for finding in findings if finding.fault is Fault.NOT_LOADED}
    assert unwritten <= verdict.unwritten and (bool(unwritten | races) or not verdict.unwritten)


def test_most_of_what_is_planted_is_a_fault():
    """Each kind of fault does harm in some streams, so that it is a test at all."""
    harmful = dict.fromkeys(FAULTS, 0)
    for seed in range(25):
        case = random_case(seed)
        for plant in FAULTS:
            harmful[plant] += not judge(plant(case.stream, random.Random(seed)), case.target).clean
    assert all(count >= 5 for count in harmful.values()), harmful
    assert harmful[FAULTS[0]] == 25  # a token has two ends
