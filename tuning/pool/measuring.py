"""Builds and measures candidates in a pool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from threading import Lock
from types import TracebackType
from typing import Self
from uuid import uuid4

from tilework.runtime.threads import get_num_threads
from tilework.tuning.measuring.base import Built, Workload
from tilework.tuning.measuring.outcome import Code, Failure, Outcome
from tilework.tuning.pool import tasks
from tilework.tuning.pool.address import PoolAddress
from tilework.tuning.pool.client import Pool, WorkerDied
from tilework.tuning.pool.messages import (
    Message,
    digest_of,
    message_of_code,
    message_of_workload,
    outcome_in,
)
from tilework.tuning.task import Task

DEATHS = 2
"""A candidate under which so many workers died is given up."""

MARGIN_SECONDS = 30.0
"""So much longer than a worker gives a task its answer is waited for."""


class PoolBuilder:
    """Compiles candidates on the builders of a pool."""

    def __init__(self, pool: Pool, task: Task):
        self.task = task
        self._pool = pool
        self._at_a_time = pool.builders()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Nothing is left to be done: the pool's processes are its own."""

    def build(self, texts: Sequence[str], seconds: float) -> list[Built]:
        """The code of schedules; each may take so many seconds."""
        with ThreadPoolExecutor(2 * self._at_a_time) as threads:
            return list(threads.map(partial(self._built, seconds=seconds), texts))

    def _built(self, text: str, seconds: float) -> Built:
        outcome = Outcome(None, Failure.CONNECTION)
        for _ in range(DEATHS):
            try:
                answer = self._pool.on_builder(
                    tasks.build, text, self.task.entry, seconds, seconds=seconds + MARGIN_SECONDS
                )
            except WorkerDied as error:
                outcome = Outcome(None, Failure.CONNECTION, str(error))
                continue
            if "object" in answer:
                return self.task.code(answer["object"], answer["metadata"]), None, answer["taken"]
            return None, outcome_in(answer), answer["taken"]
        return None, outcome, 0.0


class PoolRunner:
    """Runs code on one workload on all slots of a device of a pool."""

    def __init__(self, pool: Pool, device: str, workload: Workload, threads: int):
        self.threads = threads
        self.slots = len(pool.devices(device))
        self._pool, self._device, self._workload = pool, device, workload
        self._setup = _Setup(workload, None)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Nothing is left to be done: devices forget workloads by themselves."""

    def set_reference(self, code: Code, seconds: float) -> Outcome:
        """Run the code that says what is right, once. Where it fails, the next code that runs says so."""
        self._setup = _Setup(self._workload, None)
        return self._kept(code, self._measured(code, seconds, 0.0))

    def measure(self, code: Code, seconds: float, best: float | None = None) -> Outcome:
        """How long the code takes; it may run for so many seconds. best: what is hopelessly slower is run once.

        Raises TileworkError where no device is left, or the pool does not answer.
        """
        return self._kept(code, self._measured(code, seconds, best))

    def _kept(self, code: Code, outcome: Outcome) -> Outcome:
        """The outcome. The first code that runs says on all devices what is right."""
        with self._lock:
            if outcome.seconds is not None and self._setup.reference is None:
                self._setup = _Setup(self._workload, code)
        return outcome

    def _measured(self, code: Code, seconds: float, best: float | None) -> Outcome:
        setup = self._setup
        request = {
            "setup": setup.digest,
            "threads": self.threads,
            "code": message_of_code(code),
            "seconds": seconds,
            "best": best,
        }
        outcome = Outcome(None, Failure.CONNECTION)
        for _ in range(DEATHS):
            try:
                outcome = outcome_in(self._asked(request, setup))
            except WorkerDied as error:
                outcome = Outcome(None, Failure.CONNECTION, str(error))
            if outcome.failure is not Failure.CONNECTION:
                return outcome
        return outcome

    def _asked(self, request: Message, setup: _Setup) -> Message:
        limit = request["seconds"] + tasks.OVERHEAD_SECONDS + MARGIN_SECONDS
        answer = self._pool.on_device(self._device, tasks.measure, request, None, seconds=limit)
        if "unknown" in answer:
            answer = self._pool.on_device(self._device, tasks.measure, request, setup.message, seconds=limit)
        return answer


class PoolSite:
    """The builders of a pool, and its devices of one name."""

    def __init__(self, address: PoolAddress, device: str):
        self._device = device
        self._pool = Pool(address)
        try:
            self.target = self._pool.devices(device)[0].target
            self._pool.builders()
        except BaseException:
            self._pool.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._pool.close()

    def builder(self, task: Task) -> PoolBuilder:
        """What compiles candidates."""
        return PoolBuilder(self._pool, task)

    def runner(self, task: Task) -> PoolRunner:
        """What runs them, with as many threads as this process would."""
        return PoolRunner(self._pool, self._device, task, get_num_threads())


class _Setup:
    """A workload and the code that says what is right, as devices are sent them."""

    def __init__(self, workload: Workload, reference: Code | None):
        self.workload = workload
        self.reference = reference

    @cached_property
    def message(self) -> Message:
        """All of it."""
        reference = None if self.reference is None else message_of_code(self.reference)
        return {"workload": message_of_workload(self.workload), "reference": reference}

    @cached_property
    def digest(self) -> str:
        """What stands for it."""
        workload = json.dumps(self.message["workload"])
        right = (
            uuid4().bytes if self.reference is None else self.reference.object_code
        )  # else others' results are right
        return digest_of(workload.encode(), right)
