"""The workers of a pool, each a process that another one watches: one for every device, and one that compiles.

A worker says what it is when it registers: `{"device": name, "board": name, "target": text}` or `{"builders": number}`,
and in either case `{"sources": hash}`.
"""

# Dask has few types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

from distributed import Worker

from tilework.runtime.cache import source_hash
from tilework.tuning.measuring.builder import TimedCompiler
from tilework.tuning.pool.boards import Board
from tilework.tuning.pool.device import BoardDevice, ThisMachine
from tilework.tuning.pool.served_device import ServedDevice

ABOUT = "tilework"
"""Under which key a scheduler tells what a worker said of itself."""

BUILDER = "builder"
"""The resource that builds ask for."""


def resource_of(device: str) -> str:
    """The resource that tasks for a device ask for."""
    return f"device:{device}"


class DeviceWorker(Worker):
    """Runs one task at a time, on one device. board: the fields of a `Board`, for a board that is reached from here."""

    def __init__(self, *args: Any, device: str, board: Mapping[str, Any] | None, **options: Any):
        self.served = ServedDevice(ThisMachine() if board is None else BoardDevice(Board(**board)))
        about = {
            "device": device,
            "board": "" if board is None else board["name"],
            "target": self.served.device.target,
        }
        super().__init__(*args, startup_information=_telling(about), **options)

    async def close(self, *args: Any, **options: Any) -> Any:
        """End what runs for it, too."""
        self.served.close()
        return await super().close(*args, **options)


class BuilderWorker(Worker):
    """Compiles as many kernels at a time as it has threads, in processes of their own."""

    def __init__(self, *args: Any, builders: int, **options: Any):
        self._all = [TimedCompiler() for _ in range(builders)]
        self._free: SimpleQueue[TimedCompiler] = SimpleQueue()
        for compiler in self._all:
            self._free.put(compiler)
        super().__init__(*args, startup_information=_telling({"builders": builders}), **options)

    @contextmanager
    def compiler(self) -> Generator[TimedCompiler]:
        """One that nobody else uses meanwhile."""
        compiler = self._free.get()
        try:
            yield compiler
        finally:
            self._free.put(compiler)

    async def close(self, *args: Any, **options: Any) -> Any:
        """End the processes, too."""
        for compiler in self._all:
            compiler.close()
        return await super().close(*args, **options)


def _telling(about: Mapping[str, Any]) -> dict[str, Any]:
    told = {**about, "sources": source_hash()}

    def tell(_: Worker) -> dict[str, Any]:
        return told

    return {ABOUT: tell}
