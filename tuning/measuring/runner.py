"""Runs candidates on this machine: the side of the parent of `tilework.tuning.measuring.server`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Timer
from types import TracebackType
from typing import Any, Self

from tilework.plugins.packages import child_environment
from tilework.tuning.measuring.base import Workload
from tilework.tuning.measuring.data import inputs_of
from tilework.tuning.measuring.forks import COMPILE_SECONDS, START_SECONDS
from tilework.tuning.measuring.messages import receive, send
from tilework.tuning.measuring.outcome import Code, Failure, Outcome

GRACE_SECONDS = 5.0
"""So much longer than the server kills a candidate its parent waits for the server's answer."""


class LocalRunner:
    """Runs code on one workload in a process of its own; a process that does not answer is replaced."""

    slots = 1
    """Two at a time would disturb each other."""

    def __init__(self, workload: Workload, threads: int):
        self.workload = workload
        self.threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._reference: Code | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """End the process, and all that it runs."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # the candidate that it runs is in its group
            self._process.wait()
            self._process = None

    def set_reference(self, code: Code, seconds: float) -> Outcome:
        """Run the code that says what is right, once. Where it fails, the next code that runs says so."""
        outcome = self._measured(code, seconds, best=None, once=True)
        if outcome.seconds is not None:
            self._reference = code
        return outcome

    def measure(self, code: Code, seconds: float, best: float | None = None) -> Outcome:
        """How long the code takes; at most so many seconds go by. best: what is hopelessly slower is run once."""
        return self._measured(code, seconds, best, once=False)

    def _measured(self, code: Code, seconds: float, best: float | None, *, once: bool) -> Outcome:
        message = {
            "kind": "code",
            "target": code.target,
            "entry": code.entry,
            "scratch": code.scratch,
            "threads": self.threads,
            "seconds": seconds,
            "best": best,
            "once": once,
        }
        answer = self._asked(message, code.object_code, seconds + START_SECONDS + COMPILE_SECONDS + GRACE_SECONDS)
        if answer is None:
            return Outcome(None, Failure.CONNECTION, "the process that measures does not answer")
        failure = answer.get("failure")
        return Outcome(answer["seconds"], None if failure is None else Failure(failure), answer.get("message", ""))

    def _asked(self, message: Mapping[str, Any], data: bytes, seconds: float) -> dict[str, Any] | None:
        """The server's answer; None where it dies or is silent, and is replaced before the next message."""
        process = self._started()
        assert process is not None and process.stdin and process.stdout
        clock = Timer(seconds, process.kill)
        clock.start()
        try:
            send(process.stdin, message, data)
            received = receive(process.stdout)
        except OSError:
            received = None
        finally:
            clock.cancel()
        if received is None:
            self.close()
            return None
        return received[0]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tilework.tuning.measuring.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=child_environment(),
        )
        arguments = [{"dtype": spec.dtype, "shape": spec.shape} for spec in self.workload.arguments]
        task = {
            "kind": "task",
            "arguments": arguments,
            "inputs": self.workload.inputs,
            "allowed": self.workload.allowed,
        }
        self._asked(task, b"".join(array.tobytes() for array in inputs_of(self.workload)), 60.0)
        if self._reference is not None:
            self.set_reference(self._reference, 60.0)
        return self._process
