"""OpenCL devices: kernels are built from source by the driver when they are loaded, and launched by pyopencl."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.runtime.arena import Arena, ArenaPool
from tilework.runtime.arrays import Array
from tilework.runtime.devices.device import Device
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.devices.opencl.memory import Addresses
from tilework.runtime.manifest import DeviceUse


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> OpenClKernel:
    """A kernel as a function of arrays of the host."""
    [code] = objects
    return OpenClKernel(LaunchProgram.decode(code))


def open_device(use: DeviceUse, code: Mapping[str, bytes]) -> OpenClDevice:
    """A device with the kernels of a program. Raises TileworkError where no device is found."""
    return OpenClDevice(use, [LaunchProgram.decode(code[kernel.name]) for kernel in use.kernels])


class Queue:
    """A device, and the one queue of what it does, in order."""

    def __init__(self, device: Any):
        self.cl: Any = import_module("pyopencl")  # it may be missing, and has no types
        self.device = device
        self.context: Any = self.cl.Context([device])
        self.queue: Any = self.cl.CommandQueue(self.context)
        self.addresses = Addresses()

    def allocate(self, size: int) -> Arena:
        """Memory of the device. Raises TileworkError where it has not that much."""
        if size == 0:
            return Arena(None, 0, 0)
        try:
            buffer = self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, size)
        except self.cl.Error as error:
            raise TileworkError(f"{self.device.name} has no {size} bytes of memory left: {error}") from error
        allocation = self.addresses.add(buffer)
        return Arena(allocation, allocation.address, size)

    def copy_in(self, to: int, source: Array) -> None:
        """Copy an array of bytes to an address of the device; it is read when this returns."""
        if source.nbytes:
            buffer, offset = self.addresses.find(to)
            self.cl.enqueue_copy(self.queue, buffer, source, dst_offset=offset, is_blocking=True)

    def copy_out(self, to: Array, source: int) -> None:
        """Copy from an address of the device to an array of bytes, once all before has run."""
        if to.nbytes:
            buffer, offset = self.addresses.find(source)
            self.cl.enqueue_copy(self.queue, to, buffer, src_offset=offset, is_blocking=True)


@cache
def queue() -> Queue:
    """The first device of the first platform, or what PYOPENCL_CTX asks for.

    Raises TileworkError where pyopencl or a device is missing.
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
    return Queue(devices[0])


class Loaded:
    """A program, built for a device."""

    def __init__(self, program: LaunchProgram, queue: Queue):
        self.program = program
        self._queue = queue
        try:
            built = queue.cl.Program(queue.context, program.source).build()
        except queue.cl.Error as error:
            raise TileworkError(f"{queue.device.name} does not build a kernel: {error}") from error
        self._kernels = {kernel.function_name: kernel for kernel in built.all_kernels()}

    def launch(self, addresses: Sequence[int], symbols: Sequence[int]) -> None:
        """Launch what the program launches, on buffers at these addresses."""
        buffers = self.program.buffers
        for function, used, numbers, blocks, threads in self.program.launches(symbols):
            arguments: list[object] = []
            for i in used:
                buffer, offset = self._queue.addresses.find(addresses[i])
                arguments += buffer, np.int64(offset // buffers[i].element)
            sizes = tuple(block * thread for block, thread in zip(blocks, threads, strict=True))
            self._kernels[function](self._queue.queue, sizes, threads, *arguments, *map(np.int64, numbers))


class OpenClKernel:
    """A kernel that is built when it is first called: its arrays are copied to the device, and the results back."""

    def __init__(self, program: LaunchProgram):
        self._program = program

    @property
    def address(self) -> int:
        """It is not native."""
        return 0

    def code(self) -> OpenClKernel:
        """Build it."""
        _ = self._loaded
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bytes each of its buffers has, if it has no symbols."""
        return self._program.sizes(())

    def entry(self, *arguments: int) -> None:
        """Run it on buffers of the host at these addresses, and symbols; the number of threads has no meaning here."""
        buffers = self._program.buffers
        places, symbols = arguments[: len(buffers)], arguments[len(buffers) : len(buffers) + len(self._program.symbols)]
        sizes = self._program.sizes(symbols)
        arenas = [queue().allocate(max(size, 1)) for size in sizes]
        for buffer, arena, place, size in zip(buffers, arenas, places, sizes, strict=True):
            if buffer.is_read:
                queue().copy_in(arena.address, _bytes_at(place, size))
        self._loaded.launch([arena.address for arena in arenas], symbols)
        for buffer, arena, place, size in zip(buffers, arenas, places, sizes, strict=True):
            if buffer.is_written:
                queue().copy_out(_bytes_at(place, size), arena.address)

    @cached_property
    def _loaded(self) -> Loaded:
        return Loaded(self._program, queue())


class OpenClDevice(Device):
    """What a program of the host launches kernels on."""

    def __init__(self, use: DeviceUse, programs: Sequence[LaunchProgram]):
        super().__init__(use)
        self._queue = queue()
        self._kernels = [Loaded(program, self._queue) for program in programs]
        self._arenas = ArenaPool(self._queue.allocate)

    @property
    def arenas(self) -> ArenaPool:
        return self._arenas

    def upload(self, array: Array) -> tuple[int, object]:
        arena = self._queue.allocate(max(array.nbytes, 1))
        self._queue.copy_in(arena.address, np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        return arena.address, arena

    def launch(self, kernel: int, buffers: Any, symbols: Any) -> None:
        taken = self.use.kernels[kernel]
        self._kernels[kernel].launch(buffers[: taken.buffers], symbols[: taken.symbols] if taken.symbols else ())

    def copy_in(self, to: int, source: int, count: int) -> None:
        self._queue.copy_in(to, _bytes_at(source, count))

    def copy_out(self, to: int, source: int, count: int) -> None:
        self._queue.copy_out(_bytes_at(to, count), source)

    def wait(self) -> None:
        self._queue.queue.finish()


def _bytes_at(address: int, size: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)) if size else np.empty(0, np.uint8)
