"""Builds candidates in compiler processes; one that takes too long is killed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from threading import Event, Thread, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tilework.driver.worker import CompiledKernel, KernelJob
from tilework.driver.worker_process import WorkerProcess
from tilework.tuning.measuring.base import Built
from tilework.tuning.measuring.outcome import Failure, Outcome

if TYPE_CHECKING:
    from tilework.tuning.task import Task


class TimedCompiler:
    """A compiler process that starts when it is first needed, and is killed where it takes too long."""

    def __init__(self):
        self._process: WorkerProcess | None = None

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def compiled(self, text: str, entry: str, seconds: float) -> tuple[CompiledKernel | Outcome, float]:
        """The code of a kernel, or why there is none; and how long it took."""
        process = self._process
        if process is None or not process.is_alive:
            process = self._process = WorkerProcess()
        late = Event()

        def end() -> None:
            late.set()
            process.kill()

        clock = Timer(seconds, end)
        clock.start()
        before = time.monotonic()
        outcome = process.do(KernelJob(text, entry))
        clock.cancel()
        taken = time.monotonic() - before
        if isinstance(outcome, CompiledKernel):
            return outcome, taken
        if late.is_set():
            return Outcome(None, Failure.BUILD_TIMEOUT, f"it took more than {seconds:.0f} s to compile", taken), taken
        kind = Failure.ILLEGAL if getattr(outcome, "trace", None) is None else Failure.BUILD
        return Outcome(None, kind, getattr(outcome, "message", ""), taken), taken


class LocalBuilder:
    """So many compiler processes, which start when they are first needed and end with the `with`."""

    def __init__(self, task: Task, processes: int):
        self.task = task
        self._compilers = [TimedCompiler() for _ in range(processes)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Kill the processes."""
        for compiler in self._compilers:
            compiler.close()

    def build(self, texts: Sequence[str], seconds: float) -> list[Built]:
        """The code of schedules; each may take so many seconds."""
        results: list[Built] = [(None, None, 0.0)] * len(texts)
        waiting = deque(range(len(texts)))

        def work(place: int) -> None:
            while True:
                try:
                    index = waiting.popleft()
                except IndexError:
                    return
                results[index] = self._built(place, texts[index], seconds)

        threads = [Thread(target=work, args=(place,), daemon=True) for place in range(len(self._compilers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def _built(self, place: int, text: str, seconds: float) -> Built:
        outcome, taken = self._compilers[place].compiled(text, self.task.entry, seconds)
        if isinstance(outcome, Outcome):
            return None, outcome, taken
        return self.task.code(outcome.object_code, outcome.metadata), None, taken
