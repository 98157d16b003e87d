"""What a search finds for te programs without a schedule, beside the schedules of the rules.

    python -m tilework.tools.bench.tuning [--programs gemm softmax] [--trials 64] [--seconds 60] [--json FILE]

The search starts from no schedule at all. Its winner and the rule's schedule run in turns at the end, on one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from tilework.api import tune
from tilework.runtime.threads import set_num_threads
from tilework.targets import target_to_compile_for
from tilework.tools.bench.tuning_programs import PROGRAMS
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.programs import Tuned

ROUNDS = 5
"""How often winner and rule run in turns."""


def measure_program(name: str, trials: int, seconds: float, seed: int) -> dict[str, Any]:
    """How a search for a program went, as JSON values; times in seconds."""
    before = time.monotonic()
    tuned: Tuned = tune(PROGRAMS[name](), trials=trials, seconds=seconds, rules=False, seed=seed)
    taken = time.monotonic() - before
    best, rule = _in_turns(name, tuned)
    times = [trial.seconds for trial in tuned.trials]
    return {
        "program": name,
        "best": best,
        "rule": rule,
        "unscheduled": tuned.default_seconds,
        "trials": times,
        "failed": sum(t is None for t in times),
        "seconds": taken,
        "schedule": tuned.schedule,
    }


def _in_turns(name: str, tuned: Tuned) -> tuple[float, float]:
    """The least times of the winner and of the rule's schedule."""
    task = replace(tuned.task, rules=True)
    with LocalBuilder(task, 2) as builder, LocalRunner(task, 1) as runner:
        built = builder.build([task.text(s) for s in (tuned.sequence, task.default, task.unscheduled)], 120.0)
        codes = [code for code, _, _ in built if code is not None]
        runner.set_reference(codes[-1], 120.0)
        least = [float("inf"), float("inf")]
        for _ in range(ROUNDS):
            for at, code in enumerate(codes[:2]):
                outcome = runner.measure(code, 60.0)
                assert outcome.seconds is not None, outcome
                least[at] = min(least[at], outcome.seconds)
    return least[0], least[1]


def main() -> None:
    """Search for each program, print a line for it, and the geometric mean of all."""
    parser = argparse.ArgumentParser(description="what a search finds for te programs, beside the rules")
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    set_num_threads(1)
    print(f"target {target_to_compile_for('host')}")
    found: list[dict[str, Any]] = []
    for name in options.programs:
        one = measure_program(name, options.trials, options.seconds, options.seed)
        found.append(one)
        part = one["rule"] / one["best"]
        times = f"{one['best'] * 1e3:9.4f} ms, rule {one['rule'] * 1e3:9.4f} ms"
        print(f"{name:18} {times}, {part:5.2f}; {len(one['trials'])} trials, {one['seconds']:.0f} s", flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"geometric mean {geometric_mean(one['rule'] / one['best'] for one in found):.3f}")


if __name__ == "__main__":
    main()
