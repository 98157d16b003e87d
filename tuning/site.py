"""Where a search compiles and runs candidates: on this machine, or on devices of a pool."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from tilework.algebra.errors import UsageError
from tilework.runtime.threads import get_num_threads
from tilework.targets.cpu.host import physical_cores
from tilework.tuning.measuring.base import Builder, Runner, Site
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.pool.extra import need_packages
from tilework.tuning.task import Task


class LocalSite:
    """This machine, with all its cores for compilers."""

    target = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        """Nothing is left to be done: builders and runners have ends of their own."""

    def builder(self, task: Task) -> Builder:
        """Compiler processes."""
        return LocalBuilder(task, physical_cores())

    def runner(self, task: Task) -> Runner:
        """A process that runs candidates one by one."""
        return LocalRunner(task, get_num_threads())


def site_for(pool: str | None, device: str | None, tls: object = None) -> Site:
    """The devices of a name in the pool at an address, with the folder of its certificates; this machine without one.

    Raises UsageError for what is no address and no device there, TileworkError where no pool answers.
    """
    if pool is None:
        if device is not None or tls is not None:
            given = "device" if device is not None else "tls"
            raise UsageError(f"{given}= is about a pool: say which one it is (pool=, on the command line --pool)")
        return LocalSite()
    if not isinstance(device, str):
        raise UsageError(f"the pool at {pool} needs the name of a device: tilework pool list shows them")
    need_packages()
    from tilework.tuning.pool.address import pool_address
    from tilework.tuning.pool.measuring import PoolSite

    return PoolSite(pool_address(pool, tls), device)
