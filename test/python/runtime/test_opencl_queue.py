"""What is said where there is no OpenCL device that runs kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tilework.algebra.errors import TileworkError
from tilework.runtime.devices.opencl.queue import queue


class DriverError(Exception):
    """What pyopencl raises."""


class BrokenProgram:
    def __init__(self, context: object, source: str):
        pass

    def build(self, options: list[str]) -> BrokenProgram:
        raise DriverError("unknown target CPU 'generic'")


@pytest.fixture(autouse=True)
def no_queue_of_other_tests() -> Iterator[None]:
    queue.cache_clear()
    yield
    queue.cache_clear()


def test_pyopencl_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(TileworkError, match=r"Tilework needs pyopencl: pip install pyopencl, or pyopencl\[pocl\]"):
        queue()


def test_there_is_no_device(monkeypatch: pytest.MonkeyPatch):
    def no_context(interactive: bool) -> None:
        raise DriverError("PLATFORM_NOT_FOUND_KHR")

    monkeypatch.setitem(sys.modules, "pyopencl", SimpleNamespace(create_some_context=no_context, Error=DriverError))
    with pytest.raises(TileworkError, match=r"finds no OpenCL device \(PLATFORM_NOT_FOUND_KHR\): install a driver"):
        queue()


def test_a_device_that_builds_no_kernel(monkeypatch: pytest.MonkeyPatch):
    """PoCL 3 does not know processors that are newer than its LLVM."""
    device = SimpleNamespace(name="pthread-new ", platform=SimpleNamespace(name="Portable Computing Language"))
    fake = SimpleNamespace(
        create_some_context=lambda interactive: SimpleNamespace(devices=[device]),
        Context=lambda devices: None,
        CommandQueue=lambda context: None,
        Program=BrokenProgram,
        Error=DriverError,
    )
    monkeypatch.setitem(sys.modules, "pyopencl", fake)
    with pytest.raises(TileworkError, match="pthread-new does not build a kernel: unknown target CPU 'generic'"):
        queue()
