"""What goes wrong while candidates are measured: each fault costs its own candidate, and is told by its kind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from kernel_faults import FAULTS, code_of
from te_products import kernel_of, matmul

from tilework.algebra.errors import TileworkError
from tilework.driver.build_kernel import build_kernel
from tilework.targets.cpu.host import host_target
from tilework.tools.cli import main
from tilework.tools.tuning_progress import SearchProgress
from tilework.tuning.budget import Budget
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.outcome import Code, Failure, Outcome
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.progress import Silent
from tilework.tuning.records import Record, Records, read_records
from tilework.tuning.search import Search
from tilework.tuning.sketches.derive import sketches_of
from tilework.tuning.space import Space
from tilework.tuning.task import Task


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(kernel_of(matmul(5, 6, 7)), host_target(), rules=False)


@pytest.fixture(scope="module")
def right(task: Task) -> Code:
    """The code of the kernel without a schedule."""
    return task.code(*build_kernel(task.text(task.unscheduled), task.entry))


@pytest.fixture
def runner(task: Task, right: Code) -> Iterator[LocalRunner]:
    with LocalRunner(task, threads=1) as runner:
        assert runner.set_reference(right, 30.0).failure is None
        yield runner


@pytest.mark.parametrize("failure", FAULTS)
def test_faults_are_told_apart(runner: LocalRunner, right: Code, failure: Failure):
    outcome = runner.measure(code_of(FAULTS[failure], right), seconds=0.5)
    assert (outcome.seconds, outcome.failure) == (None, failure)
    assert outcome.message
    assert runner.measure(right, 30.0).seconds is not None  # the next candidate does not notice


def test_code_that_cannot_be_loaded_fails(runner: LocalRunner, right: Code):
    assert runner.measure(replace(right, object_code=b"no object file"), 5.0).failure is Failure.RUN


def test_memory_that_is_not_there_fails(runner: LocalRunner, right: Code):
    outcome = runner.measure(replace(right, scratch=(1 << 60,)), 5.0)
    assert outcome.failure is Failure.RUN


def test_a_server_that_dies_is_replaced(runner: LocalRunner, right: Code):
    assert runner._process is not None
    runner._process.kill()
    assert runner.measure(right, 5.0).failure is Failure.CONNECTION
    assert runner.measure(right, 5.0).seconds is not None


def test_a_build_that_takes_too_long_is_ended(task: Task):
    with LocalBuilder(task, processes=1) as builder:
        [(code, outcome, _)] = builder.build([task.text(task.unscheduled)], seconds=0.001)
        assert code is None and outcome is not None and outcome.failure is Failure.BUILD_TIMEOUT
        [(code, outcome, _)] = builder.build([task.text(task.unscheduled)], seconds=60.0)
        assert code is not None


def test_a_schedule_that_is_refused_is_illegal(task: Task):
    text = task.text(task.unscheduled).replace('"add"', '"no such reducer"')
    with LocalBuilder(task, processes=1) as builder:
        [(_, outcome, _)] = builder.build([text], seconds=60.0)
    assert outcome is not None and outcome.failure is Failure.ILLEGAL


class NoBuilder:
    """A builder for which every candidate is illegal."""

    def build(self, texts: Sequence[str], seconds: float) -> list[tuple[None, Outcome, float]]:
        return [(None, Outcome(None, Failure.ILLEGAL, "it is refused\nfor a reason"), 0.0) for _ in texts]


def test_a_search_without_a_valid_candidate_says_so(task: Task):
    space = Space(sketches_of(task.kernel, task.target))
    runner = LocalRunner(task, 1)
    budget = Budget.of(64, 60.0, 0, "random", "residual")
    search = Search(task, space, budget, NoBuilder(), runner, Records(None), Silent())  # type: ignore[arg-type]
    search.run(6, time.monotonic() + 60)
    with pytest.raises(TileworkError) as caught:
        search.finish()
    assert str(caught.value) == "none of 6 candidates for @main could be measured: 6 illegal (it is refused)"


# -- records

WRITER = """
import sys
from tilework.tuning.measuring.outcome import Outcome
from tilework.tuning.records import Record, Records
records = Records(sys.argv[1])
for i in range(int(sys.argv[3])):
    records.append(Record("k", "main", "t", "c", 1, sys.argv[2], {"n": i}, "x" * 3000, Outcome(1.0)))
    print(i, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """A process that appends records, and prints the number of each that is on the disk."""
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_writer_that_is_killed_loses_only_what_it_was_writing(tmp_path: Path):
    path, random = tmp_path / "records.jsonl", Random(0)
    told = 0
    for round_ in range(5):
        process = writer(path, f"round {round_}", 100_000)
        assert process.stdout is not None
        for _ in range(random.randrange(1, 40)):
            process.stdout.readline()
        time.sleep(random.random() * 0.02)
        os.kill(process.pid, signal.SIGKILL)
        told += len(process.stdout.read().splitlines())
        process.wait()
        Records(path).append(Record("k", "main", "t", "c", 1, "after", {}, "", Outcome(1.0)))
        kept = [r for r in read_records(path) if r.sketch == f"round {round_}"]
        assert [r.knobs["n"] for r in kept] == list(range(len(kept)))
    assert told > 0


def test_two_writers_share_a_file(tmp_path: Path):
    path = tmp_path / "records.jsonl"
    writers = [writer(path, name, 150) for name in ("one", "other")]
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    kept = list(read_records(path))
    assert [r.knobs["n"] for r in kept if r.sketch == "one"] == list(range(150))
    assert [r.knobs["n"] for r in kept if r.sketch == "other"] == list(range(150))


# -- a whole tuner

KILLS = 50


def test_a_search_that_is_interrupted_tells_what_it_has_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupted(self: SearchProgress, search: Search) -> None:
        if len(search.trials) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(SearchProgress, "trial", interrupted)
    program = tmp_path / "gemm.mlir"
    program.write_text(str(kernel_of(matmul(5, 6, 7))), encoding="utf-8")
    assert main(["tune", str(program), "--trials", "9"]) == 128 + signal.SIGINT
    lines = capsys.readouterr().err.splitlines()
    kernel = next(at for at, line in enumerate(lines) if line.startswith("kernel  "))
    assert lines[kernel + 1].split()[-2] == "2", "the column of trials"
    assert lines[-1] == "tilework: interrupted"


def processes_with(mark: str) -> list[int]:
    """The processes that have inherited a variable with that value from the tuner."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"TUNED_BY={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_a_tuner_that_is_killed_goes_on_where_it_was(tmp_path: Path):
    """At any moment a kill costs no trial that is on the disk, the file stays readable, and no process stays behind."""
    program, records, rng = tmp_path / "gemm.mlir", tmp_path / "gemm.jsonl", Random(0)
    program.write_text(str(kernel_of(matmul(16, 24, 32))), encoding="utf-8")
    command = [sys.executable, "-m", "tilework.tools.cli", "tune", str(program), "--records", str(records)]
    trials: list[Record] = []
    for kill in range(KILLS):
        environment = {**os.environ, "TUNED_BY": f"{os.getpid()}.{kill}"}
        arguments = ["--trials", "100000", "--seconds", "600", "--seed", str(kill)]
        tuner = subprocess.Popen([*command, *arguments], env=environment, stderr=subprocess.DEVNULL)
        end, had = time.monotonic() + 60.0, len(trials)
        while kill % 5 and had == len(trials) and time.monotonic() < end:
            time.sleep(0.05)  # of five kills one comes when the tuner starts, and four while it measures
            had = records.read_bytes().count(b"\n") if records.exists() else 0
        time.sleep(rng.uniform(0.0, 1.5))
        before = records.read_bytes().count(b"\n") if records.exists() else 0
        tuner.kill()
        tuner.wait()
        end = time.monotonic() + 30.0
        while processes_with(environment["TUNED_BY"]) and time.monotonic() < end:
            time.sleep(0.1)
        assert processes_with(environment["TUNED_BY"]) == []
        kept = list(read_records(records))
        assert len(kept) >= before and kept[: len(trials)] == trials
        trials = kept
    assert len(trials) > KILLS
    candidates = [(record.compiler, record.sketch, *record.knobs.items()) for record in trials]
    assert len(candidates) == len(set(candidates))
