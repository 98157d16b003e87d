"""OpenCL through pyopencl: kernels are built from source by the driver, and launched on one queue."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.runtime.arena import Arena
from tilework.runtime.arrays import Array
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.devices.launching import Work
from tilework.runtime.devices.opencl.memory import Addresses


class Queue:
    """A device, and the one queue of what it does, in order."""

    def __init__(self, device: Any):
        self.cl: Any = import_module("pyopencl")  # it may be missing, and has no types
        self.device = device
        self.context: Any = self.cl.Context([device])
        self.queue: Any = self.cl.CommandQueue(self.context)
        self.addresses = Addresses()

    @property
    def name(self) -> str:
        """What the device is called."""
        return self.device.name.strip()

    @property
    def arrays(self) -> None:
        """Buffers have handles, and no addresses that others could give."""

    def allocate(self, size: int) -> Arena:
        """Memory of the device. Raises TileworkError where it has not that much."""
        if size == 0:
            return Arena(None, 0, 0)
        try:
            buffer = self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, size)
        except self.cl.Error as error:
            raise TileworkError(f"{self.name} has no {size} bytes of memory left: {error}") from error
        allocation = self.addresses.add(buffer)
        return Arena(allocation, allocation.address, size)

    def copy_in(self, to: int, source: int, count: int) -> None:
        """Copy bytes from an address of the host; they are read when this returns."""
        buffer, offset = self.addresses.find(to)
        self.cl.enqueue_copy(self.queue, buffer, _bytes_at(source, count), dst_offset=offset, is_blocking=True)

    def copy_out(self, to: int, source: int, count: int) -> None:
        """Copy bytes to an address of the host, once all before has run."""
        buffer, offset = self.addresses.find(source)
        self.cl.enqueue_copy(self.queue, _bytes_at(to, count), buffer, src_offset=offset, is_blocking=True)

    def wait(self) -> None:
        """Return when everything that was launched has run."""
        self.queue.finish()

    def prepared(self, work: Work) -> Work:
        """The work itself: launches of OpenCL have no form that is faster to repeat."""
        return work

    def seconds_of(self, work: Work) -> float:
        """How long the device takes for what some work launches, by the clock of the host."""
        self.wait()
        start = perf_counter()
        work()
        self.wait()
        return perf_counter() - start

    def options_for(self, source: str) -> list[str]:
        """What the driver's compiler is told.

        PoCL 3 optimizes conditions together that stand before and behind a barrier, and then lets threads for which
        they are false pass the barrier alone: what these bring to shared memory is missing.
        """
        is_pocl = self.device.platform.name == "Portable Computing Language"
        return ["-cl-opt-disable"] if is_pocl and "barrier(" in source else []

    def build(self, source: str) -> Any:
        """The program of pyopencl that a text of OpenCL C becomes. Raises TileworkError with what the driver says."""
        try:
            return self.cl.Program(self.context, source).build(options=self.options_for(source))
        except self.cl.Error as error:
            raise TileworkError(f"{self.name} does not build a kernel: {error}") from error

    def load(self, program: LaunchProgram) -> Built:
        """Build a program. Raises TileworkError with what the driver's compiler says."""
        return Built(program, self)


class Built:
    """A program, built for a device."""

    def __init__(self, program: LaunchProgram, queue: Queue):
        self._program, self._queue = program, queue
        self._kernels = {kernel.function_name: kernel for kernel in queue.build(program.source).all_kernels()}

    def launch(self, addresses: Sequence[int], symbols: Sequence[int]) -> None:
        """Launch what the program launches, on buffers at these addresses."""
        buffers = self._program.buffers
        for function, used, numbers, blocks, threads in self._program.launches(symbols):
            arguments: list[object] = []
            for i in used:
                buffer, offset = self._queue.addresses.find(addresses[i])
                arguments += buffer, np.int64(offset // buffers[i].element)
            sizes = tuple(block * thread for block, thread in zip(blocks, threads, strict=True))
            self._kernels[function](self._queue.queue, sizes, threads, *arguments, *map(np.int64, numbers))


@cache
def queue() -> Queue:
    """The first device of the first platform, or what PYOPENCL_CTX asks for.

    Raises TileworkError where pyopencl or a device is missing, and where the device builds no kernel at all, as a PoCL
    does that is older than the processor.
    """
    try:
        cl: Any = import_module("pyopencl")
    except ImportError:
        raise TileworkError(
            "to run on OpenCL devices Tilework needs pyopencl: pip install pyopencl, or pyopencl[pocl] for a device "
            "that is this processor"
        ) from None
    try:
        devices = cl.create_some_context(interactive=False).devices
    except cl.Error as error:
        raise TileworkError(
            f"pyopencl finds no OpenCL device ({error}): install a driver, or pip install pyopencl[pocl] for a device "
            "that is this processor"
        ) from error
    found = Queue(devices[0])
    found.build("kernel void nothing(void) {}")
    return found


def _bytes_at(address: int, size: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
