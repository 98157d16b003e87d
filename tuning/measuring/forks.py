"""Child processes of the process that measures: what a candidate does to one of them costs the candidate only."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from tilework.algebra.errors import TileworkError
from tilework.tuning.measuring.messages import receive, send
from tilework.tuning.measuring.outcome import Failure

START_SECONDS = 60.0
"""So long the driver of a device may take to start, beside what the first candidate takes."""

COMPILE_SECONDS = 12.0
"""So long it may take to make code of a candidate's source, beside what the candidate takes."""

Answer = dict[str, Any]


def failed(failure: Failure, message: str) -> Answer:
    """The answer of a candidate that has no time."""
    return {"seconds": None, "failure": failure.value, "message": message}


def in_fork(work: Callable[[], Answer], seconds: float) -> Answer:
    """What a function returns in a child process that is killed after so long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, json.dumps(_answer(work)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        late = not select.select([answers], [], [], seconds)[0]
        if late:
            os.kill(child, signal.SIGKILL)
        text = b"" if late else answers.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else _without_answer(late, seconds, status)


class LastingFork:
    """A child process that runs one candidate after the other, and so starts the driver of a device once.

    It starts when it is first asked, with what this process knows then, and again after a candidate that ended it.
    """

    def __init__(self, work: Callable[[Mapping[str, Any], bytes], Answer]):
        self._work = work
        self._child = 0

    def asked(self, message: Mapping[str, Any], data: bytes, seconds: float) -> Answer:
        """What the function returns there for a message; the child is killed after so long."""
        allowed = seconds + COMPILE_SECONDS
        if not self._child:
            self._start()
            allowed += START_SECONDS
        try:
            send(self._to, message, data)
            late = not select.select([self._from], [], [], allowed)[0]
        except BrokenPipeError:
            late = False
        received = None if late else receive(self._from)
        return self._ended(late, seconds) if received is None else received[0]

    def _start(self) -> None:
        (tasks, self_to), (self_from, answers) = os.pipe(), os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self_to)
            os.close(self_from)
            with os.fdopen(tasks, "rb") as stream, os.fdopen(answers, "wb") as results:
                while received := receive(stream):
                    send(results, _answer(partial(self._work, *received)))
            os._exit(0)
        os.close(tasks)
        os.close(answers)
        self._to, self._from = os.fdopen(self_to, "wb"), os.fdopen(self_from, "rb")

    def _ended(self, late: bool, seconds: float) -> Answer:
        """Why there is no answer; the child is gone then."""
        os.kill(self._child, signal.SIGKILL)
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        self._from.close()
        with suppress(BrokenPipeError):  # what the child has not read is lost
            self._to.close()
        return _without_answer(late, seconds, status)


def _answer(work: Callable[[], Answer]) -> Answer:
    """What a function of a child returns, or what it raises."""
    try:
        return work()
    except TileworkError as error:
        return failed(Failure.RUN, str(error))
    except MemoryError:
        return failed(Failure.RUN, "there is not enough memory")
    except BaseException as error:
        return failed(Failure.RUN, f"{type(error).__name__}: {error}")


def _without_answer(late: bool, seconds: float, status: int) -> Answer:
    if late:
        return failed(Failure.RUN_TIMEOUT, f"it ran for more than {seconds:.1f} s")
    ending = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}"
    return failed(Failure.RUN, f"the process that ran it died ({ending})")
