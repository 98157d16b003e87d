"""Measuring a model: compiling it, loading it, running it beside onnxruntime. Each part in a fresh process."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from tilework.algebra.errors import TileworkError
from tilework.runtime.openmp import openmp_runtime
from tilework.targets.host import host_target
from tilework.tools.model_source import LIGHT

SCHEMA = 1
"""Raised when what `measure_model` and `machine` return changes its meaning."""

TOLERANCE = 1e-4
"""How far results may be from onnxruntime's, in units of the largest magnitude in a tensor."""

WEIGHTS_FACTOR, FIXED_BYTES = 3, 500_000_000
"""Compiling should need no more memory than so many times the weights, and this."""

_SAMPLE_SECONDS = 0.02


def measure_model(source: str, dims: Mapping[str, int], threads: Sequence[int], repeat: int) -> dict[str, Any]:
    """All measurements of one model, as JSON values; `repeat` blocks of runs for each number of threads.

    Raises TileworkError for a model that cannot be compiled.
    """
    with tempfile.TemporaryDirectory(prefix="tilework-bench-") as folder:
        model, cache, artefact = source, f"{folder}/cache", f"{folder}/model.tw"
        if source.startswith(LIGHT):
            model = f"{folder}/model.onnx"
            run_task("light", name=source.removeprefix(LIGHT), path=model)
        compiling = {"model": model, "cache": cache, "artefact": artefact}
        return {
            "model": source,
            "dims": dict(dims),
            "compile": run_task("compile", **compiling),
            "compile_warm": run_task("compile", **compiling),
            "load": run_task("load", artefact=artefact, dims=dims),
            "inference": [
                run_task("measure", artefact=artefact, model=model, dims=dims, threads=n, repeat=repeat)
                for n in threads
            ],
        }


def memory_limit(compiled: Mapping[str, Any]) -> int:
    """The bytes that compiling should not exceed, from what the task "compile" answered."""
    return WEIGHTS_FACTOR * compiled["weight_bytes"] + FIXED_BYTES


def largest_error(measured: Mapping[str, Any]) -> float | None:
    """Of all outputs and numbers of threads, as `relative_error` counts; None without onnxruntime."""
    errors = [error for run in measured["inference"] for error in run.get("errors", {}).values()]
    return max(errors, default=None)


def machine() -> dict[str, Any]:
    """What the measurements depend on besides the model, as JSON values."""
    target = host_target()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": platform.platform(),
        "cpu": target.cpu,
        "vector_bits": target.vector_bits,
        "cores": target.cores,
        "cache_bytes": list(target.cache_bytes),
        "openmp": openmp_runtime().path,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("tilework", "xdsl", "llvmlite", "numpy", "onnx")},
    }


def run_task(task: str, **arguments: Any) -> dict[str, Any]:
    """What a task of `bench_worker` answers, and the memory that processes which it started used: `worker_bytes`.

    Raises TileworkError where the task does.
    """
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-P", "-m", "tilework.tools.bench_worker", task, json.dumps(arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said)
        try:
            workers = _watch(process)
        finally:
            process.kill()
        answer = _answer(task, process, said)
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


def _answer(task: str, process: subprocess.Popen[bytes], said: IO[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    output = process.stdout.read()
    if process.returncode != 0:
        said.seek(0)
        last_words = said.read().decode(errors="replace").strip()
        raise RuntimeError(f"the task '{task}' ended with status {process.returncode}: {last_words}")
    answer: dict[str, Any] = json.loads(output)
    if "error" in answer:
        raise TileworkError(answer["error"])
    return answer
