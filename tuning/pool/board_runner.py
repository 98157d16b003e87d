"""Runs candidates on a board: a static program for each, linked here."""

from __future__ import annotations

import json
from math import prod
from signal import SIGALRM, Signals
from types import TracebackType
from typing import Any, Self

from tilework.algebra.errors import TileworkError
from tilework.runtime.compatibility import check_runs_on
from tilework.runtime.tensor_spec import TensorSpec
from tilework.targets import parse_target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.measuring.base import Workload
from tilework.tuning.measuring.data import inputs_of
from tilework.tuning.measuring.outcome import Code, Failure, Outcome
from tilework.tuning.measuring.runner import GRACE_SECONDS
from tilework.tuning.measuring.server import (
    ENOUGH_SECONDS,
    FEWEST_SAMPLES,
    HOPELESS,
    MOST_IN_A_SAMPLE,
    MOST_SAMPLES,
    SAMPLE_SECONDS,
    difference,
)
from tilework.tuning.pool.boards import Board
from tilework.tuning.pool.executable import Buffer, Linker, kernel_source
from tilework.tuning.pool.messages import bytes_of
from tilework.tuning.pool.shell import BoardLost, Done, Shell

_SAMPLING = {
    "enough": ENOUGH_SECONDS,
    "sample": SAMPLE_SECONDS,
    "most_in_a_sample": MOST_IN_A_SAMPLE,
    "fewest": FEWEST_SAMPLES,
    "most": MOST_SAMPLES,
}
"""How the least time is found: as on a machine with Python."""

REFERENCE_SECONDS = 60.0
"""So long the code that says what is right may run in a new folder of the board."""


class BoardRunner:
    """Runs code on one workload on a board; what the workload consists of is copied there once."""

    slots = 1

    def __init__(self, shell: Shell, linker: Linker, workload: Workload, threads: int):
        self.threads = threads
        self._shell, self._linker, self._workload = shell, linker, workload
        self._reference: Code | None = None
        self._name = shell.new_name()
        self._folder = ""
        """Where the inputs are, and the results of the reference."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Remove its files; the shell is somebody else's."""
        self._shell.discard(self._name)

    def set_reference(self, code: Code, seconds: float) -> Outcome:
        """Run the code that says what is right, once. Raises BoardLost, as `measure` does."""
        self._reference = None
        return self._measured(code, seconds, [])

    def measure(self, code: Code, seconds: float, best: float | None = None) -> Outcome:
        """How long the code takes; the board ends it after so many seconds. Raises BoardLost."""
        options = [f"{name}={value}" for name, value in _SAMPLING.items()]
        if best is not None:
            options.append(f"hopeless={HOPELESS * best + 1e-3}")
        return self._measured(code, seconds, options)

    def _measured(self, code: Code, seconds: float, options: list[str]) -> Outcome:
        """The first code that runs says what is right."""
        if self._reference is not None:
            options = [*options, f"expected={self._name}right", f"allowed={self._workload.allowed}"]
            return self._outcome(code, seconds, options)
        outcome = self._outcome(code, seconds, [*options, f"outputs={self._name}right"])
        if outcome.seconds is not None:
            self._reference = code
        return outcome

    def _outcome(self, code: Code, seconds: float, options: list[str]) -> Outcome:
        try:
            refuse_foreign(code.target, self._shell.board)
            program = self._linker.program([code.object_code], self._source(code))
        except TileworkError as error:
            return Outcome(None, Failure.RUN, str(error))
        self._prepare()
        self._shell.put(f"{self._name}candidate", program)
        options = [*options, f"inputs={self._name}inputs", f"threads={self.threads}"]
        return self._read(answer_of(run_program(self._shell, f"{self._name}candidate", seconds, options), seconds))

    def _prepare(self) -> None:
        """Copy the inputs, and make the results that are right, where this folder of the board lacks them."""
        folder = self._shell.folder
        if folder == self._folder:
            return
        self._shell.put(f"{self._name}inputs", bytes_of(inputs_of(self._workload)))
        self._folder = folder
        if self._reference is not None:
            outcome = self._outcome(self._reference, REFERENCE_SECONDS, [f"outputs={self._name}right"])
            if outcome.seconds is None:
                self._folder = ""
                place = self._shell.board.place
                raise BoardLost(f"{place} no longer runs the code that says what is right: {outcome.message}")

    def _source(self, code: Code) -> str:
        specs = self._workload.arguments
        roles = ["INPUT" if i < self._workload.inputs else "OUTPUT" for i in range(len(specs))]
        buffers = [_buffer(role, spec) for role, spec in zip(roles, specs, strict=True)]
        return kernel_source(code.entry, [*buffers, *(Buffer("SCRATCH", "uint8", size) for size in code.scratch)])

    def _read(self, answer: dict[str, Any]) -> Outcome:
        if "seconds" in answer:
            seconds = answer["seconds"]
            return Outcome(seconds) if seconds > 0 else Outcome(None, Failure.NO_TIME, "the clock saw no time pass")
        failure, message = Failure(answer["failure"]), answer.get("message", "")
        if failure is Failure.WRONG_ANSWER:
            spec = self._workload.arguments[self._workload.inputs + int(answer["output"])]
            shape = [int(dim) for dim in spec.shape]
            message = difference(answer["output"], answer["element"], shape, answer["found"], answer["right"])
        return Outcome(None, failure, message)


def run_program(shell: Shell, name: str, seconds: float, options: list[str]) -> Done:
    """Run a program that was linked with `c/board.c`; it ends itself after so many seconds."""
    words = [f"./{name}", f"seconds={seconds}", *options]
    return shell.run(" ".join(words), seconds + GRACE_SECONDS)


def answer_of(done: Done, seconds: float) -> dict[str, Any]:
    """The line that a program printed; a failure where it printed none."""
    if done.status == -SIGALRM:
        return {"failure": Failure.RUN_TIMEOUT.value, "message": f"it ran for more than {seconds:.1f} s"}
    if done.status < 0:
        signal = Signals(-done.status).name if -done.status in set(Signals) else f"signal {-done.status}"
        return {"failure": Failure.RUN.value, "message": f"the process that ran it died ({signal})"}
    try:
        return json.loads(done.output)
    except ValueError:
        said = done.errors.partition("\n")[0] or f"exit status {done.status}"
        return {"failure": Failure.RUN.value, "message": f"the board does not run the program: {said}"}


def refuse_foreign(target: str, board: Board) -> None:
    """Raise TileworkError for code that the board's processor does not run."""
    there = CpuTarget.of(parse_target(board.target), "llvm")
    try:
        check_runs_on(CpuTarget.of(parse_target(target), "llvm"), there)
    except TileworkError as error:
        raise TileworkError(f"{board.place}: {error}") from None


def _buffer(role: str, spec: TensorSpec) -> Buffer:
    return Buffer(role, spec.dtype, prod(int(dim) for dim in spec.shape))
