"""The parts of `tilework bench` that need a process of their own: `python -m tilework.tools.bench.tasks TASK JSON`.

A fresh process each, so that seconds and bytes are those of the task and of nothing before it. What must be imported is
imported before the clock starts, and its memory is the `baseline_bytes`. The answer is a JSON object on stdout.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from tilework.algebra.errors import TileworkError
from tilework.runtime.module import Module
from tilework.tools.bench.feeds import random_feeds


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


def save_model(source: str, path: str) -> dict[str, Any]:
    """Write a network with random weights, or a single operator, to a file."""
    from tilework.tools.bench.operators import OPERATOR, operator_model
    from tilework.tools.model_source import named_model

    model = operator_model(source) if source.startswith(OPERATOR) else named_model(source)
    Path(path).write_bytes(model.SerializeToString())
    return {}


def compile_model(model: str, cache: str, artefact: str, precision: str) -> dict[str, Any]:
    """Compile a file with the cache in a folder, then save the artefact."""
    from tilework.api import compile
    from tilework.runtime.cache import KernelCache

    for imported_on_use in ("frontends.onnx", "driver.compile_model", "driver.build_kernel"):
        importlib.import_module(f"tilework.{imported_on_use}")
    baseline = peak_bytes()
    start = perf_counter()
    module = compile(model, cache=KernelCache(Path(cache)), precision=precision)
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


def profile_model(
    model: str, cache: str, artefact: str | None, dims: Mapping[str, int], precision: str
) -> dict[str, Any]:
    """What `ProgramWatcher` notes of a model; compiled with a clock around every call it is saved as `artefact`."""
    from tilework.api import compile
    from tilework.runtime.cache import KernelCache
    from tilework.targets.cpu.host import host_target
    from tilework.tools.bench.program import ProgramWatcher, tick_object

    watcher = ProgramWatcher(dims)
    module = compile(model, cache=KernelCache(Path(cache)), instrumentations=[watcher], precision=precision)
    if artefact is not None:
        objects = [*module.objects, tick_object(host_target())]
        Module(module.manifest, objects, module.parameters).save(artefact)
    return {"flops": watcher.flops, "calls": watcher.calls, "buffers": watcher.buffers}


def _weight_bytes(model: str) -> int:
    from tilework.frontends.onnx import import_onnx

    return sum(array.nbytes for array in import_onnx(model).parameters.values())


def load_artefact(artefact: str, dims: Mapping[str, int]) -> dict[str, Any]:
    """Load an artefact and run it once."""
    start = perf_counter()
    module = Module.load(artefact)
    seconds = perf_counter() - start
    feeds = random_feeds(artefact, dims)
    start = perf_counter()
    module.run(feeds)
    return {"seconds": seconds, "first_run_seconds": perf_counter() - start}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "save": save_model,
    "compile": compile_model,
    "profile": profile_model,
    "load": load_artefact,
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
