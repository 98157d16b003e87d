"""The threads that parallel loops run on: `workers.ll`, compiled for this machine and linked once a process.
`calls.ll`, which calls modules, is with them.

They are Tilework's own, since a loop of an OpenMP runtime waits for all threads of its team to arrive, those too that
have nothing left to do. Where another process keeps a core busy, that is for as long as the system takes to run each of
them: small networks took 5 to 15 times as long as on one thread. Here a loop waits for what has begun alone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from string import Template
from threading import RLock

from tilework.runtime.cache import default_cache
from tilework.runtime.devices.llvm.native_library import NativeLibrary
from tilework.targets import Target
from tilework.targets.cpu.host import host_target, physical_cores
from tilework.targets.cpu.target import CpuTarget

MAX_THREADS = 256
MAX_TEAMS = 16
"""As many callers at a time have workers; loops of more run on one thread each."""

UNLIKE = -1
"""The result of `tilework_call` where it did not call; that of an entry is none below 0."""


def worker_symbols(code: bytes | None = None) -> Mapping[str, int]:
    """Name -> address of what compiled code calls. The first call of the process links the threads.

    code: their object file, compiled if not given.
    """
    global _symbols
    with linking:
        if _symbols is None:
            _symbols = _link(code or workers_code(host_target()))
        return _symbols


linking = RLock()
"""Whoever links code has it."""

_symbols: Mapping[str, int] | None = None

if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    # A child would wait for ever where another thread has the lock: whoever forks waits until that has linked.
    os.register_at_fork(before=linking.acquire, after_in_parent=linking.release, after_in_child=linking.release)


def _link(code: bytes) -> Mapping[str, int]:
    physical_cores()  # before an OpenMP runtime that is loaded later may pin this thread
    library = NativeLibrary([code], {})
    # Its threads run until the process ends, longer than Python keeps what nobody refers to.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    parallel, call, affinity, after_fork = (library.get_function(f"tilework_{name}") for name in _NAMES)
    if hasattr(os, "sched_getaffinity") and os.environ.get("OMP_PROC_BIND"):
        _set_affinity(affinity)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=ctypes.CFUNCTYPE(None)(after_fork))
    return {"tilework_parallel": parallel, "tilework_call": call}


_NAMES = ("parallel", "call", "affinity", "after_fork")


def _set_affinity(address: int) -> None:
    """Let workers use what this process may use now, whatever thread starts them: OpenMP may pin Python's main thread.

    With no processors said, the system refuses to change anything.
    """
    mask = sum(1 << processor for processor in os.sched_getaffinity(0) if processor < 8 * _AFFINITY_BYTES)
    ctypes.memmove(address, mask.to_bytes(_AFFINITY_BYTES, "little"), _AFFINITY_BYTES)


_AFFINITY_BYTES = 128


def workers_code(target: Target) -> bytes:
    """The object file of `workers_ir`, from the cache if it is there."""
    cache = default_cache()
    key = f"workers {target} llvmlite {version('llvmlite')}\n{workers_ir(target)}"
    found = cache.get(key)
    if found is not None:
        return found[0]
    from tilework.runtime.devices.llvm.compile import compile_ir  # a process that loads an artefact needs no compiler

    code = compile_ir(workers_ir(target), target)
    cache.put(key, code, {})
    return code


def workers_ir(target: Target) -> str:
    """`workers.ll` and `calls.ll` for a target; without POSIX threads, loops run on the caller's."""
    calls = Template(_text("calls.ll")).substitute(unlike=UNLIKE)
    processor = CpuTarget.of(target, "llvm")
    system = processor.operating_system
    if system == "windows":
        return _SERIAL + calls
    choices = {
        "pause": _PAUSES.get(processor.architecture, ""),
        "detached": 1 if system == "linux" else 2,  # PTHREAD_CREATE_DETACHED
        "monotonic": 1 if system == "linux" else 6,  # CLOCK_MONOTONIC
        "set_affinity": _SET_AFFINITY if system == "linux" else "",
    }
    return Template(_text("workers.ll")).substitute(_CONSTANTS | choices) + calls


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_CONSTANTS = {
    "max_threads": MAX_THREADS,
    "max_teams": MAX_TEAMS,
    "stack_bytes": 8 << 20,
    "caller_pauses": 500,  # how often a caller that waits looks before it offers its processor to others
    "worker_pauses": 1000,  # how often a worker looks for the next loop between looks at the time
    "worker_nanoseconds": 200_000,  # how long it does so before it sleeps
}

_PAUSES = {"x86_64": "call void @llvm.x86.sse2.pause()", "aarch64": "call void @llvm.aarch64.isb(i32 15)"}
"""An instruction that takes a moment, by architecture."""

_SET_AFFINITY = "call i32 @sched_setaffinity(i32 0, i64 128, ptr @tilework_affinity)"

_SERIAL = """
@tilework_affinity = global [128 x i8] zeroinitializer, align 8

define void @tilework_parallel(ptr %body, ptr %context, i64 %lower, i64 %upper, i32 %threads, i32 %pieces) {
  call void %body(ptr %context, i64 %lower, i64 %upper)
  ret void
}

define void @tilework_after_fork() {
  ret void
}
"""
