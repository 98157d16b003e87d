"""Answers what searches and users ask of a device: to measure a candidate, to run a program.

Whatever is large comes once and is kept. A message names it by its digest; the answer {"unknown": True} asks for it.
"""

from __future__ import annotations

from collections.abc import Callable

from tilework.algebra.errors import TileworkError, UsageError
from tilework.tuning.measuring.base import Runner
from tilework.tuning.measuring.outcome import Failure, Outcome
from tilework.tuning.pool.board_runner import REFERENCE_SECONDS
from tilework.tuning.pool.device import Device
from tilework.tuning.pool.execution import LoadedProgram, Request
from tilework.tuning.pool.messages import (
    Message,
    check_digest,
    code_in,
    message_of_arrays,
    message_of_outcome,
    named_arrays_in,
    workload_in,
)
from tilework.tuning.pool.programs import Program
from tilework.tuning.pool.recent import Recent
from tilework.tuning.pool.shell import BoardLost


class ServedDevice:
    """A device with the workloads and the programs that it was sent last.

    A board that does not answer is {"lost": why}: the fault is not the candidate's.
    """

    def __init__(self, device: Device):
        self.device = device
        self._runners = Recent[Runner]()
        self._programs = Recent[LoadedProgram]()

    def close(self) -> None:
        """End all that was started."""
        self._runners.close()
        self._programs.close()
        self.device.close()

    def measure(self, request: Message, setup: Message | None) -> Message:
        """What comes of a candidate. setup: the workload, and the code that says what is right, if that is known."""
        return _unless_lost(lambda: self._measured(request, setup))

    def execute(self, request: Message, content: bytes | None) -> Message:
        """What a program makes of inputs, and how long it takes. content: the program's."""
        return _unless_lost(lambda: self._executed(request, content))

    def _measured(self, request: Message, setup: Message | None) -> Message:
        key = f"{request['setup']} {request['threads']}"
        make = None if setup is None else lambda: self._runner(setup, request["threads"])
        try:
            runner = self._runners.get(key, make)
            if runner is None:
                return {"unknown": True}
            outcome = runner.measure(code_in(request["code"]), request["seconds"], request["best"])
        except BoardLost:
            raise
        except TileworkError as error:
            outcome = Outcome(None, Failure.RUN, str(error))
        return message_of_outcome(outcome)

    def _runner(self, setup: Message, threads: int) -> Runner:
        runner = self.device.runner(workload_in(setup["workload"]), threads)
        if setup["reference"] is not None:
            outcome = runner.set_reference(code_in(setup["reference"]), REFERENCE_SECONDS)
            if outcome.seconds is None:
                runner.close()
                raise TileworkError(f"the code that says what is right does not run on this device: {outcome.message}")
        return runner

    def _executed(self, request: Message, content: bytes | None) -> Message:
        digest = request["program"]
        try:
            program = self._programs.get(digest, None if content is None else lambda: self._loaded(request, content))
            if program is None:
                return {"unknown": True}
            asked = Request(
                named_arrays_in(request["inputs"]), request["seconds"], request["number"], request["repeat"]
            )
            answer = program.run(asked)
        except BoardLost:
            raise
        except TileworkError as error:
            return {"error": str(error), "usage": isinstance(error, UsageError)}
        return {"outputs": message_of_arrays(answer.outputs), "times": list(answer.times)}

    def _loaded(self, request: Message, content: bytes) -> LoadedProgram:
        program = Program(request["kind"], content)
        check_digest(program.digest, request["program"])
        return self.device.loaded(program)


def _unless_lost(work: Callable[[], Message]) -> Message:
    try:
        return work()
    except BoardLost as error:
        return {"lost": str(error)}
