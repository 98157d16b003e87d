"""NVIDIA's devices as devices of programs, and of single kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilework.runtime.devices.cuda.driver import driver
from tilework.runtime.devices.launching import LaunchDevice, LaunchedKernel
from tilework.runtime.manifest import DeviceUse


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> LaunchedKernel:
    """A kernel as a function of arrays of the host."""
    [code] = objects
    return LaunchedKernel(code, driver)


def open_device(use: DeviceUse, code: Mapping[str, bytes]) -> LaunchDevice:
    """A device with the kernels of a program. Raises TileworkError where no device is found."""
    return LaunchDevice(use, driver(), [code[kernel.name] for kernel in use.kernels])
