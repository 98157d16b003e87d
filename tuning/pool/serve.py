"""A pool's own processes: the scheduler, which hands out tasks, and the workers of this machine, each with a nanny.

They listen on one address alone. Whoever can connect can run code: without TLS that address is this machine's own.
"""

# Dask has few types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

import dask.config
from distributed import Nanny, Scheduler
from distributed.security import Security

from tilework.algebra.errors import TileworkError
from tilework.tuning.pool.address import PoolAddress
from tilework.tuning.pool.boards import Board
from tilework.tuning.pool.certificates import security_with
from tilework.tuning.pool.greeting import check_answers
from tilework.tuning.pool.worker import BUILDER, BuilderWorker, DeviceWorker, resource_of

SILENT_SECONDS = 10
"""A worker that has not been heard of for so long is killed, and started anew."""

RETURN_SECONDS = 30
"""A task for which there is no worker any more fails after so long."""

_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,  # what kills a worker is not given to the next one
    "distributed.scheduler.worker-ttl": f"{SILENT_SECONDS}s",
    "distributed.scheduler.no-workers-timeout": f"{RETURN_SECONDS}s",
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.http.routes": [],  # pages without login that tell all
    "distributed.worker.http.routes": [],
}
_NO_PAGES = "127.0.0.1:0"
"""Where the empty server for pages listens, which cannot be left out."""


@dataclass(frozen=True)
class Offer:
    """What this machine brings to a pool. devices: names, each as often as there are slots. builders: their number."""

    devices: tuple[str, ...]
    boards: tuple[Board, ...]
    builders: int


def serve(address: PoolAddress, offer: Offer, ready: Callable[[PoolAddress], None]) -> None:
    """Run a pool until a signal ends it. ready: is told the address, with the port that was free where it was 0."""
    asyncio.run(_until_signal(_served(address, offer, ready)))


def join(address: PoolAddress, host: str, offer: Offer, ready: Callable[[PoolAddress], None]) -> None:
    """Bring this machine's devices to a pool until a signal ends it. host: by which name the pool reaches it.

    Raises TileworkError where no pool answers, and where it ends.
    """
    check_answers(address, security_with(address.certificates))
    asyncio.run(_until_signal(_joined(address, host, offer, ready)))


async def _served(address: PoolAddress, offer: Offer, ready: Callable[[PoolAddress], None]) -> None:
    with dask.config.set(_SETTINGS):
        async with AsyncExitStack() as held:
            security = security_with(address.certificates)
            scheduler = Scheduler(
                host=address.host,
                port=address.port,
                protocol="tls" if address.certificates else "tcp",
                security=security,
                dashboard=False,
                dashboard_address=_NO_PAGES,
            )
            await held.enter_async_context(scheduler)
            there = replace(address, port=int(scheduler.address.rpartition(":")[2]))
            await _start_workers(held, there, address.host, offer, security)
            ready(there)
            await asyncio.Event().wait()


async def _joined(address: PoolAddress, host: str, offer: Offer, ready: Callable[[PoolAddress], None]) -> None:
    with dask.config.set(_SETTINGS):
        async with AsyncExitStack() as held:
            nannies = await _start_workers(held, address, host, offer, security_with(address.certificates))
            ready(address)
            await asyncio.gather(*(nanny.finished() for nanny in nannies))
            raise TileworkError(f"the pool at {address} has ended")


async def _start_workers(
    held: AsyncExitStack, address: PoolAddress, host: str, offer: Offer, security: Security
) -> list[Nanny]:
    common: dict[str, Any] = {
        "host": host,
        "protocol": "tls" if address.certificates else "tcp",
        "security": security,
        "dashboard_address": _NO_PAGES,
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
        "death_timeout": RETURN_SECONDS,
    }
    nannies = [Nanny(str(address), **common, **options) for options in _workers(offer)]
    await asyncio.gather(*(held.enter_async_context(nanny) for nanny in nannies))
    return nannies


def _workers(offer: Offer) -> Iterator[Mapping[str, Any]]:
    """What makes each worker what it is."""
    boards = [(board.device, asdict(board)) for board in offer.boards]
    for device, board in [*((name, None) for name in offer.devices), *boards]:
        resources = {resource_of(device): 1}
        yield {"worker_class": DeviceWorker, "nthreads": 1, "resources": resources, "device": device, "board": board}
    if offer.builders:
        resources = {BUILDER: offer.builders}
        yield {
            "worker_class": BuilderWorker,
            "nthreads": offer.builders,
            "resources": resources,
            "builders": offer.builders,
        }


async def _until_signal(work: Any) -> None:
    """Run a coroutine until it ends, or until Ctrl-C or a signal to end: then everything it holds is closed."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        pass
    except (OSError, RuntimeError) as error:  # Dask has one of its own for what kept a part from starting
        cause = error.__cause__ if isinstance(error, RuntimeError) else error
        if not isinstance(cause, OSError):
            raise
        raise TileworkError(f"the pool cannot be started: {cause.strerror or cause}") from None
