"""NVIDIA's driver library, called through ctypes: no package is needed, and none of CUDA's toolkit.

The names and numbers are those of `cuda.h`.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint, c_ulonglong, c_void_p
from functools import cache
from typing import Any

from tilework.algebra.errors import TileworkError
from tilework.runtime.arena import Arena
from tilework.runtime.devices.device_arrays import CUDA
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.devices.launching import DeviceMemory, Work

_LIBRARIES = {"win32": "nvcuda.dll"}
_COMPUTE_CAPABILITY = (75, 76)
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR."""

_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6
"""CU_JIT_ERROR_LOG_BUFFER and its size."""


class Driver:
    """The first device, with the context that other libraries in the process use, and a stream of its own."""

    def __init__(self, library: Any):
        self._library = library
        self.call("cuInit", c_uint(0))
        device = c_int()
        self.call("cuDeviceGet", byref(device), c_int(0))
        self._device = device
        self._context = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self._context), device)
        self.enter()
        self.stream = c_void_p()
        self.call("cuStreamCreate", byref(self.stream), c_uint(1))  # CU_STREAM_NON_BLOCKING

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises TileworkError with the driver's text where it fails."""
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            text = c_char_p()
            self._library.cuGetErrorString(c_int(code), byref(text))
            raise TileworkError(f"CUDA: {name} fails: {(text.value or b'unknown error').decode()} ({code})")

    def enter(self) -> None:
        """Let this thread use the device."""
        self.call("cuCtxSetCurrent", self._context)

    @property
    def name(self) -> str:
        """What the device is called, and its generation."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, c_int(len(text)), self._device)
        return f"{text.value.decode()}, sm_{self.capability}"

    @property
    def capability(self) -> int:
        """The generation, such as 90 for sm_90."""
        values = (c_int(), c_int())
        for value, attribute in zip(values, _COMPUTE_CAPABILITY, strict=True):
            self.call("cuDeviceGetAttribute", byref(value), c_int(attribute), self._device)
        return values[0].value * 10 + values[1].value

    @property
    def arrays(self) -> DeviceMemory:
        """Arrays of others are used on the one stream."""
        return DeviceMemory(CUDA, self.stream.value or 0, self.wait_for)

    def load(self, program: LaunchProgram) -> Loaded:
        """Load a program. Raises TileworkError with what the driver's assembler says."""
        return Loaded(program, self)

    def assemble(self, ptx: str) -> c_void_p:
        """A module of PTX. Raises TileworkError with what the driver's assembler says."""
        self.enter()
        log = ctypes.create_string_buffer(8192)
        options = (c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.cast(log, c_void_p), c_void_p(len(log)))
        module = c_void_p()
        try:
            self.call("cuModuleLoadDataEx", byref(module), ptx.encode() + b"\0", c_uint(2), options, values)
        except TileworkError as error:
            raise TileworkError(f"{error}: {log.value.decode(errors='replace').strip()}") from None
        return module

    def function(self, module: c_void_p, name: str) -> c_void_p:
        """A kernel of a module."""
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def allocate(self, size: int) -> Arena:
        """Memory of the device; addresses are multiples of 256. Raises TileworkError where it has not that much."""
        if size == 0:
            return Arena(None, 0, 0)
        self.enter()
        address = c_void_p()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        memory = _Memory(address)
        weakref.finalize(memory, self.free, address)
        return Arena(memory, address.value or 0, size)

    def free(self, address: c_void_p) -> None:
        """Give memory back, from whatever thread."""
        self.enter()
        self.call("cuMemFree_v2", address)

    def copy_in(self, to: int, source: int, count: int) -> None:
        """Copy bytes from an address of the host; they are read when this returns."""
        self.enter()
        self.call("cuMemcpyHtoDAsync_v2", c_void_p(to), c_void_p(source), c_size_t(count), self.stream)
        self.wait()

    def copy_out(self, to: int, source: int, count: int) -> None:
        """Copy bytes to an address of the host, once all before has run."""
        self.enter()
        self.call("cuMemcpyDtoHAsync_v2", c_void_p(to), c_void_p(source), c_size_t(count), self.stream)
        self.wait()

    def wait(self) -> None:
        """Return when everything that was launched has run."""
        self.enter()
        self.call("cuStreamSynchronize", self.stream)

    def wait_for(self, stream: int) -> None:
        """Return when everything on a stream of others has run."""
        self.enter()
        self.call("cuStreamSynchronize", c_void_p(stream))

    def prepared(self, work: Work) -> Work:
        """What does the same as some work: its launches as one graph, which the driver launches at once."""
        self.enter()
        graph, executable = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", self.stream, c_int(2))  # CU_STREAM_CAPTURE_MODE_RELAXED
        try:
            work()
        finally:
            self.call("cuStreamEndCapture", self.stream, byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_ulonglong(0))
        self.call("cuGraphDestroy", graph)
        return lambda: self.call("cuGraphLaunch", executable, self.stream)

    def seconds_of(self, work: Work) -> float:
        """How long the device takes for what some work launches."""
        self.enter()
        events = [c_void_p(), c_void_p()]
        for event in events:
            self.call("cuEventCreate", byref(event), c_uint(0))
        start, end = events
        self.call("cuEventRecord", start, self.stream)
        work()
        self.call("cuEventRecord", end, self.stream)
        self.call("cuEventSynchronize", end)
        milliseconds = c_float()
        self.call("cuEventElapsedTime", byref(milliseconds), start, end)
        for event in events:
            self.call("cuEventDestroy_v2", event)
        return milliseconds.value / 1e3

    def launch(
        self, function: c_void_p, blocks: tuple[int, int, int], threads: tuple[int, int, int], values: list[Any]
    ) -> None:
        """Launch a kernel on so many blocks and threads a block; values: its arguments, of types of ctypes."""
        arguments = (c_void_p * len(values))(*(ctypes.cast(byref(value), c_void_p) for value in values))
        sizes = map(c_uint, (*blocks, *threads, 0))
        self.call("cuLaunchKernel", function, *sizes, self.stream, arguments, None)


class _Memory:
    """Memory of the device, which is given back when nobody holds this any more."""

    def __init__(self, address: c_void_p):
        self.address = address


class Loaded:
    """A program, loaded by the driver."""

    def __init__(self, program: LaunchProgram, driver: Driver):
        self._program, self._driver = program, driver
        self._module = driver.assemble(program.source)
        self._functions: dict[str, c_void_p] = {}

    def launch(self, addresses: Sequence[int], symbols: Sequence[int]) -> None:
        """Launch what the program launches, on buffers at these addresses."""
        self._driver.enter()
        for name, used, numbers, blocks, threads in self._program.launches(symbols):
            if name not in self._functions:
                self._functions[name] = self._driver.function(self._module, name)
            values = [*(c_void_p(addresses[i]) for i in used), *map(c_int64, numbers)]
            self._driver.launch(self._functions[name], blocks, threads, values)


@cache
def driver() -> Driver:
    """The driver. Raises TileworkError where there is none, or no device."""
    name = _LIBRARIES.get(sys.platform, "libcuda.so.1")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise TileworkError(f"this machine has no driver for NVIDIA's devices ({error})") from None
    return Driver(library)
