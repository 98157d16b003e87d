"""What the workers of a pool are asked to do: functions of bytes, numbers and texts."""

from __future__ import annotations

import faulthandler
from collections.abc import Generator
from contextlib import contextmanager

from distributed import get_worker

from tilework.driver.worker import CompiledKernel
from tilework.tuning.pool.messages import Message, message_of_outcome
from tilework.tuning.pool.worker import BuilderWorker, DeviceWorker

OVERHEAD_SECONDS = 150.0
"""So much longer than code may run a task may take: code is copied, linked, and compared with a reference before."""


def measure(request: Message, setup: Message | None) -> Message:
    """What comes of a candidate on the device of this worker; see `ServedDevice.measure`."""
    worker = _device_worker()
    with watched(request["seconds"] + OVERHEAD_SECONDS):
        return {**worker.served.measure(request, setup), "worker": worker.address}


def execute(request: Message, content: bytes | None) -> Message:
    """What a program makes of inputs on the device of this worker; see `ServedDevice.execute`."""
    worker = _device_worker()
    with watched(request["seconds"] + OVERHEAD_SECONDS):
        return {**worker.served.execute(request, content), "worker": worker.address}


def build(text: str, entry: str, seconds: float) -> Message:
    """The code of a candidate, or why there is none; and how long it took."""
    worker = get_worker()
    assert isinstance(worker, BuilderWorker)
    with worker.compiler() as compiler:
        outcome, taken = compiler.compiled(text, entry, seconds)
    if isinstance(outcome, CompiledKernel):
        return {"object": outcome.object_code, "metadata": outcome.metadata, "taken": taken}
    return {**message_of_outcome(outcome), "taken": taken}


@contextmanager
def watched(seconds: float) -> Generator[None]:
    """End this process if the block takes so long, whatever it does: the clock needs neither Python nor its lock."""
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _device_worker() -> DeviceWorker:
    worker = get_worker()
    assert isinstance(worker, DeviceWorker)
    return worker
