"""Runs the tasks of `tasks` in fresh processes, and watches the memory of what those start."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import child_environment

_SAMPLE_SECONDS = 0.02


def run_task(task: str, **arguments: Any) -> dict[str, Any]:
    """What a task of `tasks` answers, and the memory that processes which it started used: `worker_bytes`.

    Raises TileworkError where the task does.
    """
    with tempfile.TemporaryFile() as answered, tempfile.TemporaryFile() as said:  # of any length, unlike pipes
        command = [sys.executable, "-P", "-m", "tilework.tools.bench.tasks", task, json.dumps(arguments)]
        process = subprocess.Popen(command, stdout=answered, stderr=said, env=child_environment())
        try:
            workers = _watch(process)
        finally:
            process.kill()
        answer = _answer(task, process.returncode, _read(answered), _read(said))
    return {**answer, "worker_bytes": sum(workers.values())}


def _watch(process: subprocess.Popen[bytes]) -> dict[int, int]:
    """Wait for the end of a process; by child of it, the most memory that one was seen to have used."""
    peaks: dict[int, int] = {}
    while process.poll() is None:
        with suppress(OSError):  # a process has ended meanwhile, or this system is not Linux
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for child in map(int, children):
                peaks[child] = max(peaks.get(child, 0), _peak_bytes(child))
        time.sleep(_SAMPLE_SECONDS)
    return peaks


def _peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    _, found, rest = status.partition("VmHWM:")
    return int(rest.split()[0]) << 10 if found else 0


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _answer(task: str, status: int, answered: str, said: str) -> dict[str, Any]:
    if status != 0:
        raise RuntimeError(f"the task '{task}' ended with status {status}: {said.strip()}")
    answer: dict[str, Any] = json.loads(answered)
    if "error" in answer:
        raise TileworkError(answer["error"])
    return answer
