"""A device, on the machine that it hangs on: this machine itself, or a board that is reached from here."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Protocol

from tilework.targets import target_to_compile_for
from tilework.tuning.measuring.base import Runner, Workload
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.pool.board_program import BoardProgram
from tilework.tuning.pool.board_runner import BoardRunner
from tilework.tuning.pool.boards import Board
from tilework.tuning.pool.executable import Linker
from tilework.tuning.pool.execution import LoadedProgram
from tilework.tuning.pool.program_process import ProgramProcess
from tilework.tuning.pool.programs import Program, opened
from tilework.tuning.pool.shell import Shell


class Device(Protocol):
    """What runs candidates and programs, one at a time."""

    @property
    def target(self) -> str:
        """What to compile for it."""
        ...

    def runner(self, workload: Workload, threads: int) -> Runner:
        """What runs candidates on a workload."""
        ...

    def loaded(self, program: Program) -> LoadedProgram:
        """A program, ready to run. Raises TileworkError for one that cannot run here."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


class ThisMachine:
    """The machine that this process runs on."""

    def __init__(self):
        self.target = str(target_to_compile_for("host"))

    def runner(self, workload: Workload, threads: int) -> Runner:
        """A process that runs each candidate in a fork."""
        return LocalRunner(workload, threads)

    def loaded(self, program: Program) -> LoadedProgram:
        """A process of the program's own."""
        return ProgramProcess(program)

    def close(self) -> None:
        """Nothing is left: runners and programs have ends of their own."""


class BoardDevice:
    """A board, with one connection for all that runs on it."""

    def __init__(self, board: Board):
        self.target = board.target
        self._held = ExitStack()
        self._shell = self._held.enter_context(Shell(board))
        self._linker = self._held.enter_context(Linker(board.compiler))

    def runner(self, workload: Workload, threads: int) -> Runner:
        """Programs that are linked here and run there."""
        return BoardRunner(self._shell, self._linker, workload, threads)

    def loaded(self, program: Program) -> LoadedProgram:
        """A program that is linked here and runs there."""
        return BoardProgram(self._shell, self._linker, opened(program))

    def close(self) -> None:
        """End the connection."""
        self._held.close()
