"""The parts of `tilework bench` that need a process of their own: `python -m tilework.tools.bench_worker TASK JSON`.

A fresh process each, so that seconds and bytes are those of the task and of nothing before it. What must be imported is
imported before the clock starts, and its memory is the `baseline_bytes`. The answer is a JSON object on stdout.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.runtime.module import Module

BLOCK_SECONDS = 0.2
"""How long one of the two runtimes has the machine before it is the other's turn."""

PAUSE_SECONDS = 0.05
"""Before every block: idle threads of the other runtime have stopped spinning by then."""


def peak_bytes() -> int:
    """The largest memory that this process has used so far.

    `ru_maxrss` would do, but on Linux a new process begins with that of the process which started it.
    """
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def save_light_model(name: str, path: str) -> dict[str, Any]:
    """Write a light model with random weights to a file."""
    from tilework.tools.light_models import load_light_model

    data = load_light_model(name).SerializeToString()
    Path(path).write_bytes(data)
    return {}


def compile_model(model: str, cache: str, artefact: str) -> dict[str, Any]:
    """Compile a file with the cache in a folder, then save the artefact."""
    from tilework.api import compile
    from tilework.backends.cache import KernelCache

    for imported_on_use in ("frontends.onnx", "backends.llvm.compile_model", "backends.llvm.build"):
        importlib.import_module(f"tilework.{imported_on_use}")
    baseline = peak_bytes()
    start = perf_counter()
    module = compile(model, cache=KernelCache(Path(cache)))
    seconds, peak = perf_counter() - start, peak_bytes()
    start = perf_counter()
    module.save(artefact)
    save_seconds = perf_counter() - start
    assert module.report is not None
    return {
        "seconds": seconds,
        "phases": module.report.seconds,
        "kernels": len(module.report.kernels),
        "cached": len(module.report.cached),
        "calls": module.manifest.kernels,
        "baseline_bytes": baseline,
        "peak_bytes": peak - baseline,
        "weight_bytes": _weight_bytes(model),
        "save_seconds": save_seconds,
        "artefact_bytes": Path(artefact).stat().st_size,
    }


def _weight_bytes(model: str) -> int:
    from tilework.frontends.onnx import import_onnx

    return sum(array.nbytes for array in import_onnx(model).parameters.values())


def load_artefact(artefact: str, dims: Mapping[str, int]) -> dict[str, Any]:
    """Load an artefact and run it once."""
    start = perf_counter()
    module = Module.load(artefact)
    seconds = perf_counter() - start
    feeds = random_feeds(module, dims)
    start = perf_counter()
    module.run(feeds)
    return {"seconds": seconds, "first_run_seconds": perf_counter() - start}


def measure(artefact: str, model: str, dims: Mapping[str, int], threads: int, repeat: int) -> dict[str, Any]:
    """Milliseconds of single runs, in turns with onnxruntime's where it is installed, and how far results differ."""
    from tilework.runtime.threads import set_num_threads

    set_num_threads(threads)
    module = Module.load(artefact)
    feeds = random_feeds(module, dims)
    theirs, version = _onnxruntime(model, feeds, threads)
    runs: dict[str, Callable[[], object]] = {"tilework": lambda: module.run(feeds)}
    if theirs is not None:
        runs["onnxruntime"] = theirs
    times = take_turns(list(runs.values()), repeat)
    result: dict[str, Any] = {"threads": threads, "onnxruntime": version}
    result["milliseconds"] = {
        name: {"median": median(taken), "least": min(taken), "runs": len(taken)}
        for name, taken in zip(runs, times, strict=True)
    }
    if theirs is not None:
        result["errors"] = _errors(module.run(feeds), theirs())
    return result


def take_turns(runs: Sequence[Callable[[], object]], repeat: int) -> list[list[float]]:
    """Milliseconds of each run, `repeat` blocks each, in turns: whatever else the machine does meets all alike."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeat):
        for run, taken in zip(runs, times, strict=True):
            sleep(PAUSE_SECONDS)
            run()  # wakes threads, fills caches
            end = perf_counter() + BLOCK_SECONDS
            while True:
                start = perf_counter()
                run()
                now = perf_counter()
                taken.append(1000 * (now - start))
                if now > end:
                    break
    return times


def _onnxruntime(
    model: str, feeds: Mapping[str, Any], threads: int
) -> tuple[Callable[[], Mapping[str, Any]] | None, str | None]:
    """How to run the model with onnxruntime, and its version; None where it is not installed."""
    try:
        onnxruntime: Any = importlib.import_module("onnxruntime")
    except ImportError:
        return None, None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda: dict(zip(names, session.run(None, feeds), strict=True)), onnxruntime.__version__


def _errors(got: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, float]:
    """By output, the largest difference in units of the largest magnitude; of different shapes, infinity."""
    return {name: relative_error(got[name], wanted[name]) for name in wanted}


def relative_error(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """The largest difference of two arrays, in units of the largest magnitude that is wanted.

    Infinity for arrays of different shapes, or where only one of them is no number.
    """
    if got.shape != wanted.shape:
        return float("inf")
    if wanted.size == 0:
        return 0.0
    left, right = got.astype(np.float64), wanted.astype(np.float64)
    equal = (left == right) | (np.isnan(left) & np.isnan(right))
    difference = float(np.where(equal, 0.0, np.abs(left - right)).max())
    magnitude = float(np.abs(right[np.isfinite(right)]).max(initial=0.0)) or 1.0
    return difference / magnitude if np.isfinite(difference) else float("inf")


def random_feeds(module: Module, dims: Mapping[str, int]) -> dict[str, Any]:
    """Random values for every input, the same in every process."""
    from tilework.tools.model_source import random_array, symbol_sizes

    rng = np.random.default_rng(0)
    sizes = symbol_sizes(module, dims)
    return {spec.name: random_array(spec, sizes, rng) for spec in module.manifest.inputs}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "light": save_light_model,
    "compile": compile_model,
    "load": load_artefact,
    "measure": measure,
}


def main() -> None:
    """Do the task that the arguments name; what the user can mend is an answer too."""
    try:
        answer = TASKS[sys.argv[1]](**json.loads(sys.argv[2]))
    except TileworkError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
