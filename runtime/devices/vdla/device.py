"""A VDLA as a device of a program: the simulator runs the streams of its kernels, in this process."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tilework.runtime.devices.device import InProcessDevice
from tilework.runtime.devices.vdla.encoding import decode
from tilework.runtime.devices.vdla.execution import Bytes
from tilework.runtime.devices.vdla.program import Program
from tilework.runtime.devices.vdla.report import RunReport
from tilework.runtime.devices.vdla.simulator import Prepared, prepare
from tilework.runtime.manifest import DeviceUse
from tilework.targets import parse_target
from tilework.targets.vdla.target import VdlaTarget


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> SimulatedKernel:
    """A kernel as a function of the addresses of its arguments."""
    [code] = objects
    return SimulatedKernel(Program.decode(code), VdlaTarget.of(parse_target(target)))


def open_device(use: DeviceUse, code: Mapping[str, bytes]) -> VdlaDevice:
    """A device with the kernels of a program."""
    target = VdlaTarget.of(parse_target(use.target))
    kernels = {name: SimulatedKernel(Program.decode(code[name]), target) for name in (k.name for k in use.kernels)}
    return VdlaDevice(use, kernels)


class SimulatedKernel:
    """A program that is checked when it is first run, and simulated every time."""

    def __init__(self, program: Program, target: VdlaTarget):
        self._program, self._target = program, target

    @property
    def address(self) -> int:
        """The address is 0: the function is not native."""
        return 0

    def code(self) -> SimulatedKernel:
        """There is nothing to load."""
        return self

    @property
    def report(self) -> RunReport:
        """How long it takes, and what for: that does not depend on what it computes."""
        return self._prepared.report

    def entry(self, *arguments: int) -> None:
        """Run it on buffers at these addresses; what else is given, such as a number of threads, has no meaning here.

        Raises StreamError for a stream that is not clean.
        """
        dram = np.zeros(self._program.dram_bytes, np.uint8)
        places = list(zip(self._program.buffers, arguments, strict=False))
        for buffer, address in places:
            dram[buffer.bytes] = _bytes_at(address, buffer.size)
        self._prepared.run(dram)
        for buffer, address in places:
            if buffer.is_written:
                _bytes_at(address, buffer.size)[:] = dram[buffer.bytes]

    @cached_property
    def _prepared(self) -> Prepared:
        return prepare(decode(self._program.stream), self._program.dram_bytes, self._target)


class VdlaDevice(InProcessDevice):
    """Counts how often each kernel has run."""

    def __init__(self, use: DeviceUse, kernels: Mapping[str, SimulatedKernel]):
        super().__init__(use, kernels)
        self._simulated = [kernels[kernel.name] for kernel in use.kernels]
        self.launches = [0] * len(use.kernels)

    def launch(self, kernel: int, buffers: Any, symbols: Any) -> None:
        super().launch(kernel, buffers, symbols)
        self.launches[kernel] += 1

    def report(self) -> list[tuple[str, int, RunReport]]:
        """For each kernel that has run, what it is called, how often it ran, and what one run takes."""
        kernels = zip(self.use.kernels, self.launches, self._simulated, strict=True)
        return [(use.label, count, simulated.report) for use, count, simulated in kernels if count]


def _bytes_at(address: int, size: int) -> Bytes:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
