"""A compiler in a process of its own: `python -m tilework.driver.worker` answers jobs from its standard input.

A job is a kernel to compile, or a group of operators whose price is asked for.

Processes, because llvmlite holds one lock for the whole process; not forks, because a fork breaks OpenMP.

A message is a line of JSON, then as many bytes of object code as its "object_bytes" says.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from dataclasses import asdict, dataclass
from typing import IO, Any

from tilework.algebra.errors import TileworkError
from tilework.driver.garbage import no_cyclic_gc


@dataclass(frozen=True)
class KernelJob:
    """One kernel to compile. text: its module of te and schedule, which names the target.

    cost: how long it may take, in any unit; the longest are begun first.
    """

    text: str
    kernel: str
    cost: float = 0.0


@dataclass(frozen=True)
class PriceJob:
    """One kernel to find the fastest algorithm for: see `price_group`, which takes the same. cost: as in KernelJob."""

    text: str
    kernel: str
    weight_bytes: int
    precision: str
    cost: float = 0.0


Job = KernelJob | PriceJob


@dataclass(frozen=True)
class CompiledKernel:
    """Object code of one kernel, and what a caller must know about it, as JSON values."""

    kernel: str
    object_code: bytes
    metadata: dict[str, Any]


@dataclass(frozen=True)
class PricedKernel:
    """The fastest algorithm for a kernel, as JSON values."""

    kernel: str
    algorithm: dict[str, Any]


@dataclass(frozen=True)
class FailedKernel:
    """Why a job was not done: `message` for the user, `trace` with the traceback where Tilework is at fault."""

    kernel: str
    message: str
    trace: str | None = None


Outcome = CompiledKernel | PricedKernel | FailedKernel
_KINDS = (KernelJob, PriceJob, CompiledKernel, PricedKernel, FailedKernel)
_MESSAGES: dict[str, type[Any]] = {kind.__name__: kind for kind in _KINDS}


class KernelBuildError(Exception):
    """A defect of Tilework met while compiling or pricing, or a worker that died. The message holds its traceback."""


def do_job(job: Job) -> Outcome:
    """Compile, or price, in this process. Every error becomes part of the outcome."""
    try:
        with no_cyclic_gc():
            return _compiled(job) if isinstance(job, KernelJob) else _priced(job)
    except TileworkError as error:
        return FailedKernel(job.kernel, str(error))
    except Exception as error:
        return FailedKernel(job.kernel, f"{type(error).__name__}: {error}", traceback.format_exc())


def _compiled(job: KernelJob) -> CompiledKernel:
    from tilework.driver.build_kernel import build_kernel  # the compiler: a parent that only hands out jobs needs none

    return CompiledKernel(job.kernel, *build_kernel(job.text, job.kernel))


def _priced(job: PriceJob) -> PricedKernel:
    from tilework.driver.price import price_group  # as above

    algorithm = price_group(job.text, job.kernel, job.weight_bytes, job.precision)
    return PricedKernel(job.kernel, algorithm)


def raise_failure(failure: FailedKernel) -> None:
    """Raise what `do_job` caught: the user's error, or a KernelBuildError with its traceback."""
    if failure.trace is None:
        raise TileworkError(f"kernel '{failure.kernel}': {failure.message}")
    raise KernelBuildError(f"kernel '{failure.kernel}': {failure.message}\n{failure.trace}")


def send(stream: IO[bytes], message: Job | Outcome) -> None:
    """Write a job, or its outcome, for the other process to read."""
    fields = asdict(message)
    object_code = fields.pop("object_code", b"")
    header = {"kind": type(message).__name__, "object_bytes": len(object_code), **fields}
    stream.write(json.dumps(header).encode() + b"\n" + object_code)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read what the other process sent, or None where the stream ends before it is whole."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    fields = json.loads(line)
    kind, size = _MESSAGES[fields.pop("kind")], fields.pop("object_bytes")
    object_code = stream.read(size)
    if len(object_code) < size:
        return None
    return kind(**fields, **({"object_code": object_code} if kind is CompiledKernel else {}))


def main() -> None:
    """Answer jobs in order until the input ends."""
    # Whatever prints must not end up between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while job := receive(sys.stdin.buffer):
        send(answers, do_job(job))


if __name__ == "__main__":
    main()
