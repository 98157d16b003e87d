"""NVIDIA's devices: the driver makes code of PTX when kernels are loaded, and launches them on one stream."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tilework.runtime.arena import Arena, ArenaPool
from tilework.runtime.arrays import Array
from tilework.runtime.devices.cuda.driver import driver
from tilework.runtime.devices.device import Device
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.manifest import DeviceUse


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> CudaKernel:
    """A kernel as a function of arrays of the host."""
    [code] = objects
    return CudaKernel(LaunchProgram.decode(code))


def open_device(use: DeviceUse, code: Mapping[str, bytes]) -> CudaDevice:
    """A device with the kernels of a program. Raises TileworkError where no device is found."""
    return CudaDevice(use, [LaunchProgram.decode(code[kernel.name]) for kernel in use.kernels])


class _Memory:
    """Memory of the device, which is given back when nobody holds this any more."""

    def __init__(self, size: int):
        self.address = driver().allocate(size)
        weakref.finalize(self, driver().free, self.address)


def allocate(size: int) -> Arena:
    """Memory of the device; addresses are multiples of 256. Raises TileworkError where it has not that much."""
    if size == 0:
        return Arena(None, 0, 0)
    memory = _Memory(size)
    return Arena(memory, memory.address, size)


class Loaded:
    """A program, loaded by the driver."""

    def __init__(self, program: LaunchProgram):
        self.program = program
        self._module = driver().load(program.source)
        self._functions: dict[str, ctypes.c_void_p] = {}

    def launch(self, addresses: Sequence[int], symbols: Sequence[int]) -> None:
        """Launch what the program launches, on buffers at these addresses."""
        for name, used, numbers, blocks, threads in self.program.launches(symbols):
            if name not in self._functions:
                self._functions[name] = driver().function(self._module, name)
            buffers = [ctypes.c_void_p(addresses[i]) for i in used]
            values = [*buffers, *map(ctypes.c_int64, numbers)]
            driver().launch(self._functions[name], blocks, threads, values)


class CudaKernel:
    """A kernel that is loaded when it is first called: its arrays are copied to the device, and the results back."""

    def __init__(self, program: LaunchProgram):
        self._program = program

    @property
    def address(self) -> int:
        """It is not native."""
        return 0

    def code(self) -> CudaKernel:
        """Load it."""
        _ = self._loaded
        return self

    def entry(self, *arguments: int) -> None:
        """Run it on buffers of the host at these addresses, and symbols; the number of threads has no meaning here."""
        driver().enter()
        buffers = self._program.buffers
        places, symbols = arguments[: len(buffers)], arguments[len(buffers) : len(buffers) + len(self._program.symbols)]
        sizes = self._program.sizes(symbols)
        arenas = [allocate(max(size, 1)) for size in sizes]
        for buffer, arena, place, size in zip(buffers, arenas, places, sizes, strict=True):
            if buffer.is_read and size:
                driver().copy_in(arena.address, place, size)
        self._loaded.launch([arena.address for arena in arenas], symbols)
        for buffer, arena, place, size in zip(buffers, arenas, places, sizes, strict=True):
            if buffer.is_written and size:
                driver().copy_out(place, arena.address, size)

    @cached_property
    def _loaded(self) -> Loaded:
        return Loaded(self._program)


class CudaDevice(Device):
    """What a program of the host launches kernels on."""

    def __init__(self, use: DeviceUse, programs: Sequence[LaunchProgram]):
        super().__init__(use)
        self._kernels = [Loaded(program) for program in programs]
        self._arenas = ArenaPool(allocate)

    @property
    def arenas(self) -> ArenaPool:
        return self._arenas

    def upload(self, array: Array) -> tuple[int, object]:
        arena = allocate(max(array.nbytes, 1))
        source = np.ascontiguousarray(array)
        if source.nbytes:
            driver().copy_in(arena.address, source.ctypes.data, source.nbytes)
        return arena.address, arena

    def launch(self, kernel: int, buffers: Any, symbols: Any) -> None:
        driver().enter()
        taken = self.use.kernels[kernel]
        self._kernels[kernel].launch(buffers[: taken.buffers], symbols[: taken.symbols] if taken.symbols else ())

    def copy_in(self, to: int, source: int, count: int) -> None:
        driver().enter()
        driver().copy_in(to, source, count)

    def copy_out(self, to: int, source: int, count: int) -> None:
        driver().enter()
        driver().copy_out(to, source, count)

    def wait(self) -> None:
        driver().wait()
