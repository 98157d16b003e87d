"""A process that runs candidates, each in a fork of its own: `python -m tilework.tuning.measuring.server`.

It imports no compiler. A message is a line of JSON, then as many bytes as its "bytes" says. The first one brings the
inputs; then each one brings code. An answer is a line of JSON. A fork that dies, or that takes longer than it may,
costs its own candidate only.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from mmap import mmap
from typing import IO, Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.runtime.addresses import addresses
from tilework.runtime.arena import host_arena
from tilework.runtime.arrays import ALIGNMENT, Array, aligned_empty, dtype_named
from tilework.runtime.devices.registry import link
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
    """The arrays of one task, and the results that the first code that ran left."""

    def __init__(self, arguments: Sequence[Mapping[str, Any]], inputs: int, data: bytes, allowed: float):
        self.allowed = allowed
        self.inputs = inputs
        self.arrays = [_empty(spec) for spec in arguments]
        at = 0
        for array in self.arrays[:inputs]:
            raw = data[at : at + array.nbytes]
            array.reshape(-1).view(np.uint8)[...] = np.frombuffer(raw, np.uint8)
            at += array.nbytes
        self.expected: list[Array] | None = None

    def measure(self, message: Mapping[str, Any], code: bytes) -> dict[str, Any]:
        """What comes of running code in a fork; the first code says what is right."""
        repeater(len(self.arrays) + len(message["scratch"]))  # here, so that not every fork makes it
        shared = [] if self.expected is not None else [_shared_like(a) for a in self.arrays[self.inputs :]]
        answer = _in_fork(lambda: self._run(message, code, shared), message["seconds"])
        if shared and answer.get("seconds") is not None:
            self.expected = shared
        return answer

    def _run(self, message: Mapping[str, Any], code: bytes, shared: Sequence[Array]) -> dict[str, Any]:
        threads = message["threads"]
        clock = time.thread_time if threads == 1 else time.perf_counter
        call = self._call(message, code, threads)
        before = clock()
        call(1)
        first = clock() - before
        outputs = self.arrays[self.inputs :]
        for kept, output in zip(shared, outputs, strict=False):
            kept[...] = output
        if self.expected is not None and (wrong := self._difference(outputs)):
            return _failed(Failure.WRONG_ANSWER, wrong)
        best = message["best"]
        if message["once"] or (best is not None and first > HOPELESS * best + 1e-3):
            return {"seconds": first}
        seconds = _least(call, clock)
        return {"seconds": seconds} if seconds > 0 else _failed(Failure.NO_TIME, "the clock saw no time pass")

    def _call(self, message: Mapping[str, Any], code: bytes, threads: int) -> Callable[[int], None]:
        """A function that calls the code so many times."""
        scratch: Sequence[int] = message["scratch"]
        types = [*[ctypes.c_void_p] * (len(self.arrays) + len(scratch)), ctypes.c_int32]
        linked = link([code], message["target"], message["entry"], types).code()
        starts = [host_arena(size + ALIGNMENT) for size in scratch]
        arguments = *addresses(self.arrays), *(arena.address for arena in starts), threads
        repeat = repeater(len(types) - 1)

        def call(times: int) -> None:
            if linked.address:
                repeat(linked.address, *arguments, times)
            else:  # what runs it is Python
                for _ in range(times):
                    linked.entry(*arguments)
            starts.__len__()  # the memory lives as long as the call

        return call

    def _difference(self, outputs: Sequence[Array]) -> str:
        """The first element that is not what it is to be; empty if there is none."""
        assert self.expected is not None
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


def _least(call: Callable[[int], None], clock: Callable[[], float]) -> float:
    """The least time of a run. Runs too short for the clock are timed several at a time."""

    def timed(several: int) -> float:
        before = clock()
        call(several)
        return clock() - before

    several, taken = 1, timed(1)
    while taken < SAMPLE_SECONDS and several < MOST_IN_A_SAMPLE:
        several *= 2
        taken = timed(several)
    samples = int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, ENOUGH_SECONDS / max(taken, SAMPLE_SECONDS))))
    return min(timed(several) for _ in range(samples)) / several


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


def _in_fork(work: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What a function returns in a child process that is killed after so long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        late = not select.select([answers], [], [], seconds)[0]
        if late:
            os.kill(child, signal.SIGKILL)
        text = b"" if late else answers.read()
    _, status = os.waitpid(child, 0)
    if late:
        return _failed(Failure.RUN_TIMEOUT, f"it ran for more than {seconds:.1f} s")
    if not text:
        return _failed(Failure.RUN, f"the process that ran it died ({_ending(status)})")
    return json.loads(text)


def _answer(work: Callable[[], dict[str, Any]], writing: int) -> None:
    """Do the work of a child, write its answer, and end."""
    try:
        answer = work()
    except TileworkError as error:
        answer = _failed(Failure.RUN, str(error))
    except MemoryError:
        answer = _failed(Failure.RUN, "there is not enough memory")
    except BaseException as error:
        answer = _failed(Failure.RUN, f"{type(error).__name__}: {error}")
    os.write(writing, json.dumps(answer).encode())
    os._exit(0)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return f"exit status {os.WEXITSTATUS(status)}"


def _failed(failure: Failure, message: str) -> dict[str, Any]:
    return {"seconds": None, "failure": failure.value, "message": message}


def send(stream: IO[bytes], message: Mapping[str, Any], data: bytes = b"") -> None:
    """Write a message for the other process to read."""
    stream.write(json.dumps({**message, "bytes": len(data)}).encode() + b"\n" + data)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read what the other process sent, or None where the stream ends before it is whole."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    data = stream.read(message.pop("bytes"))
    return message, data


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
