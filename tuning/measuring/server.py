"""A process that runs candidates, in forks: `python -m tilework.tuning.measuring.server`.

It imports no compiler. The first message brings the inputs; then each one brings code, which runs in a fork of its own,
or, on a device whose driver takes long to start, in one that lasts. A fork that dies, or that takes longer than it may,
costs its own candidate only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from mmap import mmap
from typing import Any

import numpy as np

from tilework.runtime.arrays import Array, aligned_empty, dtype_named
from tilework.runtime.devices.launching import LaunchedKernel
from tilework.tuning.measuring.calls import Call, call_of, linked
from tilework.tuning.measuring.forks import Answer, LastingFork, failed, in_fork
from tilework.tuning.measuring.messages import receive, send
from tilework.tuning.measuring.outcome import Failure
from tilework.tuning.measuring.repeat import repeater

SAMPLE_SECONDS, MOST_IN_A_SAMPLE = 2e-4, 1 << 20
"""Runs that are shorter are timed several at a time, in samples so long: to look at the clock takes a microsecond."""

FEWEST_SAMPLES, MOST_SAMPLES = 5, 200
"""How many samples there are."""

ENOUGH_SECONDS = 0.06
"""So long a candidate is run, if there are not too few samples then."""

HOPELESS = 5.0
"""A candidate that takes so many times as long as the best one is run once."""


class Server:
    """The arrays of one task, and the results that the first code that ran left, which forks share."""

    def __init__(self, arguments: Sequence[Mapping[str, Any]], inputs: int, data: bytes, allowed: float):
        self.allowed = allowed
        self.inputs = inputs
        self.arrays = [_empty(spec) for spec in arguments]
        at = 0
        for array in self.arrays[:inputs]:
            raw = data[at : at + array.nbytes]
            array.reshape(-1).view(np.uint8)[...] = np.frombuffer(raw, np.uint8)
            at += array.nbytes
        self.expected = [_shared_like(array) for array in self.arrays[inputs:]]
        self.is_known = False
        self._device = LastingFork(self._run)

    def measure(self, message: Mapping[str, Any], code: bytes) -> Answer:
        """What comes of running code in a child process; the first code that runs says what is right."""
        told, seconds = {**message, "is_known": self.is_known}, message["seconds"]
        if isinstance(linked(message, code, self.arrays), LaunchedKernel):
            answer = self._device.asked(told, code, seconds)
        else:
            repeater(len(self.arrays) + len(message["scratch"]))  # here, so that not every fork makes it
            answer = in_fork(lambda: self._run(told, code), seconds)
        self.is_known = self.is_known or answer.get("seconds") is not None
        return answer

    def _run(self, message: Mapping[str, Any], code: bytes) -> Answer:
        """Run the code in this process."""
        call = call_of(linked(message, code, self.arrays), message, self.arrays)
        first = call.seconds(1)
        call.collect()
        outputs = self.arrays[self.inputs :]
        if not message["is_known"]:
            for kept, output in zip(self.expected, outputs, strict=True):
                kept[...] = output
        elif wrong := self._difference(outputs):
            return failed(Failure.WRONG_ANSWER, wrong)
        best = message["best"]
        if message["once"] or (best is not None and first > HOPELESS * best + 1e-3):
            return {"seconds": first}
        seconds = _least(call)
        return {"seconds": seconds} if seconds > 0 else failed(Failure.NO_TIME, "the clock saw no time pass")

    def _difference(self, outputs: Sequence[Array]) -> str:
        """The first element that is not what it is to be; empty if there is none."""
        for i, (found, right) in enumerate(zip(outputs, self.expected, strict=True)):
            wrong = ~_close(found, right, self.allowed)
            if wrong.any():
                at = int(np.argmax(wrong))
                return difference(i, at, found.shape, str(found.flat[at]), str(right.flat[at]))
        return ""


def difference(output: int, element: int, shape: Sequence[int], found: str, right: str) -> str:
    """What is wrong with an element of a result, whose number in memory is given."""
    place = ", ".join(str(int(index)) for index in np.unravel_index(element, tuple(shape)))
    return f"output {output} at [{place}] is {found} and must be {right}"


def _least(call: Call) -> float:
    """The least time of a run. Runs too short for the clock are timed several at a time."""
    several, taken = 1, call.seconds(1)
    while taken < SAMPLE_SECONDS and several < MOST_IN_A_SAMPLE:
        several *= 2
        taken = call.seconds(several)
    samples = int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, ENOUGH_SECONDS / max(taken, SAMPLE_SECONDS))))
    return min(call.seconds(several) for _ in range(samples)) / several


def _close(found: Array, right: Array, allowed: float) -> Any:
    if found.dtype.kind not in "fcV":
        return found == right
    a, b = found.astype(np.float64), right.astype(np.float64)
    finite = np.abs(b[np.isfinite(b)])
    with np.errstate(all="ignore"):
        bound = allowed * step_of(found.dtype) * float(finite.max(initial=0.0))
        return (a == b) | (np.abs(a - b) <= bound) | ((a != a) & (b != b))


def step_of(dtype: np.dtype[Any]) -> float:
    """The unit in the last place, as a part of the number."""
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else 2.0**-8


def _empty(spec: Mapping[str, Any]) -> Array:
    """An array for an argument; of types narrower than a byte, the bytes that hold it."""
    return aligned_empty(tuple(spec["shape"]), dtype_named(spec["dtype"]))


def _shared_like(array: Array) -> Array:
    """An array in memory that forks share with this process."""
    memory = mmap(-1, max(array.nbytes, 1))
    return np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)


def main() -> None:
    """Answer messages in order until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not end up between the answers
    server: Server | None = None
    while received := receive(sys.stdin.buffer):
        message, data = received
        if message["kind"] == "task":
            server = Server(message["arguments"], message["inputs"], data, message["allowed"])
            send(answers, {})
        else:
            assert server is not None
            send(answers, server.measure(message, data))


if __name__ == "__main__":
    main()
