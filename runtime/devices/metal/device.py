"""Metal devices: code for them is written and saved, and refused where it is to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from tilework.algebra.errors import TileworkError
from tilework.runtime.devices.launching import LaunchDevice, LaunchedKernel
from tilework.runtime.manifest import DeviceUse


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> LaunchedKernel:
    """A kernel that cannot be called."""
    [code] = objects
    return LaunchedKernel(code, _no_driver)


def open_device(use: DeviceUse, code: Mapping[str, bytes]) -> LaunchDevice:
    """Raises TileworkError: there is no driver for it."""
    return LaunchDevice(use, _no_driver(), [])


def _no_driver() -> NoReturn:
    raise TileworkError(
        "Tilework writes Metal's source and runs none of it: write it with `opt-tool -t metal`, or compile for opencl"
    )
