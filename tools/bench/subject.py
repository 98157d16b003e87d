"""What is timed runs in a process of its own: thread pools do not meet, and one that fails does not take all along.

`Subject` is such a process seen from outside, `python -m tilework.tools.bench.subject KIND JSON` from inside: it
prepares what is to run, says so in a line of JSON, and then does what each line of JSON on stdin asks for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from time import perf_counter
from typing import IO, Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import child_environment
from tilework.tools.bench.engines import YARDSTICKS, Array, load_tilework
from tilework.tools.bench.feeds import random_feeds
from tilework.tools.bench.meters import Meter, multiply_adds, stream


class SubjectError(TileworkError):
    """A subject could not be prepared, or failed: in its own words, one line."""


class Subject:
    """A process that runs one thing again and again, whenever it is its turn. Use it in a `with` statement."""

    def __init__(self, kind: str, **arguments: Any):
        command = [sys.executable, "-P", "-m", "tilework.tools.bench.subject", kind, json.dumps(arguments)]
        self.kind = kind
        self._said = TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env=child_environment(),
        )

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        self._said.close()

    def prepared(self) -> dict[str, Any]:
        """Wait until it can run; what there is to know of it. Raises SubjectError where it cannot."""
        return self._answer()

    def milliseconds(self, seconds: float) -> list[float]:
        """Run it for about that long, at least once, and once before that does not count: the time of every run."""
        return self._ask(do="block", seconds=seconds)["milliseconds"]

    def keep_to(self, cores: Collection[int]) -> None:
        """Let all its threads run on these processors only. Does nothing on a system that cannot."""
        threads = f"/proc/{self._process.pid}/task"
        for thread in os.listdir(threads) if os.path.isdir(threads) else ():
            with suppress(OSError):  # it has ended meanwhile, or that is not allowed
                os.sched_setaffinity(int(thread), cores)

    def save(self, path: str) -> None:
        """Run it once more and write its results to an .npz file, in order."""
        self._ask(do="save", path=path)

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, as the missing answer tells
            print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SubjectError(f"{self.kind} ended with status {self._process.wait()}{self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise SubjectError(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().split("\n")
        return next((f": {line.strip()}" for line in reversed(lines) if line.strip()), "")


# ---- The process -----------------------------------------------------------------------------------------------------

Results = Sequence[Array]
Prepared = tuple[Callable[[], Results], dict[str, Any]]
"""What to run, and what there is to know of it."""


def _tilework(artefact: str, model: str, dims: Mapping[str, int], threads: int) -> Prepared:
    from importlib.metadata import version

    feeds = random_feeds(artefact, dims)
    run = load_tilework(artefact, threads)
    return lambda: run(feeds), {"version": version("tilework")}


def _yardstick(name: str) -> Callable[..., Prepared]:
    def prepare(artefact: str, model: str, dims: Mapping[str, int], threads: int) -> Prepared:
        feeds = random_feeds(artefact, dims)
        run = YARDSTICKS[name].load(model, threads)
        return lambda: run(feeds), {"version": YARDSTICKS[name].version}

    return prepare


def _meter(measure: Callable[[int], Meter]) -> Callable[..., Prepared]:
    def prepare(threads: int) -> Prepared:
        run, amount = measure(threads)
        return run, {"amount": amount}

    return prepare


class _Profile:
    """Runs an artefact that takes the time of its calls; the results are those times, an array for every run so far."""

    def __init__(self, artefact: str, model: str, dims: Mapping[str, int], threads: int):
        self._run, self._feeds = load_tilework(artefact, threads), random_feeds(artefact, dims)
        self._ticks: list[Array] = []

    def __call__(self) -> Results:
        *_, ticks = self._run(self._feeds)
        self._ticks.append(ticks)
        return self._ticks


def _kernels(**arguments: Any) -> Prepared:
    return _Profile(**arguments), {}


KINDS: dict[str, Callable[..., Prepared]] = {
    "tilework": _tilework,
    **{name: _yardstick(name) for name in YARDSTICKS},
    "kernels": _kernels,
    "multiply-adds": _meter(multiply_adds),
    "stream": _meter(stream),
}


def main() -> None:
    """Prepare what the arguments name, then serve stdin until it ends."""
    answers = _private_stdout()
    try:
        run, known = KINDS[sys.argv[1]](**json.loads(sys.argv[2]))
        run()  # what fails, fails before the clock is started
        print(json.dumps(known), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(_serve(run, json.loads(line))), file=answers, flush=True)
    except Exception as error:  # whatever an engine throws is its answer
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        print(json.dumps({"error": said}), file=answers, flush=True)


def _private_stdout() -> IO[str]:
    """Stdout for the answers alone: what engines print goes where their errors go."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _serve(run: Callable[[], Results], request: Mapping[str, Any]) -> dict[str, Any]:
    if request["do"] == "save":
        np.savez(request["path"], *map(_plain, run()))
        return {}
    return {"milliseconds": timed_block(run, request["seconds"])}


def _plain(array: Array) -> Array:
    """What numpy can save: bfloat16 is not its own."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def timed_block(run: Callable[[], object], seconds: float) -> list[float]:
    """Milliseconds of single runs, for about that many seconds."""
    run()  # wakes threads, fills caches
    taken: list[float] = []
    end = perf_counter() + seconds
    while True:
        start = perf_counter()
        run()
        now = perf_counter()
        taken.append(1000 * (now - start))
        if now > end:
            return taken


if __name__ == "__main__":
    main()
