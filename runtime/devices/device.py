"""A device that programs launch kernels on, and one that is this process: its memory is the host's."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from tilework.runtime.arena import ArenaPool
from tilework.runtime.arrays import Array
from tilework.runtime.devices.base import Linked
from tilework.runtime.devices.table import COPY, LAUNCH, WAIT, DeviceTable
from tilework.runtime.manifest import DeviceKernel, DeviceUse
from tilework.runtime.threads import get_num_threads


class Device(ABC):
    """One device of one program. What its functions raise is kept for `failure`, since C knows no exceptions."""

    def __init__(self, use: DeviceUse):
        self.use = use
        self._failure: BaseException | None = None
        self._functions = (
            LAUNCH(self._guarded(self.launch)),
            COPY(self._guarded(self.copy_in)),
            COPY(self._guarded(self.copy_out)),
            WAIT(self._guarded(self.wait)),
        )

    @property
    @abstractmethod
    def arenas(self) -> ArenaPool:
        """Memory of the device for temporaries."""

    @abstractmethod
    def upload(self, array: Array) -> tuple[int, object]:
        """Where an array lies in the memory of the device, for as long as the object is kept."""

    @abstractmethod
    def launch(self, kernel: int, buffers: Any, symbols: Any) -> None:
        """Run a kernel of `use.kernels`, or begin to. The addresses of its buffers and its sizes are arrays of C."""

    @abstractmethod
    def copy_in(self, to: int, source: int, count: int) -> None:
        """Copy bytes from the host's memory."""

    @abstractmethod
    def copy_out(self, to: int, source: int, count: int) -> None:
        """Copy bytes to the host's memory."""

    @abstractmethod
    def wait(self) -> None:
        """Return when everything that was launched has run."""

    def table(self, arena: int) -> DeviceTable:
        """What the host function is given."""
        return DeviceTable(None, *self._functions, arena)

    def failure(self) -> BaseException | None:
        """What a function raised since this was asked last."""
        failure, self._failure = self._failure, None
        return failure

    def _guarded(self, function: Callable[..., None]) -> Callable[..., int]:
        """What C calls, the `self` of the table first; the result is 0 where all went well."""

        def guarded(_: int | None, *arguments: Any) -> int:
            try:
                function(*arguments)
            except BaseException as error:  # nothing may pass through C
                self._failure = error
                return 1
            return 0

        return guarded


class InProcessDevice(Device):
    """This process as a device: kernels run when they are launched, on the host's memory.

    kernels: the loaded code of each, by its name. A kind of code with no device of its own runs so.
    """

    def __init__(self, use: DeviceUse, kernels: Mapping[str, Linked]):
        super().__init__(use)
        self._kernels = [kernels[kernel.name] for kernel in use.kernels]
        self._arenas = ArenaPool()

    @property
    def arenas(self) -> ArenaPool:
        return self._arenas

    def upload(self, array: Array) -> tuple[int, object]:
        return array.ctypes.data, array

    def launch(self, kernel: int, buffers: Any, symbols: Any) -> None:
        taken = self.use.kernels[kernel]
        entry = self._kernels[kernel].code().entry
        entry(*buffers[: taken.buffers], *(symbols[: taken.symbols] if taken.symbols else ()), get_num_threads())

    def copy_in(self, to: int, source: int, count: int) -> None:
        ctypes.memmove(to, source, count)

    def copy_out(self, to: int, source: int, count: int) -> None:
        ctypes.memmove(to, source, count)

    def wait(self) -> None:
        """Return when everything has run."""


def kernel_types(kernel: DeviceKernel) -> list[Any]:
    """The types of ctypes that a kernel takes."""
    return [*[ctypes.c_void_p] * kernel.buffers, *[ctypes.c_int64] * kernel.symbols, ctypes.c_int32]
