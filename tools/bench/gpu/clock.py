"""How long devices take: what a model launches is noted once, and repeated on the memory that it has."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from tilework.runtime.arrays import Array
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.runtime.devices.launching import Driver, LaunchDevice, Work
from tilework.runtime.function import Function
from tilework.runtime.module import Module

BLOCK_SECONDS = 0.05
"""So long a device repeats some work, at least, for one figure."""

BLOCKS = 5
"""The median of so many figures counts."""


def repeated(driver: Driver, work: Work) -> float:
    """Seconds that some work takes the device, when it is done again and again."""
    work()
    driver.wait()
    prepared = driver.prepared(work)
    once = max(driver.seconds_of(prepared), 1e-7)
    times = max(1, round(BLOCK_SECONDS / once))

    def block() -> None:
        for _ in range(times):
            prepared()

    return median(driver.seconds_of(block) for _ in range(BLOCKS)) / times


def module_seconds(module: Module, feeds: Mapping[str, Array]) -> float:
    """Seconds of a model's kernels on its device, without what is copied to and fro."""
    [device] = module.devices.values()
    assert isinstance(device, LaunchDevice)
    with device.noting() as launches:
        module.run(feeds)
    return repeated(device.driver, lambda: device.repeat(launches))


def function_seconds(function: Function, driver: Driver) -> float:
    """Seconds of a kernel that te made, of known sizes, on memory with whatever is in it."""
    program = LaunchProgram.decode(function.object_code)
    loaded = driver.load(program)
    arenas = [driver.allocate(max(size, 1)) for size in program.sizes(())]
    return repeated(driver, lambda: loaded.launch([arena.address for arena in arenas], ()))
