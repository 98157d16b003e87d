"""Parallel compilation: order, errors, workers that die, Ctrl-C. The compiler itself is a stand-in."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from tilework.algebra.errors import TileworkError
from tilework.driver.pool import CompilePool
from tilework.driver.worker import (
    _MESSAGES,
    CompiledKernel,
    FailedKernel,
    KernelBuildError,
    KernelJob,
    do_job,
    raise_failure,
)
from tilework.driver.worker_process import WorkerProcess

# Takes the place of tilework.driver.build_kernel in this process and, as a sitecustomize, in workers.
STAND_IN = """
import os, sys, time, types

def build_kernel(text, kernel):
    print("chatter on standard output", flush=True)
    if kernel == "refused":
        from tilework.algebra.errors import TileworkError
        raise TileworkError("axis i is consumed")
    if kernel == "bug":
        return {}[text]
    if kernel == "dies":
        sys.stderr.write("LLVM ERROR: out of registers\\n")
        os._exit(3)
    time.sleep(float(text.partition("seconds=")[2] or 0))
    return text.encode() * 1000, {"text": text, "pid": os.getpid(), "began": time.monotonic()}

build = types.ModuleType("tilework.driver.build_kernel")
build.build_kernel = build_kernel
sys.modules[build.__name__] = build
"""


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "tilework.driver.build_kernel", None)  # to be restored
    exec(STAND_IN, {})


def jobs(count: int, seconds: float = 0.0) -> list[KernelJob]:
    return [KernelJob(f"text{i} seconds={seconds}", f"k{i}", cost=i) for i in range(count)]


def processes(outcomes: list[object]) -> set[int]:
    return {outcome.metadata["pid"] for outcome in outcomes if isinstance(outcome, CompiledKernel)}


def test_few_jobs_are_compiled_here():
    with CompilePool(4) as pool:
        assert processes(pool.run(jobs(2))) == {os.getpid()}
        assert pool.run([]) == []


def test_outcomes_come_in_the_order_of_the_jobs_from_several_processes():
    done: list[int] = []
    with CompilePool(2) as pool:
        outcomes = pool.run(jobs(12, seconds=0.1), lambda index, outcome: done.append(index))
        assert len(processes(outcomes)) == 2 and os.getpid() in processes(outcomes)
        again = pool.run(jobs(12, seconds=0.1))
        assert processes(again) == processes(outcomes)
    assert [outcome.kernel for outcome in outcomes] == [f"k{i}" for i in range(12)]
    assert [outcome.object_code for outcome in outcomes] == [f"text{i} seconds=0.1".encode() * 1000 for i in range(12)]
    assert sorted(done) == list(range(12))


def test_the_longest_jobs_begin_first():
    with CompilePool(1) as pool:
        outcomes = pool.run([KernelJob("", name, cost=cost) for name, cost in (("a", 1), ("b", 3), ("c", 2))])
    assert [o.kernel for o in sorted(outcomes, key=lambda o: o.metadata["began"])] == ["b", "c", "a"]


@pytest.mark.parametrize("here", [True, False])
def test_errors_come_back_structured(here: bool):
    worker = None if here else WorkerProcess()
    try:
        do = worker.do if worker else do_job
        refused, bug = (do(KernelJob("absent", kernel)) for kernel in ("refused", "bug"))
    finally:
        if worker:
            worker.kill()
    assert refused == FailedKernel("refused", "axis i is consumed")
    assert isinstance(bug, FailedKernel) and bug.message == "KeyError: 'absent'"
    assert bug.trace and "build_kernel" in bug.trace
    with pytest.raises(TileworkError, match="kernel 'refused': axis i is consumed"):
        raise_failure(refused)
    with pytest.raises(KernelBuildError, match="(?s)kernel 'bug': KeyError: 'absent'.*Traceback"):
        raise_failure(bug)


def test_a_worker_that_dies_is_reported_with_its_last_words():
    worker = WorkerProcess()
    outcome = worker.do(KernelJob("", "dies"))
    assert isinstance(outcome, FailedKernel)
    assert outcome.message == "the compiler process died (exit status 3)"
    assert outcome.trace == "chatter on standard output\nLLVM ERROR: out of registers"
    assert not worker.is_alive


def test_a_worker_killed_by_a_signal_names_it():
    worker = WorkerProcess()
    os.kill(worker._process.pid, signal.SIGKILL)
    outcome = worker.do(KernelJob("", "k"))
    assert outcome == FailedKernel("k", "the compiler process died (signal 9)", "it printed nothing")


def test_an_answer_that_cannot_be_read_ends_the_worker(monkeypatch: pytest.MonkeyPatch):
    """So it is when a worker was started after an edit of what it sends."""
    monkeypatch.delitem(_MESSAGES, "CompiledKernel")
    worker = WorkerProcess()
    outcome = worker.do(KernelJob("", "k"))
    assert isinstance(outcome, FailedKernel)
    assert outcome.message == "the answer of the compiler process cannot be read: KeyError('CompiledKernel')"
    assert not worker.is_alive


def test_workers_need_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch):
    def fail() -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    worker = WorkerProcess()
    assert isinstance(worker.do(KernelJob("", "k")), CompiledKernel)
    outcome = worker.do(KernelJob("", "dies"))
    assert isinstance(outcome, FailedKernel) and outcome.message == "the compiler process died (exit status 3)"
    assert outcome.trace == "what it printed is not known, for want of a folder for temporary files"


def test_the_other_jobs_survive_a_dead_worker():
    with CompilePool(3) as pool:
        pool._workers = [WorkerProcess(), WorkerProcess()]
        for worker in pool._workers:
            worker._process.kill()
        outcomes = pool.run(jobs(8, seconds=0.05))
        failed = [outcome for outcome in outcomes if isinstance(outcome, FailedKernel)]
        assert len(failed) <= 2 and len(outcomes) == 8
        assert pool._workers == [] or all(worker.is_alive for worker in pool._workers)


def test_an_error_in_the_callback_ends_the_workers():
    def stop(index: int, outcome: object) -> None:
        raise RuntimeError("enough")

    with CompilePool(2) as pool, pytest.raises(RuntimeError, match="enough"):
        pool.run(jobs(6, seconds=0.1), stop)
    assert pool._workers == []


def test_ctrl_c_ends_parent_and_workers_at_once(tmp_path: Path):
    program = textwrap.dedent("""
        from tilework.driver.pool import CompilePool
        from tilework.driver.worker import KernelJob
        with CompilePool(2) as pool:
            pool._started(9)
            print(pool._workers[0]._process.pid, flush=True)
            pool.run([KernelJob("seconds=600", f"k{i}") for i in range(9)])
    """)
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    worker = int(parent.stdout.readline())
    time.sleep(0.3)
    parent.send_signal(signal.SIGINT)
    _, errors = parent.communicate(timeout=30)
    assert errors.strip().endswith(b"KeyboardInterrupt") and errors.count(b"Traceback") == 1
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
