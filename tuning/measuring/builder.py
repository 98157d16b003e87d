"""Builds candidates in compiler processes; one that takes too long is killed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from threading import Event, Thread, Timer
from types import TracebackType
from typing import Self

from tilework.driver.worker import CompiledKernel, KernelJob
from tilework.driver.worker_process import WorkerProcess
from tilework.tuning.measuring.outcome import Code, Failure, Outcome
from tilework.tuning.task import Task

Built = tuple[Code | None, Outcome | None, float]
"""The code, or why there is none; and how long it took."""


class LocalBuilder:
    """So many compiler processes, which start when they are first needed and end with the `with`."""

    def __init__(self, task: Task, processes: int):
        self.task = task
        self._workers: list[WorkerProcess | None] = [None] * processes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Kill the processes."""
        for at, worker in enumerate(self._workers):
            if worker is not None:
                worker.kill()
            self._workers[at] = None

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

        threads = [Thread(target=work, args=(place,), daemon=True) for place in range(len(self._workers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def _built(self, place: int, text: str, seconds: float) -> Built:
        worker = self._workers[place]
        if worker is None or not worker.is_alive:
            worker = self._workers[place] = WorkerProcess()
        late = Event()

        def end() -> None:
            late.set()
            worker.kill()

        clock = Timer(seconds, end)
        clock.start()
        before = time.monotonic()
        outcome = worker.do(KernelJob(text, self.task.entry))
        clock.cancel()
        taken = time.monotonic() - before
        if isinstance(outcome, CompiledKernel):
            return self.task.code(outcome.object_code, outcome.metadata), None, taken
        if late.is_set():
            message = f"it took more than {seconds:.0f} s to compile"
            return None, Outcome(None, Failure.BUILD_TIMEOUT, message, taken), taken
        kind = Failure.ILLEGAL if getattr(outcome, "trace", None) is None else Failure.BUILD
        return None, Outcome(None, kind, getattr(outcome, "message", ""), taken), taken
