"""Say what Tilework finds on this machine."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

import llvmlite.binding as llvm

import tilework
from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import plugins
from tilework.runtime.cache import KernelCache, default_cache
from tilework.runtime.devices.cuda.driver import driver
from tilework.runtime.devices.opencl.queue import queue
from tilework.runtime.threads import get_num_threads
from tilework.targets.cpu.host import host_target
from tilework.tools.files import obstacle_to_writing

PACKAGES = ("xdsl", "llvmlite", "numpy", "onnx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`tilework doctor` takes none."""


def run(options: argparse.Namespace) -> int:
    """Print a line for each thing that matters."""
    facts = {
        "tilework": f"{version('tilework')} in {Path(tilework.__path__[0])}",
        "python": f"{platform.python_version()} on {platform.platform()}",
        "packages": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "LLVM": _llvm_version(),
        **_machine(),
        "threads": _threads(),
        "cache": cache_text(default_cache()),
        "plugins": ", ".join(f"{plugin.name} in {plugin.root}" for plugin in plugins()) or "none",
        "OpenCL": _device(opencl_device),
        "CUDA": _device(cuda_device),
        "Metal": "source alone, by opt-tool -t metal",
        "onnxruntime": _onnxruntime(),
    }
    width = max(map(len, facts))
    for name, fact in facts.items():
        print(f"{name:{width}}  {fact}")
    return 0


def _device(find: Callable[[], str]) -> str:
    """What a device is called, or why there is none."""
    try:
        return find()
    except TileworkError as error:
        return f"none: {error}"


def opencl_device() -> str:
    """The device that OpenCL kernels run on. Raises TileworkError where there is none."""
    return queue().name


def cuda_device() -> str:
    """NVIDIA's device that kernels run on. Raises TileworkError where there is none."""
    return driver().name


def _threads() -> str:
    pinned = os.environ.get("OMP_PROC_BIND")
    warning = f"; OMP_PROC_BIND={pinned} lets OpenMP pin Python's main thread to one core" if pinned else ""
    return f"{get_num_threads()}{warning}"


def _llvm_version() -> str:
    numbers = cast("tuple[int, ...]", llvm.llvm_version_info)  # pyright: ignore[reportUnknownMemberType]  no types
    return ".".join(map(str, numbers))


def _machine() -> dict[str, str]:
    target = host_target()
    caches = ", ".join(f"L{level} {size >> 10} kB" for level, size in enumerate(target.cache_bytes, start=1))
    vectors = f"{target.vector_registers} registers of {target.vector_bits} bits"
    return {
        "target": f"{target.triple}, {target.cpu}",
        "vectors": vectors,
        "cores": f"{target.cores} physical; caches {caches}",
    }


def cache_text(cache: KernelCache) -> str:
    """Where compiled kernels are kept, how many there are, and whether more can be."""
    sizes = [path.stat().st_size for path in cache.folder.glob("??/*")]
    existing = next(folder for folder in (cache.folder, *cache.folder.parents) if folder.exists())
    writable = "; CANNOT BE WRITTEN: every compilation starts afresh" if obstacle_to_writing(existing) else ""
    return (
        f"{cache.folder}: {len(sizes)} kernels, {sum(sizes) / 1e6:.1f} MB of {cache.limit_bytes / 1e6:.0f} MB{writable}"
    )


def _onnxruntime() -> str:
    try:
        return version("onnxruntime")
    except PackageNotFoundError:
        return "not installed; only `tilework bench` compares with it"
