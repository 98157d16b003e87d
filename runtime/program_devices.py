"""The devices of one program, opened when it is first called."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property

from tilework.runtime.arena import ArenaPool
from tilework.runtime.arrays import Array
from tilework.runtime.devices.device import Device
from tilework.runtime.devices.registry import open_device
from tilework.runtime.devices.table import DeviceTable
from tilework.runtime.manifest import DeviceUse


class ProgramDevices:
    """What a manifest's `uses` ask for. code: of each device, by the names of its kernels."""

    def __init__(self, uses: Sequence[DeviceUse], code: Mapping[str, Mapping[str, bytes]]):
        self._uses = uses
        self.code = code

    def __len__(self) -> int:
        return len(self._uses)

    @property
    def opened(self) -> Mapping[str, Device]:
        """The devices by name."""
        return {device.use.name: device for device in self._opened}

    def upload(self, device: str, array: Array) -> tuple[int, object]:
        """Where an array lies in the memory of a device, for as long as the object is kept."""
        return next(opened for opened in self._opened if opened.use.name == device).upload(array)

    @contextmanager
    def table(self, arena_bytes: Sequence[int]) -> Generator[int]:
        """The address of what the host function is given for one call, with so much memory of each device."""
        if not self._uses:
            yield 0
            return
        with ExitStack() as lent:
            arenas = [
                lent.enter_context(_arena(device.arenas, size))
                for device, size in zip(self._opened, arena_bytes, strict=True)
            ]
            rows = [device.table(arena) for device, arena in zip(self._opened, arenas, strict=True)]
            table = (DeviceTable * len(rows))(*rows)
            yield ctypes.addressof(table)

    def failure(self) -> BaseException | None:
        """What a device said of a call that failed, once none of them uses its memory any more."""
        for device in self._opened:
            device.wait()
        failures = (device.failure() for device in self._opened)
        return next((failure for failure in failures if failure is not None), None)

    @cached_property
    def _opened(self) -> list[Device]:
        return [open_device(use, self.code[use.name]) for use in self._uses]


@contextmanager
def _arena(pool: ArenaPool, size: int) -> Generator[int]:
    """The address of memory that nobody else has meanwhile."""
    arena = pool.take(size)
    try:
        yield arena.address
    finally:
        pool.give_back(arena)
