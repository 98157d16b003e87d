"""Pools for tests: `tilework pool` in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

QUICK = (
    "import sys; from tilework.tuning.pool import serve; serve._SETTINGS['distributed.scheduler.worker-ttl'] = '1s'; "
    "from tilework.tools.cli import main; sys.exit(main(sys.argv[1:]))"
)
"""The command line, but a worker that is silent is found after five seconds: the least that Dask does."""


@contextmanager
def running(*words: str) -> Generator[str]:
    """The address of a pool that `tilework pool WORDS` starts or joins, which ends with Ctrl-C."""
    command = [sys.executable, "-c", QUICK, "pool", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("pool at "), process.stderr.read()
        yield line.removeprefix("pool at ").strip()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, process.stderr.read()
    finally:
        process.kill()
        process.wait()
