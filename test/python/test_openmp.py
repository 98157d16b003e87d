"""Parallel loops: which runtime is found, thread counts, forked children, a machine without a runtime."""

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading
import types

import pytest

from tilework.algebra.errors import UsageError
from tilework.backends.llvm.compile import compile_ir
from tilework.runtime import openmp, threads
from tilework.runtime.native import NativeLibrary
from tilework.runtime.openmp import SYMBOLS, OpenMPRuntime, openmp_runtime
from tilework.targets.host import host_target

# Every thread writes 1 + its number, and thread 0 the number of threads, to a table of 64 integers.
WHO_RUNS = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()

define internal void @body(ptr %table) {
  %thread = call i32 @omp_get_thread_num()
  %total = call i32 @omp_get_num_threads()
  store i32 %total, ptr %table
  %slot = add i32 %thread, 1
  %p = getelementptr i32, ptr %table, i32 %slot
  store i32 %slot, ptr %p
  ret void
}

define void @who_runs(ptr %table, i32 %threads) {
  call void @GOMP_parallel(ptr @body, ptr %table, i32 %threads, i32 0)
  ret void
}
"""


def who_runs(symbols: dict[str, int], num_threads: int) -> list[int]:
    library = NativeLibrary([compile_ir(WHO_RUNS, host_target())], symbols)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)(library.get_function("who_runs"))
    table = (ctypes.c_int32 * 64)()
    function(table, num_threads)
    return [value for value in table if value]


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


def test_a_parallel_loop_runs_on_the_threads_asked_for():
    assert openmp_runtime().is_parallel, openmp_runtime().description
    assert who_runs(dict(openmp_runtime().symbols), 3) == [3, 1, 2, 3]


def test_several_python_threads_run_parallel_loops_at_once():
    symbols = dict(openmp_runtime().symbols)
    results: list[list[int]] = []
    callers = [threading.Thread(target=lambda: results.append(who_runs(symbols, 2))) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=30)
    assert results == [[2, 1, 2]] * 6


def test_without_a_runtime_loops_run_on_one_thread_and_doctor_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openmp, "loaded_libraries", list)
    monkeypatch.setattr(openmp, "installed_libraries", lambda: ["libdoes-not-exist.so", "libc.so.6"])
    runtime = openmp._load.__wrapped__()
    assert not runtime.is_parallel and threads.threads_for_call(runtime) == 1
    assert runtime.description.startswith("none found: parallel loops run on one thread")
    assert who_runs(dict(runtime.symbols), 3) == [1, 1]


def test_a_runtime_that_is_loaded_already_is_preferred():
    program = """
        import ctypes
        from tilework.runtime.openmp import installed_libraries, loaded_libraries, openmp_runtime
        other = [path for path in installed_libraries() if "libgomp" in path][-1]
        ctypes.CDLL(other)
        assert len(loaded_libraries()) == 1
        assert openmp_runtime().path == loaded_libraries()[0], openmp_runtime()
        assert len(loaded_libraries()) == 1
    """
    done = run_python(program)
    assert done.returncode == 0, done.stderr


def test_the_shorter_spinning_is_not_inherited_and_the_users_choice_is_kept():
    program = """
        import os
        from tilework.runtime.openmp import openmp_runtime
        openmp_runtime()
        print(os.environ.get("GOMP_SPINCOUNT"), os.environ.get("KMP_BLOCKTIME"))
    """
    assert run_python(program).stdout == "None None\n"
    assert run_python(program, GOMP_SPINCOUNT="7").stdout == "7 None\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_runs_on_one_thread_instead_of_hanging():
    runtime = openmp_runtime()
    threads.set_num_threads(2)
    assert who_runs(dict(runtime.symbols), threads.threads_for_call(runtime)) == [2, 1, 2]
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a hang ends the child, by a signal
        ran = who_runs(dict(runtime.symbols), threads.threads_for_call(runtime))
        os._exit(0 if runtime.survives_fork or ran == [1, 1] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert who_runs(dict(runtime.symbols), threads.threads_for_call(runtime)) == [2, 1, 2]


def test_only_libgomp_is_kept_serial_in_a_child():
    symbols = dict.fromkeys(SYMBOLS, 0)
    threads.set_num_threads(5)
    assert threads.threads_for_call(OpenMPRuntime("/usr/lib/libgomp.so.1", symbols, os.getpid())) == 5
    assert threads.threads_for_call(OpenMPRuntime("/usr/lib/libgomp.so.1", symbols, os.getpid() + 1)) == 1
    assert threads.threads_for_call(OpenMPRuntime("/usr/lib/libiomp5.so", symbols, os.getpid() + 1)) == 5


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "2"])
def test_a_wrong_number_of_threads_is_refused(wrong: object):
    with pytest.raises(UsageError, match="the number of threads is a positive integer"):
        threads.set_num_threads(wrong)


@pytest.mark.parametrize(("text", "expected"), [("3", 3), ("3,2", 3), ("", None), ("many", None), ("0", None)])
def test_number_of_threads_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, expected: int | None):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    threads._setting.threads = None
    assert threads.get_num_threads() == (expected or host_target().cores)


def test_pinning_by_the_runtime_does_not_change_the_number_of_cores():
    program = """
        import os
        before = len(os.sched_getaffinity(0))
        from tilework.runtime.openmp import openmp_runtime
        from tilework.runtime.threads import get_num_threads
        from tilework.targets.host import physical_cores
        description = openmp_runtime().description
        assert "OMP_PROC_BIND=true pins Python's main thread to one core" in description, description
        assert get_num_threads() == physical_cores() and (before == 1 or get_num_threads() > 1)
    """
    done = run_python(program, OMP_PROC_BIND="true")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_looks_first_may_have_a_runtime_of_its_parent():
    program = """
        import ctypes, os
        from tilework.runtime.openmp import installed_libraries, openmp_runtime
        from tilework.runtime.threads import set_num_threads, threads_for_call
        ctypes.CDLL([path for path in installed_libraries() if "libgomp" in path][-1])
        set_num_threads(2)
        child = os.fork()
        if child == 0:
            os._exit(threads_for_call(openmp_runtime()))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        assert threads_for_call(openmp_runtime()) == 2
    """
    done = run_python(program)
    assert done.returncode == 0, done.stderr


def test_a_stand_in_for_a_package_with_a_runtime_is_passed_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))  # which has no spec
    assert openmp.installed_libraries()
