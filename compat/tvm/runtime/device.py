"""Devices: `tvm.cpu(0)`, `tvm.device("opencl", 0)`."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean

KINDS = {"cpu": 1, "cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10}
"""The numbers that TVM gives to kinds of devices."""

_OTHER_NAMES = {"llvm": "cpu", "c": "cpu", "stackvm": "cpu", "gpu": "cuda", "nvptx": "cuda", "cl": "opencl"}


@dataclass(frozen=True)
class Device:
    """A device of a kind, such as "cpu", by number. Arrays stay in the memory of the host; functions copy them."""

    kind: str
    device_id: int = 0

    @property
    def device_type(self) -> int:
        """The number of the kind."""
        return KINDS[self.kind]

    @property
    def exist(self) -> bool:
        """Whether there is one here that Tilework runs code on."""
        if self.device_id:
            return False
        try:
            match self.kind:
                case "cpu":
                    return True
                case "opencl":
                    from tilework.runtime.devices.opencl.queue import queue

                    queue()
                    return True
                case "cuda":
                    from tilework.runtime.devices.cuda.driver import driver

                    driver()
                    return True
                case _:
                    return False
        except (TileworkError, ImportError):
            return False

    def sync(self) -> None:
        """Wait for what was started: nothing is, since functions return when they have run."""

    def __str__(self) -> str:
        return f"{self.kind}({self.device_id})"


def device(dev_type: str, dev_id: int = 0) -> Device:
    """A device by the name of its kind, which may be that of a target. Raises TVMError for an unknown name."""
    kind = dev_type.split()[0] if dev_type.strip() else dev_type
    kind = _OTHER_NAMES.get(kind, kind)
    if kind not in KINDS:
        raise UsageError(f"unknown device '{dev_type}'; known: {', '.join(KINDS)}{did_you_mean(kind, KINDS)}")
    return Device(kind, dev_id)


def cpu(dev_id: int = 0) -> Device:
    """This machine's processor."""
    return Device("cpu", dev_id)


def cuda(dev_id: int = 0) -> Device:
    """A device of NVIDIA."""
    return Device("cuda", dev_id)


def opencl(dev_id: int = 0) -> Device:
    """A device of OpenCL."""
    return Device("opencl", dev_id)


def vulkan(dev_id: int = 0) -> Device:
    """A device of Vulkan, on which nothing runs here."""
    return Device("vulkan", dev_id)


def metal(dev_id: int = 0) -> Device:
    """A device of Metal, on which nothing runs here."""
    return Device("metal", dev_id)


def rocm(dev_id: int = 0) -> Device:
    """A device of ROCm, on which nothing runs here."""
    return Device("rocm", dev_id)


gpu = cuda
context = device
"""The names of TVM 0.7 and before."""
