"""The machine this process runs on, as a target."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import cast

from tilework.targets.cpu.processors import SYSTEM_FEATURES
from tilework.targets.cpu.target import DEFAULT_CACHE_BYTES, CpuTarget
from tilework.targets.cpu.tiles import TILE_FEATURES, tiles_are_permitted

_LINUX_CPUS = Path("/sys/devices/system/cpu")


@cache
def host_target() -> CpuTarget:
    """This machine: its processor and extensions as LLVM sees them, its caches, and the cores this process may use.

    Extensions the machine lacks are listed too, with a minus: a virtual machine may hide some of its processor's, and
    the system tiles.
    """
    import llvmlite.binding as llvm  # here, since a mere import of Tilework must not load LLVM

    present = cast("dict[str, bool]", llvm.get_host_cpu_features())
    if present.get("amx-tile") and not tiles_are_permitted():
        present |= dict.fromkeys(TILE_FEATURES, False)
    features = tuple(
        f"{'+' if has else '-'}{name}" for name, has in sorted(present.items()) if name not in SYSTEM_FEATURES
    )
    triple, cpu = llvm.get_process_triple(), llvm.get_host_cpu_name()
    return CpuTarget("llvm", physical_cores(), triple, cpu, features, data_cache_bytes())


@cache
def physical_cores() -> int:
    """The cores this process may run on: two hardware threads of one core count once, a container's quota is kept.

    Asked first before any OpenMP runtime is loaded and remembered: with OMP_PROC_BIND set, loading one pins the
    calling thread to a single core, and asking later would answer 1.
    """
    return max(1, min(len(first_threads()) or os.cpu_count() or 1, _quota_cores()))


@cache
def first_threads() -> tuple[int, ...]:
    """The first hardware thread that this process may use of each core; none where the system does not tell."""
    if not hasattr(os, "sched_getaffinity"):
        return ()
    first = {_siblings(cpu): cpu for cpu in sorted(os.sched_getaffinity(0), reverse=True)}
    return tuple(sorted(first.values()))


def _siblings(cpu: int) -> str:
    """A name for the core that a hardware thread belongs to; the thread's own number where Linux does not tell."""
    try:
        return (_LINUX_CPUS / f"cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return str(cpu)


def _quota_cores() -> int:
    """Whole cores that the control group's processor quota allows; unlimited where there is none."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        return sys.maxsize
    return sys.maxsize if quota == "max" else max(1, int(quota) // int(period))


@cache
def data_cache_bytes() -> tuple[int, int, int]:
    """Sizes of the data caches of levels 1 to 3, in bytes; common sizes where the system does not tell."""
    sizes = _darwin_caches() if sys.platform == "darwin" else _linux_caches()
    l1, l2, l3 = (sizes.get(level, common) for level, common in enumerate(DEFAULT_CACHE_BYTES, start=1))
    return l1, l2, l3


def _linux_caches() -> dict[int, int]:
    sizes: dict[int, int] = {}
    for index in sorted((_LINUX_CPUS / "cpu0/cache").glob("index*")):
        try:
            if (index / "type").read_text().strip() == "Instruction":
                continue
            sizes[int((index / "level").read_text())] = _parse_size((index / "size").read_text().strip())
        except (OSError, ValueError):
            continue
    return sizes


def _parse_size(text: str) -> int:
    """ "48K" -> 49152."""
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:])
    return int(text[:-1]) * unit if unit else int(text)


def _darwin_caches() -> dict[int, int]:
    import ctypes

    libc = ctypes.CDLL(None)
    sizes: dict[int, int] = {}
    for level, key in ((1, b"hw.perflevel0.l1dcachesize"), (2, b"hw.perflevel0.l2cachesize"), (3, b"hw.l3cachesize")):
        value, length = ctypes.c_uint64(0), ctypes.c_size_t(8)
        if libc.sysctlbyname(key, ctypes.byref(value), ctypes.byref(length), None, 0) == 0 and value.value:
            sizes[level] = value.value
    return sizes
