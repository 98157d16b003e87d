"""Kernels that are programs of launches, on devices with memory of their own, whoever drives them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.runtime.arena import Arena, ArenaPool
from tilework.runtime.arrays import Array
from tilework.runtime.devices.device import Device
from tilework.runtime.devices.device_arrays import DeviceArray, device_array
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.manifest import DeviceUse


class LoadedProgram(Protocol):
    """A program whose functions the device has."""

    def launch(self, addresses: Sequence[int], symbols: Sequence[int]) -> None:
        """Begin what the program launches, on buffers at these addresses of the device."""
        ...


Work: TypeAlias = Callable[[], None]
"""Launches kernels, and waits for none."""


class NotedLaunch(NamedTuple):
    """A kernel that was launched, by its number among those of a device, on what buffers and with what sizes."""

    kernel: int
    addresses: tuple[int, ...]
    symbols: tuple[int, ...]


class DeviceMemory(NamedTuple):
    """The kind of the device in DLPack, the number of the stream that arrays are used on, and what waits for others."""

    kind: int
    stream: int
    wait_for: Callable[[int], None]


class Driver(Protocol):
    """A device and its one queue. Addresses are those of the device, or of the host where that is said."""

    @property
    def arrays(self) -> DeviceMemory | None:
        """How other libraries say that arrays are in the device's memory; None where none does."""
        ...

    def allocate(self, size: int) -> Arena:
        """Memory of the device, free again once nobody holds it. Raises TileworkError where it has not that much."""
        ...

    def copy_in(self, to: int, source: int, count: int) -> None:
        """Copy bytes from an address of the host; they are read when this returns."""
        ...

    def copy_out(self, to: int, source: int, count: int) -> None:
        """Copy bytes to an address of the host, once all before has run."""
        ...

    def wait(self) -> None:
        """Return when everything that was launched has run."""
        ...

    def load(self, program: LaunchProgram) -> LoadedProgram:
        """Make code of a program. Raises TileworkError where the device's compiler refuses it."""
        ...

    def prepared(self, work: Work) -> Work:
        """What does the same as some work that launches kernels, with as little to do for the host as the device lets.

        The work runs once, or its launches are noted once.
        """
        ...

    def seconds_of(self, work: Work) -> float:
        """How long the device takes for what some work launches."""
        ...


class LaunchedKernel:
    """A kernel as a function of arrays of the host, which are copied to the device, and its results back.

    driver: gives the device; it is asked when the kernel is first called.
    """

    def __init__(self, code: bytes, driver: Callable[[], Driver]):
        self._program = LaunchProgram.decode(code)
        self._driver = driver

    @property
    def address(self) -> int:
        """The address is 0: the function is not native."""
        return 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bytes each of its buffers has, if it has no symbols."""
        return self._program.sizes(())

    def code(self) -> LaunchedKernel:
        """Load the program into the device."""
        _ = self._loaded
        return self

    def entry(self, *arguments: int) -> None:
        """Run it on buffers of the host at these addresses, and symbols; the number of threads has no meaning here."""
        resident = self.resident(*arguments)
        resident.launch()
        resident.collect()

    def resident(self, *arguments: int) -> ResidentKernel:
        """The kernel with such buffers copied to the device, to be launched there."""
        driver, buffers = self._driver(), self._program.buffers
        places, symbols = arguments[: len(buffers)], arguments[len(buffers) : len(buffers) + len(self._program.symbols)]
        return ResidentKernel(self._loaded, driver, self._program, places, symbols)

    def run_on_device(self, arrays: Sequence[DeviceArray], scratch: Sequence[int], symbols: Sequence[int]) -> None:
        """Run it on arrays that are in the device's memory already, until it has run.

        scratch: sizes of what it needs besides.
        """
        driver = self._driver()
        arenas = [driver.allocate(max(size, 1)) for size in scratch]
        self._loaded.launch([*(array.address for array in arrays), *(arena.address for arena in arenas)], symbols)
        driver.wait()

    def device_arrays(self, arrays: Mapping[str, object]) -> list[DeviceArray]:
        """Arrays, by name, as memory of the device, once they are ready.

        Raises UsageError for those that are elsewhere, or have gaps.
        """
        memory = self._driver().arrays
        if memory is None:
            raise UsageError("the kernel's device takes arrays of the host alone")
        found = [device_array(value, name, memory.kind, memory.stream) for name, value in arrays.items()]
        for stream in {array.stream for array in found if array.stream is not None}:
            memory.wait_for(stream)
        return found

    @cached_property
    def _loaded(self) -> LoadedProgram:
        return self._driver().load(self._program)


class ResidentKernel:
    """A kernel with its buffers on the device. places: where they are on the host."""

    def __init__(
        self,
        loaded: LoadedProgram,
        driver: Driver,
        program: LaunchProgram,
        places: Sequence[int],
        symbols: Sequence[int],
    ):
        self._loaded, self._driver, self._symbols = loaded, driver, symbols
        sizes = program.sizes(symbols)
        self._arenas = [driver.allocate(max(size, 1)) for size in sizes]
        self._buffers = [
            (use, arena, place, size)
            for use, arena, place, size in zip(program.buffers, self._arenas, places, sizes, strict=True)
            if size
        ]
        for use, arena, place, size in self._buffers:
            if use.is_read:
                driver.copy_in(arena.address, place, size)

    def launch(self) -> None:
        """Begin to run it."""
        self._loaded.launch([arena.address for arena in self._arenas], self._symbols)

    def seconds(self, times: int) -> float:
        """Launch it so many times; how long the device takes for them."""

        def work() -> None:
            for _ in range(times):
                self.launch()

        return self._driver.seconds_of(work)

    def collect(self) -> None:
        """Copy what it writes back to the host, once it has run."""
        for use, arena, place, size in self._buffers:
            if use.is_written:
                self._driver.copy_out(place, arena.address, size)


class LaunchDevice(Device):
    """What a program of the host launches kernels on. codes: of the kernels that are used, in their order."""

    def __init__(self, use: DeviceUse, driver: Driver, codes: Sequence[bytes]):
        super().__init__(use)
        self._driver = driver
        self._kernels = [driver.load(LaunchProgram.decode(code)) for code in codes]
        self._arenas = ArenaPool(driver.allocate)
        self._noted: list[NotedLaunch] | None = None

    @property
    def arenas(self) -> ArenaPool:
        return self._arenas

    def upload(self, array: Array) -> tuple[int, object]:
        arena, source = self._driver.allocate(max(array.nbytes, 1)), np.ascontiguousarray(array)
        if source.nbytes:
            self.copy_in(arena.address, source.ctypes.data, source.nbytes)
        return arena.address, arena

    def launch(self, kernel: int, buffers: Any, symbols: Any) -> None:
        taken = self.use.kernels[kernel]
        sizes = tuple(symbols[: taken.symbols]) if taken.symbols else ()
        launched = NotedLaunch(kernel, tuple(buffers[: taken.buffers]), sizes)
        if self._noted is not None:
            self._noted.append(launched)
        self.repeat([launched])

    @contextmanager
    def noting(self) -> Generator[list[NotedLaunch]]:
        """What is launched meanwhile. It can be repeated while the module is kept and is not called."""
        self._noted = []
        try:
            yield self._noted
        finally:
            self._noted = None

    def repeat(self, launches: Sequence[NotedLaunch]) -> None:
        """Launch once more what was launched, on the same memory, and copy nothing."""
        for kernel, addresses, symbols in launches:
            self._kernels[kernel].launch(addresses, symbols)

    @property
    def driver(self) -> Driver:
        """What runs the kernels."""
        return self._driver

    def copy_in(self, to: int, source: int, count: int) -> None:
        if count:
            self._driver.copy_in(to, source, count)

    def copy_out(self, to: int, source: int, count: int) -> None:
        if count:
            self._driver.copy_out(to, source, count)

    def wait(self) -> None:
        self._driver.wait()
