"""A pool as those see it who use it: what there is, and tasks that are given to it and always come back.

A task that hangs is ended by its worker; a worker that hangs, by the scheduler. What is left is for this side: where a
worker does not give a task back in time it is started anew, and where that fails nothing is sent to it any more.
"""

# Dask has few types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import dask.config
from distributed import Client, Future
from distributed.scheduler import KilledWorker, NoValidWorkerError, NoWorkerError

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean
from tilework.runtime.cache import source_hash
from tilework.tuning.pool.address import PoolAddress
from tilework.tuning.pool.certificates import security_with
from tilework.tuning.pool.greeting import ANSWER_SECONDS, check_answers
from tilework.tuning.pool.messages import Message
from tilework.tuning.pool.serve import RETURN_SECONDS
from tilework.tuning.pool.worker import ABOUT, BUILDER, resource_of

LOOK_SECONDS = 2.0
"""How often it is asked where a task is that has not come back."""

_MESSAGES = ["dask", "msgpack"]
"""How arguments and results travel: as bytes, numbers, texts; nothing else is taken."""

_LARGE_ARGUMENTS = {"distributed.admin.large-graph-warning-threshold": "1TB"}
"""A program comes once, with all of its weights: Dask need not warn of that."""

_log = logging.getLogger("tilework")


class WorkerDied(TileworkError):
    """The process that a task was given to is no more, or does not give it back."""


class NothingLeft(TileworkError):
    """No worker of some kind is left."""


@dataclass(frozen=True)
class Member:
    """A worker of a pool: a slot of a device, or builders. busy: how many tasks it has."""

    address: str
    device: str
    board: str
    target: str
    builders: int
    sources: str
    busy: int

    @property
    def place(self) -> str:
        """The worker in messages."""
        return f"board '{self.board}'" if self.board else self.address


class Pool:
    """A connection to a pool, which ends with the `with`. Raises TileworkError where nobody answers."""

    def __init__(self, address: PoolAddress):
        self.address = address
        self._lost: dict[str, str] = {}
        """Workers that get nothing any more, by address, and why."""
        security = security_with(address.certificates)
        check_answers(address, security)
        try:
            self._client = Client(
                str(address),
                security=security,
                timeout=ANSWER_SECONDS,
                serializers=_MESSAGES,
                deserializers=_MESSAGES,
                set_as_default=False,
            )
        except (OSError, TimeoutError) as error:
            raise TileworkError(f"no pool answers at {address}: {_reason(error)}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._client.close(timeout=ANSWER_SECONDS)

    def members(self) -> list[Member]:
        """Its workers. Raises TileworkError where the pool does not answer."""
        workers = self._told(self._scheduler.identity, n_workers=-1)["workers"]
        return [_member(address, worker) for address, worker in workers.items() if ABOUT in worker]

    def devices(self, name: str) -> list[Member]:
        """The slots of a device. Raises UsageError where there is none, or they cannot work for this client."""
        members = self.members()
        found = [member for member in members if member.device == name]
        if not found:
            known = sorted({member.device for member in members if member.device})
            there = did_you_mean(name, known) or f"; there are {', '.join(known) or 'none'}"
            raise UsageError(f"the pool at {self.address} has no device '{name}'{there}")
        targets = {member.target for member in found}
        if len(targets) > 1:
            raise UsageError(
                f"the devices called '{name}' are not alike, so that their times cannot be compared: "
                + " and ".join(sorted(targets))
            )
        _check_sources(found)
        return found

    def builders(self) -> int:
        """How many kernels it compiles at a time. Raises UsageError where it compiles none."""
        found = [member for member in self.members() if member.builders]
        if not found:
            raise UsageError(f"the pool at {self.address} compiles nothing: start or join it with --builders 1 or more")
        _check_sources(found)
        return sum(member.builders for member in found)

    def on_device(self, device: str, function: Callable[..., Message], *arguments: Any, seconds: float) -> Message:
        """What a device answers; see `_answer`. A board that does not answer any more is left out from now on.

        Raises NothingLeft where no device of that name is left.
        """
        while True:
            workers = self._left(f"device '{device}'", lambda member: member.device == device)
            future = self._submitted(function, arguments, {resource_of(device): 1}, workers)
            answer = self._answer(future, seconds)
            if "lost" not in answer:
                return answer
            self._leave_out(answer["worker"], answer["lost"])

    def on_builder(self, function: Callable[..., Message], *arguments: Any, seconds: float) -> Message:
        """What a builder answers; see `_answer`. Raises NothingLeft where no builder is left."""
        workers = self._left("builder", lambda member: member.builders > 0)
        return self._answer(self._submitted(function, arguments, {BUILDER: 1}, workers), seconds)

    # -- tasks

    def _submitted(
        self,
        function: Callable[..., Message],
        arguments: tuple[Any, ...],
        resources: Mapping[str, int],
        workers: list[str] | None,
    ) -> Future[Message]:
        with dask.config.set(_LARGE_ARGUMENTS):
            return self._client.submit(function, *arguments, resources=resources, workers=workers, pure=False)

    def _answer(self, future: Future[Message], seconds: float) -> Message:
        """What a task returns. It may take so long once its turn has come.

        Raises WorkerDied where its worker dies or does not give it back, TileworkError where the pool does not answer.
        """
        given, queue = time.monotonic(), 1
        while True:
            try:
                return future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                worker, before = self._whereabouts(future)
                queue = max(queue, before)
            except (KilledWorker, NoValidWorkerError, NoWorkerError) as error:
                raise WorkerDied(f"its worker in the pool died ({type(error).__name__})") from None
            except CancelledError:
                raise TileworkError(f"the pool at {self.address} has ended, or the connection to it") from None
            if worker and time.monotonic() - given > queue * seconds:
                future.cancel()
                self._give_up(worker, seconds)

    def _whereabouts(self, future: Future[Message]) -> tuple[str, int]:
        """The worker that a task was given to, none while there is none, and how many tasks that has."""
        tasks: Mapping[str, Any] = self._told(self._scheduler.processing, workers=None)
        return next(((worker, len(keys)) for worker, keys in tasks.items() if future.key in keys), ("", 1))

    def _give_up(self, worker: str, seconds: float) -> None:
        """Have a worker started anew that does not give a task back."""
        told = f"a task did not come back within {seconds:.0f} s"
        try:
            ended: Any = self._client.restart_workers([worker], timeout=ANSWER_SECONDS, raise_for_error=False)
        except (OSError, TimeoutError, CancelledError) as error:
            ended = {worker: _reason(error)}
        if ended.get(worker) != "OK":
            self._leave_out(worker, told)
        raise WorkerDied(f"its worker in the pool was ended: {told}")

    def _left(self, what: str, is_one: Callable[[Member], bool]) -> list[str] | None:
        """The workers of some kind that may be given something; None where all may.

        One that died is waited for: its nanny starts it anew. Raises NothingLeft where none is left.
        """
        until = time.monotonic() + RETURN_SECONDS
        while True:
            there = [member.address for member in self.members() if is_one(member)]
            left = [address for address in there if address not in self._lost]
            if left:
                return left if self._lost else None
            if there or time.monotonic() > until:
                why = "; ".join(dict.fromkeys(self._lost.values())) or "its workers are gone"
                raise NothingLeft(f"the pool at {self.address} has no {what} any more: {why}")
            time.sleep(0.2)

    def _leave_out(self, worker: str, why: str) -> None:
        if worker not in self._lost:
            self._lost[worker] = why
            _log.warning("%s is lost: %s", worker, why)

    @property
    def _scheduler(self) -> Any:
        """What questions are asked of."""
        return self._client.scheduler

    def _told(self, question: Callable[..., Any], **arguments: Any) -> Any:
        """What the scheduler answers to a question about itself."""
        try:
            return self._client.sync(question, callback_timeout=ANSWER_SECONDS, **arguments)
        except (OSError, TimeoutError, CancelledError) as error:
            raise TileworkError(f"the pool at {self.address} does not answer: {_reason(error)}") from None


def _member(address: str, worker: Mapping[str, Any]) -> Member:
    about = worker[ABOUT]
    counts = worker["metrics"].get("task_counts", {})
    busy = sum(count for state, count in counts.items() if state in ("executing", "constrained", "ready"))
    device, board, target = (str(about.get(key, "")) for key in ("device", "board", "target"))
    return Member(address, device, board, target, int(about.get("builders", 0)), str(about["sources"]), busy)


def _check_sources(members: list[Member]) -> None:
    """Raise TileworkError where a worker is another Tilework than this process: both must agree."""
    for member in members:
        if member.sources != source_hash():
            raise TileworkError(
                f"{member.place} runs other sources of Tilework than this machine, or other plugins: install the same"
            )


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
