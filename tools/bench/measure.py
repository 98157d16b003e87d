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

import numpy as np

from tilework.targets.cpu.host import first_threads, host_target
from tilework.tools.bench.engines import Array
from tilework.tools.bench.feeds import relative_error, saved_results
from tilework.tools.bench.operators import OPERATOR
from tilework.tools.bench.processes import run_task
from tilework.tools.bench.subject import Subject, SubjectError
from tilework.tools.model_source import is_named

SCHEMA = 2
"""Raised when what `measure_model` and `machine` return changes its meaning."""

WEIGHTS_FACTOR, FIXED_BYTES = 3, 500_000_000
"""Compiling should need no more memory than so many times the weights, and this."""

METERS = {"flops_per_second": "multiply-adds", "bytes_per_second": "stream"}
"""The machine's limits, and what measures them. A limit is the best of all runs; other times are medians."""

BLOCK_SECONDS = 0.2
"""How long one engine has the machine before it is the next one's turn."""

PAUSE_SECONDS = 0.05
"""Before every block: idle threads of the other engines have stopped spinning by then."""


@dataclass(frozen=True)
class Plan:
    """What to measure a model with: sizes of its symbols, numbers of threads, `repeat` blocks of runs for each
    engine and number of threads, the engines beside Tilework, whether every kernel call is timed, and the precision
    that it is compiled with."""

    dims: Mapping[str, int]
    threads: Sequence[int]
    repeat: int
    yardsticks: Sequence[str]
    kernels: bool
    precision: str = "default"


def measure_model(source: str, plan: Plan) -> dict[str, Any]:
    """All measurements of one model, as JSON values. Raises TileworkError for a model that cannot be compiled."""
    with tempfile.TemporaryDirectory(prefix="tilework-bench-") as folder:
        model, artefact = source, f"{folder}/model.tw"
        if is_named(source) or source.startswith(OPERATOR):
            model = f"{folder}/model.onnx"
            run_task("save", source=source, path=model)
        compiling = {"model": model, "cache": f"{folder}/cache", "artefact": artefact, "precision": plan.precision}
        result: dict[str, Any] = {
            "model": source,
            "dims": dict(plan.dims),
            "precision": plan.precision,
            "compile": run_task("compile", **compiling),
            "compile_warm": run_task("compile", **compiling),
            "load": run_task("load", artefact=artefact, dims=plan.dims),
        }
        profiled = f"{folder}/profiled.tw" if plan.kernels else None
        program = run_task("profile", **{**compiling, "artefact": profiled}, dims=plan.dims)
        result["program"] = {part: program[part] for part in ("flops", "calls", "buffers")}
        files = {"artefact": artefact, "profiled": profiled, "model": model, "dims": plan.dims}
        result["inference"] = [measure_inference(files, folder, n, plan) for n in plan.threads]
        return result


def measure_inference(files: Mapping[str, Any], folder: str, threads: int, plan: Plan) -> dict[str, Any]:
    """Everything on so many threads, in turns: engines, how far their results are from ours, and the machine's limits.

    files: the "artefact", and "profiled" where calls are to be timed; the "model" and its "dims". An engine that cannot
    run the model is left out: its entry holds the "error". Raises SubjectError where it is ours.
    """
    given = {name: files[name] for name in ("artefact", "model", "dims")}
    profiled = files["profiled"]
    with ExitStack() as running:

        def start(kind: str, **arguments: Any) -> Subject:
            return running.enter_context(Subject(kind, **arguments, threads=threads))

        engines = [start(name, **given) for name in ("tilework", *plan.yardsticks)]
        meters = {limit: start(kind) for limit, kind in METERS.items()}
        profile = None if profiled is None else start("kernels", **{**given, "artefact": profiled})
        entries, engines = _prepared(engines)
        amounts = {limit: meter.prepared()["amount"] for limit, meter in meters.items()}
        if profile is not None:
            profile.prepared()
        subjects = [*engines, *meters.values(), *([] if profile is None else [profile])]
        times = dict(zip(subjects, take_turns(subjects, plan.repeat, threads), strict=True))
        differences = _differences(engines, folder)
        for engine in engines:
            entries[engine.kind] |= {"milliseconds": summary(times[engine]), **differences.get(engine.kind, {})}
        result: dict[str, Any] = {"threads": threads, "engines": entries}
        result["limits"] = {limit: 1000 * amounts[limit] / min(times[meter]) for limit, meter in meters.items()}
        if profile is not None:
            result["calls"] = _call_times(profile, folder)
    return result


def _prepared(engines: Sequence[Subject]) -> tuple[dict[str, dict[str, Any]], list[Subject]]:
    """What there is to know of each engine, and those that can run."""
    entries: dict[str, dict[str, Any]] = {}
    running: list[Subject] = []
    for engine in engines:
        try:
            entries[engine.kind] = engine.prepared()
            running.append(engine)
        except SubjectError as error:
            if engine.kind == "tilework":
                raise
            entries[engine.kind] = {"error": str(error)}
    return entries, running


def _call_times(profile: Subject, folder: str) -> list[dict[str, float]]:
    """The times of each call, in microseconds: how long it takes, and when it starts where all before took their
    time."""
    profile.save(f"{folder}/ticks.npz")
    return call_times(np.stack(saved_results(f"{folder}/ticks.npz")))


def call_times(ticks: Array) -> list[dict[str, float]]:
    """From nanoseconds, a row a run: begin and end of the first call, of the second, ...

    Calls and the pauses between them are medians each, so that what disturbs one run adds to none of them.
    """
    steps = np.median(np.diff(ticks, axis=1), axis=0) / 1000  # a call, a pause, a call, ...
    starts = np.concatenate([[0.0], np.cumsum(steps)])
    return [{"start": float(s), "time": float(t)} for s, t in zip(starts[:-1:2], steps[::2], strict=True)]


def take_turns(subjects: Sequence[Subject], repeat: int, threads: int) -> list[list[float]]:
    """Milliseconds of each one's runs, `repeat` blocks each: whatever else the machine does meets all alike.

    Where there are more cores than threads, others may keep one of them busy for minutes: all go from core to core.
    """
    cores = first_threads()
    times: list[list[float]] = [[] for _ in subjects]
    for turn in range(repeat):
        for subject, taken in zip(subjects, times, strict=True):
            if threads < len(cores):
                subject.keep_to({cores[(turn + i) % len(cores)] for i in range(threads)})
            sleep(PAUSE_SECONDS)
            taken += subject.milliseconds(BLOCK_SECONDS)
    return times


def summary(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median and least, and how many there are."""
    return {"median": median(milliseconds), "least": min(milliseconds), "runs": len(milliseconds)}


def _differences(subjects: Sequence[Subject], folder: str) -> dict[str, dict[str, float]]:
    """The largest difference, by engine, of our outputs from its own, as `relative_error` counts."""
    results: list[list[Any]] = []
    for subject in subjects:
        subject.save(f"{folder}/results.npz")
        results.append(saved_results(f"{folder}/results.npz"))
    ours = results[0]
    return {
        subject.kind: {"difference": max(relative_error(*pair) for pair in zip(ours, theirs, strict=True))}
        for subject, theirs in zip(subjects[1:], results[1:], strict=True)
    }


def memory_limit(compiled: Mapping[str, Any]) -> int:
    """The bytes that compiling should not exceed, from what the task "compile" answered."""
    return WEIGHTS_FACTOR * compiled["weight_bytes"] + FIXED_BYTES


def largest_difference(measured: Mapping[str, Any]) -> float | None:
    """The largest difference of all engines and numbers of threads; None where nothing was compared."""
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
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("tilework", "xdsl", "llvmlite", "numpy", "onnx")},
    }
