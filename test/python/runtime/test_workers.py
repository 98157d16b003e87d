"""Parallel loops: who runs what, callers at once, forked children, threads that never come, thread counts."""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilework.algebra.errors import UsageError
from tilework.runtime import threads
from tilework.runtime.devices.llvm import workers
from tilework.runtime.devices.llvm.compile import assembly, compile_ir
from tilework.runtime.devices.llvm.native_library import NativeLibrary
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target
from tilework.tools.commands import doctor

Loop = Callable[..., None]

# Of a table of integers, add 1 to those of the range.
COUNT = """
define void @count(ptr %table, i64 %lower, i64 %upper) {
entry:
  br label %body
body:
  %i = phi i64 [ %lower, %entry ], [ %i.next, %body ]
  %p = getelementptr i32, ptr %table, i64 %i
  %old = load i32, ptr %p
  %new = add i32 %old, 1
  store i32 %new, ptr %p
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %upper
  br i1 %more, label %body, label %end
end:
  ret void
}
"""

# Return when as many calls are running as the table says: never, where one thread runs one call after the other.
MEET = """
define void @meet(ptr %table, i64 %lower, i64 %upper) {
  %all = load i32, ptr %table
  %p = getelementptr i32, ptr %table, i64 1
  %before = atomicrmw add ptr %p, i32 1 seq_cst
  br label %wait
wait:
  %here = load atomic i32, ptr %p seq_cst, align 4
  %enough = icmp sge i32 %here, %all
  br i1 %enough, label %end, label %wait
end:
  ret void
}
"""


# Count the calls.
CALLS = """
define void @calls(ptr %table, i64 %lower, i64 %upper) {
  %old = atomicrmw add ptr %table, i32 1 monotonic
  ret void
}
"""


@pytest.fixture(scope="module")
def bodies() -> NativeLibrary:
    return NativeLibrary([compile_ir(text, host_target()) for text in (COUNT, MEET, CALLS)], {})


def loop(address: int) -> Loop:
    """`tilework_parallel` at an address."""
    arguments = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int32, ctypes.c_int32)
    return ctypes.CFUNCTYPE(None, *arguments)(address)


def counted(parallel: Loop, body: int, lower: int, upper: int, threads: int, pieces: int) -> list[int]:
    """How often each of the integers up to `upper` was run."""
    table = np.zeros(upper, np.int32)
    parallel(body, table.ctypes.data, lower, upper, threads, pieces)
    return table.tolist()


def met(body: int, threads: int) -> int:
    """How many threads met."""
    table = np.array([threads, 0], np.int32)
    loop(workers.worker_symbols()["tilework_parallel"])(body, table.ctypes.data, 0, threads, threads, 1)
    return int(table[1])


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(autouse=True)
def default_threads():
    before = threads._setting.threads
    yield
    threads._setting.threads = before


# -- loops


@pytest.mark.parametrize("pieces", [1, 2, 8, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (0, 1), (0, 2), (3, 10), (5, 102), (0, 10007)])
def test_each_iteration_is_run_once(bodies: NativeLibrary, lower: int, upper: int, threads: int, pieces: int):
    parallel = loop(workers.worker_symbols()["tilework_parallel"])
    body = bodies.get_function("count")
    for _ in range(20):
        ran = counted(parallel, body, lower, upper, threads, pieces)
        assert ran == [0] * lower + [1] * (upper - lower)


@pytest.mark.parametrize(("trips", "threads", "pieces"), [(7, 2, 1), (9, 4, 1), (31, 2, 8), (100, 3, 8)])
def test_shares_are_cut_into_no_more_pieces_than_asked_for(
    bodies: NativeLibrary, trips: int, threads: int, pieces: int
):
    table = np.zeros(1, np.int32)
    parallel = loop(workers.worker_symbols()["tilework_parallel"])
    parallel(bodies.get_function("calls"), table.ctypes.data, 0, trips, threads, pieces)
    assert threads <= table[0] <= threads * pieces


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_as_many_threads_as_asked_for_run_at_once(bodies: NativeLibrary, threads: int):
    assert met(bodies.get_function("meet"), threads) == threads


def test_more_threads_than_a_team_has(bodies: NativeLibrary):
    parallel = loop(workers.worker_symbols()["tilework_parallel"])
    upper = 3 * workers.MAX_THREADS
    assert counted(parallel, bodies.get_function("count"), 0, upper, upper, 8) == [1] * upper


@pytest.mark.parametrize("callers", [6, 2 * workers.MAX_TEAMS])
def test_callers_at_once_have_workers_of_their_own(bodies: NativeLibrary, callers: int):
    parallel, body = loop(workers.worker_symbols()["tilework_parallel"]), bodies.get_function("count")
    results: list[bool] = []

    def call() -> None:
        results.append(all(counted(parallel, body, 1, 1000, 3, 8) == [0] + [1] * 999 for _ in range(50)))

    pool = [threading.Thread(target=call) for _ in range(callers)]
    for caller in pool:
        caller.start()
    for caller in pool:
        caller.join(timeout=30)
    assert results == [True] * callers


def with_threads_created_by(stub: str) -> Loop:
    """A loop of its own, whose threads are created by a function of this name and number."""
    text = f"define i32 @stub(ptr %thread, ptr %attributes, ptr %main, ptr %argument) {{\n  ret i32 {stub}\n}}\n"
    creator = NativeLibrary([compile_ir(text, host_target())], {})
    kept.append(creator)
    ir = workers.workers_ir(host_target()).replace("@pthread_create", "@create")
    library = NativeLibrary([compile_ir(ir, host_target())], {"create": creator.get_function("stub")})
    kept.append(library)
    return loop(library.get_function("tilework_parallel"))


kept: list[NativeLibrary] = []
"""Code that loops made by `with_threads_created_by` run."""


@pytest.mark.parametrize("status", ["0", "11"])
def test_a_loop_does_not_wait_for_threads_that_do_not_come(bodies: NativeLibrary, status: str):
    """Created, but the system never lets them run; or not created."""
    parallel = with_threads_created_by(status)
    for _ in range(3):
        assert counted(parallel, bodies.get_function("count"), 0, 100, 4, 8) == [1] * 100


def test_threads_that_fell_asleep_are_woken(bodies: NativeLibrary):
    for _ in range(5):
        assert met(bodies.get_function("meet"), 3) == 3
        time.sleep(0.02)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_workers_that_a_loop_does_not_ask_for_sleep_on(bodies: NativeLibrary):
    """Awake, 14 of them would take the cores from the two that the loop asks for."""
    body = bodies.get_function("meet")
    assert met(body, 16) == 16
    time.sleep(0.05)
    before = times_put_aside()
    for _ in range(10):
        assert met(body, 2) == 2
        time.sleep(0.002)
    assert sum(times != before.get(thread) for thread, times in times_put_aside().items()) < 8


def times_put_aside() -> dict[str, str]:
    """How often each thread of this process gave its core away or lost it."""
    tasks = Path("/proc/self/task").iterdir()
    return {task.name: task.joinpath("status").read_text().partition("voluntary_ctxt_switches")[2] for task in tasks}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own(bodies: NativeLibrary):
    body = bodies.get_function("meet")
    assert met(body, 2) == 2
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a hang ends the child, by a signal
        os._exit(0 if met(body, 3) == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert met(body, 2) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_links_the_workers():
    program = """
        import os, signal, threading, time
        from tilework.runtime.devices.llvm import workers
        compiled, begun = workers.workers_code, threading.Event()
        def slow(target):
            begun.set()
            time.sleep(0.2)
            return compiled(target)
        workers.workers_code = slow
        thread = threading.Thread(target=workers.worker_symbols)
        thread.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            workers.worker_symbols()
            os._exit(0)
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
    """
    done = run_python(program)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("bind", ["true", ""])
def test_workers_of_a_thread_that_openmp_pinned_are_free(bind: str):
    """An OpenMP runtime, which another package loads, pins Python's main thread; what a user pins is kept."""
    program = """
        import os
        import numpy as np
        import tilework as tw
        from tilework import te
        from tilework.runtime.devices.llvm.workers import worker_symbols
        before = os.sched_getaffinity(0)
        worker_symbols()
        expected = before if os.environ["OMP_PROC_BIND"] else {min(before)}
        os.sched_setaffinity(0, {min(before)})
        A = te.placeholder((1000,), name="A")
        B = te.compute((1000,), lambda i: A[i] + 1.0, name="B")
        s = te.create_schedule(B.op)
        s[B].parallel(B.op.axis[0])
        tw.set_num_threads(2)
        b = np.zeros(1000, "float32")
        threads_before = set(os.listdir("/proc/self/task"))
        tw.build(s, [A, B])(np.ones(1000, "float32"), b)
        started = set(os.listdir("/proc/self/task")) - threads_before
        assert (b == 2).all() and started, started
        while not all(os.sched_getaffinity(int(thread)) == expected for thread in started):
            os.sched_yield()
    """
    done = run_python(program, OMP_PROC_BIND=bind)
    assert done.returncode == 0, done.stderr


def test_without_posix_threads_loops_run_on_the_callers(bodies: NativeLibrary):
    windows = parse_target("llvm -mtriple=x86_64-pc-windows-msvc -mcpu=haswell")
    library = NativeLibrary([compile_ir(workers.workers_ir(windows), host_target())], {})
    parallel = loop(library.get_function("tilework_parallel"))
    assert counted(parallel, bodies.get_function("count"), 2, 9, 4, 8) == [0] * 2 + [1] * 7


@pytest.mark.parametrize(
    ("triple", "pause", "affinity"),
    [
        ("x86_64-linux-gnu", "pause", True),
        ("aarch64-linux-gnu", "isb", True),
        ("arm64-apple-macosx13.0.0", "isb", False),
    ],
)
def test_threads_for_other_machines(triple: str, pause: str, affinity: bool):
    cpu = {"x86": "haswell", "aar": "neoverse-n1", "arm": "apple-m1"}[triple[:3]]
    target = parse_target(f"llvm -mtriple={triple} -mcpu={cpu}")
    text = assembly(workers.workers_ir(target), target)
    assert pause in text and ("sched_setaffinity" in text) == affinity


def test_doctor_warns_of_pinning(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for value, warned in (("true", True), ("", False)):
        monkeypatch.setenv("OMP_PROC_BIND", value)
        doctor.run(argparse.Namespace())
        assert (
            "OMP_PROC_BIND=true lets OpenMP pin Python's main thread to one core" in capsys.readouterr().out
        ) == warned


# -- how many


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "2", 1 << 31, np.array([1, 2])])
def test_a_wrong_number_of_threads_is_refused(wrong: object):
    with pytest.raises(UsageError, match="the number of threads is a positive integer"):
        threads.set_num_threads(wrong)


def test_a_number_of_threads_may_be_numpys():
    before = threads.get_num_threads()
    try:
        threads.set_num_threads(np.int64(3))
        assert threads.get_num_threads() == 3
    finally:
        threads.set_num_threads(before)


@pytest.mark.parametrize(
    ("text", "expected"), [("3", 3), ("3,2", 3), ("", None), ("many", None), ("0", None), (str(1 << 31), None)]
)
def test_number_of_threads_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, expected: int | None):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    threads._setting.threads = None
    assert threads.get_num_threads() == (expected or host_target().cores)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_loops_of_fewer_threads_keep_no_other_worker_awake():
    """The third thread sleeps while loops of two follow each other: it hardly runs."""
    ran = run_python("""
        import ctypes, os, time
        from tilework.runtime.devices.llvm.compile import compile_ir
        from tilework.runtime.devices.llvm.native import load_objects
        from tilework.targets.cpu.host import host_target

        library = load_objects([compile_ir('''
        declare void @tilework_parallel(ptr, ptr, i64, i64, i32, i32)
        define internal void @nothing(ptr %context, i64 %lower, i64 %upper) {
          ret void
        }
        define void @loops(i64 %count) {
        entry:
          call void @tilework_parallel(ptr @nothing, ptr null, i64 0, i64 3, i32 3, i32 1)
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %next, %loop ]
          call void @tilework_parallel(ptr @nothing, ptr null, i64 0, i64 3, i32 2, i32 1)
          %next = add i64 %i, 1
          %more = icmp slt i64 %next, %count
          br i1 %more, label %loop, label %end
        end:
          ret void
        }
        ''', host_target())])
        loops = ctypes.CFUNCTYPE(None, ctypes.c_int64)(library.get_function("loops"))

        before, start = set(os.listdir("/proc/self/task")), time.perf_counter_ns()
        loops(500_000)
        taken = time.perf_counter_ns() - start
        _, third = sorted(map(int, set(os.listdir("/proc/self/task")) - before))
        with open(f"/proc/self/task/{third}/schedstat") as times:
            print(int(times.read().split()[0]) / taken)
    """)
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 0.1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_links_a_module():
    """The child links one, too."""
    ran = run_python("""
        import os, threading
        from tilework.runtime.devices.llvm.compile import compile_ir
        from tilework.runtime.devices.llvm import native
        from tilework.targets.cpu.host import host_target

        code = compile_ir("define i32 @f() { ret i32 7 }", host_target())
        link, begun = native.Linked._link, threading.Event()

        def slow(self):
            begun.set()
            threading.Event().wait(0.3)
            return link(self)

        native.Linked._link = slow
        make = lambda: native.Linked([code], str(host_target()), "f", [], native.ctypes.c_int32)
        first = make()
        thread = threading.Thread(target=first.code)
        thread.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            own = make()
            os._exit(own.code().entry())
        thread.join()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert (ran.returncode, ran.stdout.strip()) == (0, "7"), ran.stderr
