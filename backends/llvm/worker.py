"""A compiler in a process of its own: `python -m tilework.backends.llvm.worker` answers jobs from its standard input.

Processes, because llvmlite holds one lock for the whole process; not forks, because a fork breaks OpenMP.

A message is a line of JSON, then as many bytes of object code as its "object_bytes" says.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from tilework.algebra.errors import TileworkError
from tilework.lowering.garbage import no_cyclic_gc


@dataclass(frozen=True)
class KernelJob:
    """One kernel to compile. text: its te and schedule module. target: as `parse_target` reads. options: JSON values.

    cost: how long it may take, in any unit; the longest are begun first.
    """

    text: str
    kernel: str
    target: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    cost: float = 0.0


@dataclass(frozen=True)
class CompiledKernel:
    """Object code of one kernel, and what a caller must know about it, as JSON values."""

    kernel: str
    object_code: bytes
    metadata: dict[str, Any]


@dataclass(frozen=True)
class FailedKernel:
    """Why one kernel did not compile: `message` for the user, `trace` with the traceback where Tilework is at fault."""

    kernel: str
    message: str
    trace: str | None = None


Outcome = CompiledKernel | FailedKernel


class KernelBuildError(Exception):
    """A defect of Tilework met while compiling a kernel, or a worker that died. The message holds its traceback."""


def compile_job(job: KernelJob) -> Outcome:
    """Compile in this process. Every error becomes part of the outcome."""
    from tilework.backends.llvm.build import build_kernel  # the compiler: a parent that only hands out jobs needs none

    try:
        with no_cyclic_gc():
            object_code, metadata = build_kernel(job.text, job.kernel, job.target, job.options)
    except TileworkError as error:
        return FailedKernel(job.kernel, str(error))
    except Exception as error:
        return FailedKernel(job.kernel, f"{type(error).__name__}: {error}", traceback.format_exc())
    return CompiledKernel(job.kernel, object_code, metadata)


def raise_failure(failure: FailedKernel) -> None:
    """Raise what `compile_job` caught: the user's error, or a KernelBuildError with its traceback."""
    if failure.trace is None:
        raise TileworkError(f"kernel '{failure.kernel}': {failure.message}")
    raise KernelBuildError(f"kernel '{failure.kernel}': {failure.message}\n{failure.trace}")


def send_job(stream: IO[bytes], job: KernelJob) -> None:
    """Write a job for a worker to read."""
    _send(stream, asdict(job))


def receive_outcome(stream: IO[bytes]) -> Outcome | None:
    """Read a worker's answer, or None where the stream ends before it is whole."""
    received = _receive(stream)
    if received is None:
        return None
    message, object_code = received
    if message.pop("compiled"):
        return CompiledKernel(object_code=object_code, **message)
    return FailedKernel(**message)


def _send_outcome(stream: IO[bytes], outcome: Outcome) -> None:
    message = asdict(outcome)
    if isinstance(outcome, FailedKernel):
        _send(stream, {"compiled": False, **message})
        return
    del message["object_code"]
    _send(stream, {"compiled": True, **message}, outcome.object_code)


def _send(stream: IO[bytes], message: dict[str, Any], object_code: bytes = b"") -> None:
    stream.write(json.dumps({**message, "object_bytes": len(object_code)}).encode() + b"\n" + object_code)
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    size = message.pop("object_bytes")
    object_code = stream.read(size)
    return (message, object_code) if len(object_code) == size else None


def main() -> None:
    """Answer jobs in order until the input ends."""
    # Whatever prints must not end up between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while received := _receive(sys.stdin.buffer):
        _send_outcome(answers, compile_job(KernelJob(**received[0])))


if __name__ == "__main__":
    main()
