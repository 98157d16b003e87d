"""Measuring a model: compiling it, loading it, running it beside other engines."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from statistics import median
from time import sleep
from typing import Any

from tilework.runtime.openmp import openmp_runtime
from tilework.targets.host import host_target
from tilework.tools.bench.feeds import relative_error, saved_results
from tilework.tools.bench.operators import OPERATOR
from tilework.tools.bench.processes import run_task
from tilework.tools.bench.subject import Subject, SubjectError
from tilework.tools.model_source import LIGHT

SCHEMA = 2
"""Raised when what `measure_model` and `machine` return changes its meaning."""

WEIGHTS_FACTOR, FIXED_BYTES = 3, 500_000_000
"""Compiling should need no more memory than so many times the weights, and this."""

BLOCK_SECONDS = 0.2
"""How long one engine has the machine before it is the next one's turn."""

PAUSE_SECONDS = 0.05
"""Before every block: idle threads of the other engines have stopped spinning by then."""


@dataclass(frozen=True)
class Plan:
    """What to measure a model with: sizes of its symbols, numbers of threads, `repeat` blocks of runs for each
    engine and number of threads, and the engines beside Tilework."""

    dims: Mapping[str, int]
    threads: Sequence[int]
    repeat: int
    yardsticks: Sequence[str]


def measure_model(source: str, plan: Plan) -> dict[str, Any]:
    """All measurements of one model, as JSON values. Raises TileworkError for a model that cannot be compiled."""
    with tempfile.TemporaryDirectory(prefix="tilework-bench-") as folder:
        model, artefact = source, f"{folder}/model.tw"
        if source.startswith((LIGHT, OPERATOR)):
            model = f"{folder}/model.onnx"
            run_task("save", source=source, path=model)
        compiling = {"model": model, "cache": f"{folder}/cache", "artefact": artefact}
        result: dict[str, Any] = {
            "model": source,
            "dims": dict(plan.dims),
            "compile": run_task("compile", **compiling),
            "compile_warm": run_task("compile", **compiling),
            "load": run_task("load", artefact=artefact, dims=plan.dims),
        }
        files = {"artefact": artefact, "model": model, "dims": plan.dims}
        result["inference"] = [measure_inference(files, folder, n, plan) for n in plan.threads]
        return result


def measure_inference(files: Mapping[str, Any], folder: str, threads: int, plan: Plan) -> dict[str, Any]:
    """Every engine's runs on so many threads, in turns, and how far its results are from ours.

    An engine that cannot run the model is left out: its entry holds the "error". Raises SubjectError where it is ours.
    """
    engines: dict[str, dict[str, Any]] = {}
    with ExitStack() as running:
        subjects: list[Subject] = []
        for name in ("tilework", *plan.yardsticks):
            subject = running.enter_context(Subject(name, **files, threads=threads))
            try:
                engines[name] = subject.prepared()
                subjects.append(subject)
            except SubjectError as error:
                if name == "tilework":
                    raise
                engines[name] = {"error": str(error)}
        for subject, taken in zip(subjects, take_turns(subjects, plan.repeat), strict=True):
            engines[subject.kind]["milliseconds"] = summary(taken)
        for name, difference in _differences(subjects, folder).items():
            engines[name]["difference"] = difference
    return {"threads": threads, "engines": engines}


def take_turns(subjects: Sequence[Subject], repeat: int) -> list[list[float]]:
    """Milliseconds of each one's runs, `repeat` blocks each: whatever else the machine does meets all alike."""
    times: list[list[float]] = [[] for _ in subjects]
    for _ in range(repeat):
        for subject, taken in zip(subjects, times, strict=True):
            sleep(PAUSE_SECONDS)
            taken += subject.milliseconds(BLOCK_SECONDS)
    return times


def summary(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median and least, and how many there are."""
    return {"median": median(milliseconds), "least": min(milliseconds), "runs": len(milliseconds)}


def _differences(subjects: Sequence[Subject], folder: str) -> dict[str, float]:
    """By engine the largest difference of our outputs from its own, as `relative_error` counts."""
    results: list[list[Any]] = []
    for subject in subjects:
        subject.save(f"{folder}/results.npz")
        results.append(saved_results(f"{folder}/results.npz"))
    ours = results[0]
    return {
        subject.kind: max((relative_error(*pair) for pair in zip(ours, theirs, strict=True)), default=0.0)
        for subject, theirs in zip(subjects[1:], results[1:], strict=True)
    }


def memory_limit(compiled: Mapping[str, Any]) -> int:
    """The bytes that compiling should not exceed, from what the task "compile" answered."""
    return WEIGHTS_FACTOR * compiled["weight_bytes"] + FIXED_BYTES


def largest_difference(measured: Mapping[str, Any]) -> float | None:
    """Of all engines and numbers of threads; None where nothing was compared."""
    engines = [engine for run in measured["inference"] for engine in run["engines"].values()]
    return max((engine["difference"] for engine in engines if "difference" in engine), default=None)


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
