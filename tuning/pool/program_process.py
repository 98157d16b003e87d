"""A program in a process of its own on this machine: the side of the parent of `program_server`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Event, Timer
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.plugins.packages import child_environment
from tilework.tuning.measuring.messages import receive, send
from tilework.tuning.pool.execution import Answer, Request
from tilework.tuning.pool.messages import message_of_arrays, named_arrays_in
from tilework.tuning.pool.programs import Program

LOADING_SECONDS = 60.0
"""So long a program may take to be loaded."""


class ProgramProcess:
    """Runs a program in a process that is killed where it takes too long, and is started anew after it died."""

    def __init__(self, program: Program):
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def run(self, request: Request) -> Answer:
        """Run the program. Raises TileworkError for what it refuses, and where it dies or takes too long."""
        if self._process is None:
            self._start()
            self._asked({"kind": self._program.kind}, self._program.content, LOADING_SECONDS)
        arrays = message_of_arrays(request.inputs)
        message = {"arrays": arrays["arrays"], "number": request.number, "repeat": request.repeat}
        answer = self._asked(message, arrays["data"], request.seconds)
        return Answer(named_arrays_in(answer), tuple(answer["times"]))

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tilework.tuning.pool.program_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=child_environment(),
        )

    def _asked(self, message: Mapping[str, Any], data: bytes, seconds: float) -> dict[str, Any]:
        """What the process answers. Raises TileworkError where that is an error, and where it does not answer."""
        process = self._process
        assert process is not None and process.stdin and process.stdout
        late = Event()

        def end() -> None:
            late.set()
            process.kill()

        clock = Timer(seconds, end)
        clock.start()
        try:
            send(process.stdin, message, data)
            received = receive(process.stdout)
        except OSError:
            received = None
        finally:
            clock.cancel()
        if received is None:
            raise self._death(late.is_set(), seconds)
        answer, content = received
        if "error" in answer:
            raise (UsageError if answer["usage"] else TileworkError)(answer["error"])
        return {**answer, "data": content}

    def _death(self, late: bool, seconds: float) -> TileworkError:
        assert self._process is not None
        status = self._process.wait()
        self.close()
        if late:
            return TileworkError(f"the program ran for more than {seconds:.1f} s, and was ended")
        cause = f"signal {-status}" if status < 0 else f"exit status {status}"
        return TileworkError(f"the process that ran the program died ({cause})")
