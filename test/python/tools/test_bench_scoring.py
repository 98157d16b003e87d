"""`python -m tilework.tools.bench.scoring`, which says how fast configurations are scored. No time is asserted."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tilework.targets import parse_target
from tilework.targets.cpu.target import CpuTarget
from tilework.tools.bench.scoring import SCHEDULES, TARGET, measure


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tilework.tools.bench.scoring", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_row_for_each_schedule():
    done = run("--rows", "20")
    head, _, *rows = done.stdout.splitlines()
    assert done.returncode == 0 and head.startswith("| schedule | lowered once, ms | features, s |")
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in SCHEDULES]
    assert all(re.search(r"\| [\d,]+ \|$", row) for row in rows)


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=["product", "convolution"])
def test_every_step_has_a_time(schedule):
    times = measure(schedule, 5, CpuTarget.of(parse_target(TARGET), "llvm"))
    assert set(times) == {"lowering", "features", "limits", "model"} and min(times.values()) >= 0


def test_there_is_something_to_score():
    done = run("--rows", "0")
    assert done.returncode == 2 and done.stderr.splitlines()[-1].endswith("error: --rows is 1 or more, not 0")
