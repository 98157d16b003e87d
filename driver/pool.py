"""Compiles or prices many kernels at once: in this process and in worker processes beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Self

from tilework.driver.worker import Job, Outcome, do_job
from tilework.driver.worker_process import WorkerProcess
from tilework.targets.cpu.host import physical_cores

FEWEST_JOBS_FOR_WORKERS = 3
"""A worker takes half a second to start: below this, compiling here is done sooner."""

OnDone = Callable[[int, Outcome], None]


class CompilePool:
    """`processes` compilers, this process being one of them. Workers start when first needed and end with the `with`.

    Ending kills them, so Ctrl-C ends a compilation at once; they write no files, hence leave none half written.
    """

    def __init__(self, processes: int | None = None):
        self._processes = processes or physical_cores()
        self._workers: list[WorkerProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Kill the workers."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def run(self, jobs: Sequence[Job], on_done: OnDone | None = None) -> list[Outcome]:
        """Do all `jobs`; the outcomes are in the order of the jobs.

        on_done(index, outcome) is called in this thread after each; what it raises ends the run.
        """
        run = _Run(jobs, on_done)
        try:
            for worker in self._started(len(jobs)):
                run.serve(worker)
            run.work_here()
        except BaseException:
            self.close()
            raise
        self._workers = [worker for worker in self._workers if worker.is_alive]
        return [run.outcomes[index] for index in range(len(jobs))]

    def _started(self, jobs: int) -> list[WorkerProcess]:
        wanted = min(self._processes, jobs) - 1 if jobs >= FEWEST_JOBS_FOR_WORKERS else 0
        while len(self._workers) < wanted:
            self._workers.append(WorkerProcess())
        return self._workers[:wanted]


class _Run:
    """One batch of jobs: a queue that this process and a thread per worker take from, and the outcomes."""

    def __init__(self, jobs: Sequence[Job], on_done: OnDone | None):
        self.jobs = jobs
        self.outcomes: dict[int, Outcome] = {}
        self._on_done = on_done
        self._waiting = deque(sorted(range(len(jobs)), key=lambda index: -jobs[index].cost))
        self._finished: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()

    def serve(self, worker: WorkerProcess) -> None:
        """Let a worker take jobs, in a thread that mostly waits for its answers."""
        Thread(target=self._serve, args=(worker,), daemon=True).start()

    def work_here(self) -> None:
        """Do jobs in this thread too, until every job has its outcome."""
        while len(self.outcomes) < len(self.jobs):
            index = self._next()
            if index is not None:
                self._finish(index, do_job(self.jobs[index]))
            self._collect(wait=index is None)

    def _serve(self, worker: WorkerProcess) -> None:
        while worker.is_alive and (index := self._next()) is not None:
            self._finished.put((index, worker.do(self.jobs[index])))

    def _next(self) -> int | None:
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _collect(self, wait: bool) -> None:
        """Take in the workers' outcomes; with `wait`, at least one, where any is still to come."""
        while len(self.outcomes) < len(self.jobs):
            try:
                self._finish(*self._finished.get(block=wait))
            except Empty:
                return
            wait = False

    def _finish(self, index: int, outcome: Outcome) -> None:
        self.outcomes[index] = outcome
        if self._on_done:
            self._on_done(index, outcome)
