"""Programs on the devices of a pool."""

from __future__ import annotations

from tilework.algebra.errors import TileworkError, UsageError
from tilework.tuning.pool import tasks
from tilework.tuning.pool.client import Pool
from tilework.tuning.pool.execution import Answer, Request
from tilework.tuning.pool.measuring import MARGIN_SECONDS
from tilework.tuning.pool.messages import Message, message_of_arrays, named_arrays_in
from tilework.tuning.pool.programs import Program


class PoolDevice:
    """The slots of a device of a pool. Raises UsageError where the pool has no such device."""

    def __init__(self, pool: Pool, device: str):
        pool.devices(device)
        self._pool, self._device = pool, device

    def loaded(self, program: Program) -> PoolProgram:
        """A program, which is sent where it is run first."""
        return PoolProgram(self._pool, self._device, program)


class PoolProgram:
    """A program that any slot of a device runs."""

    def __init__(self, pool: Pool, device: str, program: Program):
        self._pool, self._device, self._program = pool, device, program

    def close(self) -> None:
        """Nothing is left to be done: devices forget programs by themselves."""

    def run(self, request: Request) -> Answer:
        """Run the program. Raises TileworkError for what it refuses, and where it or its worker dies."""
        message: Message = {
            "program": self._program.digest,
            "kind": self._program.kind,
            "inputs": message_of_arrays(request.inputs),
            "seconds": request.seconds,
            "number": request.number,
            "repeat": request.repeat,
        }
        answer = self._asked(message, None)
        if "unknown" in answer:
            answer = self._asked(message, self._program.content)
        if "error" in answer:
            raise (UsageError if answer["usage"] else TileworkError)(answer["error"])
        return Answer(named_arrays_in(answer["outputs"]), tuple(answer["times"]))

    def _asked(self, message: Message, content: bytes | None) -> Message:
        limit = message["seconds"] + tasks.OVERHEAD_SECONDS + MARGIN_SECONDS
        return self._pool.on_device(self._device, tasks.execute, message, content, seconds=limit)
