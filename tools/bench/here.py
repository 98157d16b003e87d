"""Timing the kernels of a model in this process: soon done, and less exact than `tilework bench`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.program_targets import targets_of
from tilework.api import compile as compile_model
from tilework.runtime.module import Module
from tilework.runtime.threads import set_num_threads
from tilework.targets.cpu.host import host_target, physical_cores
from tilework.tools.bench.feeds import feeds_of
from tilework.tools.bench.measure import call_times
from tilework.tools.bench.meters import Meter, multiply_adds, stream
from tilework.tools.bench.program import TICKS, ProgramWatcher, tick_object

SECONDS, LEAST_RUNS, MOST_RUNS = 0.3, 3, 200
"""How long the model and each of the meters run, and how often."""


def runs_here(module: ModuleOp) -> bool:
    """Whether a program is for this machine alone, so that it can be timed."""
    return list(targets_of(module).values()) == [host_target()]


def time_kernels(
    module: ModuleOp, parameters: Mapping[str, Any], precision: str, dims: Mapping[str, int]
) -> dict[str, Any]:
    """The times of each kernel call of a graph module, on all cores, and the machine's limits, as JSON values.

    They are an "inference" of `measure_model`, without engines. The module is consumed. dims: sizes of its symbols;
    1 for those it does not name.
    """
    watcher, threads = ProgramWatcher(dims), physical_cores()
    compiled = compile_model(module, None, parameters, instrumentations=[watcher], precision=precision)
    timed = Module(compiled.manifest, [*compiled.objects, tick_object(host_target())], compiled.parameters)
    feeds, ticks = feeds_of(timed, dims), list[Any]()
    set_num_threads(threads)
    _repeat(lambda: ticks.append(timed.run(feeds)[TICKS]))
    limits = {"flops_per_second": _best(multiply_adds(threads)), "bytes_per_second": _best(stream(threads))}
    return {"threads": threads, "limits": limits, "calls": call_times(np.stack(ticks[1:])) if watcher.calls else []}


def _best(meter: Meter) -> float:
    """What a meter counts, a second, in its best run."""
    run, amount = meter
    return amount / min(_repeat(run))


def _repeat(run: Callable[[], object]) -> list[float]:
    """The seconds that each run takes, for as long as all may take."""
    seconds: list[float] = []
    while len(seconds) < LEAST_RUNS or (sum(seconds) < SECONDS and len(seconds) < MOST_RUNS):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return seconds
