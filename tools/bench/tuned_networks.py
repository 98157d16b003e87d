"""Networks with tuned kernels beside the same networks with the schedules of the rules.

    python -m tilework.tools.bench.tuned_networks light:squeezenet net:lstm_step --trials 100 --json FILE

Each network is tuned on one thread. Then both run in turns, timed by what their thread takes, and medians are compared.
Where nothing faster was found they are the same code, and run once.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from tilework.api import compile as compile_model
from tilework.api import tune
from tilework.runtime.module import Module
from tilework.runtime.threads import set_num_threads
from tilework.tools.model_source import is_named, named_model, random_array, symbol_sizes

ROUNDS = 21
"""How often each of the two runs, after a run that warms up."""


def measure_network(source: str, trials: int, seconds: float, seed: int) -> dict[str, Any]:
    """What tuning a network gains, as JSON values; times in seconds."""
    before = time.monotonic()
    tuned: Module = tune(model_of(source), trials=trials, seconds=seconds, seed=seed)
    taken = time.monotonic() - before
    default = compile_model(model_of(source))
    is_same = [bytes(o) for o in default.objects] == [bytes(o) for o in tuned.objects]
    times = in_turns([default]) * 2 if is_same else in_turns([default, tuned])
    report = tuned.report
    assert report is not None
    names = {"tuned": report.tuned, "untuned": report.untuned}
    return {"network": source, "default": times[0], "best": times[1], "seconds": taken, **names}


def model_of(source: str) -> Any:
    """A network by name as ONNX, any other one as its file."""
    return named_model(source) if is_named(source) else source


def in_turns(modules: Sequence[Module]) -> list[float]:
    """The medians of the seconds that each module takes of this thread for the same random inputs."""
    rng = np.random.default_rng(0)
    sizes = symbol_sizes(modules[0], {})
    feeds = {spec.name: random_array(spec, sizes, rng) for spec in modules[0].manifest.inputs}
    times: list[list[float]] = [[] for _ in modules]
    for _ in range(1 + ROUNDS):
        for module, taken in zip(modules, times, strict=True):
            before = time.thread_time()
            module.run(feeds)
            taken.append(time.thread_time() - before)
    return [median(taken[1:]) for taken in times]


def main() -> None:
    """Tune each network, print a line for it, and the geometric mean of all."""
    parser = argparse.ArgumentParser(description="what tuning gains for networks, beside the rules")
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="as for tilework tune")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    set_num_threads(1)
    found: list[dict[str, Any]] = []
    for name in options.networks:
        one = measure_network(name, options.trials, options.seconds, options.seed)
        found.append(one)
        times = f"{one['best'] * 1e3:9.3f} ms, default {one['default'] * 1e3:9.3f} ms"
        part = one["default"] / one["best"]
        kernels = ", ".join(one["tuned"]) or "none"
        print(f"{name:22} {times}, {part:5.3f}; {one['seconds']:.0f} s; tuned: {kernels}", flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"geometric mean {geometric_mean(one['default'] / one['best'] for one in found):.3f}")


if __name__ == "__main__":
    main()
