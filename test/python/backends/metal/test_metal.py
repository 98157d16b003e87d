"""Kernels as Metal's source: a C++ compiler accepts them, with a stub of Metal's library; nothing here runs them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

import tilework as tw
from tilework import te
from tilework.algebra.errors import TileworkError
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.launch_program import LaunchProgram
from tilework.tools.bench.gpu.programs import matrix_product
from tilework.tools.bench.networks.catalogue import NETWORKS, SMALL
from tilework.tools.opt_tool import main

KERNEL = ROOT / "test" / "lowering" / "compile-gpu-kernel.mlir"
STUB = Path(__file__).parent / "metal"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def check(sources: list[str], folder: Path) -> None:
    """The compiler finds every name, and all types fit. It knows neither attributes nor memories."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    for number, source in enumerate(sources):
        (folder / f"{number}.cpp").write_text(source)
    files = [str(folder / f"{number}.cpp") for number in range(len(sources))]
    options = ["-std=c++20", "-fsyntax-only", "-Wno-attributes", "-Wno-unknown-pragmas", f"-I{STUB}"]
    done = subprocess.run([compiler, *options, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_product_of_matrices(cache: KernelCache, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(KERNEL), "-p", "compile-gpu-kernel", "--target=metal", "-t", "metal"]) == 0
    text = capsys.readouterr().out
    for wanted in (
        "device float *__restrict C [[buffer(2)]]",
        "threadgroup float A_shared[256]",
        "threadgroup_barrier(",
    ):
        assert wanted in text
    check([text], tmp_path)


def test_names_that_are_not_there_are_found(tmp_path: Path):
    """The check would find something."""
    with pytest.raises(AssertionError, match="not_there"):
        check(["#include <metal_stdlib>\nusing namespace metal;\nvoid f() { not_there(); }\n"], tmp_path)


@pytest.mark.parametrize("name", ["encoder", *(pytest.param(n, marks=pytest.mark.slow) for n in ("lstm_35", "dcgan"))])
def test_kernels_of_networks(name: str, cache: KernelCache, tmp_path: Path):
    compiled = tw.compile(NETWORKS[name](**SMALL[name]), target="metal", cache=cache)
    check([LaunchProgram.decode(code).source for code in compiled.device_code["metal0"].values()], tmp_path)


def test_sizes_are_references(cache: KernelCache, tmp_path: Path):
    n = te.var("N")
    a = te.placeholder((n,), name="kernel")
    b = te.compute((n,), lambda thread: te.sin(a[thread]) + te.power(a[thread], a[thread]), name="device")
    s = te.create_schedule(b.op)
    block, thread = s[b].split(b.op.axis[0], factor=64)
    s[b].bind(block, te.thread_axis("blockIdx.x"))
    s[b].bind(thread, te.thread_axis("threadIdx.x"))
    source = LaunchProgram.decode(tw.build(s, [a, b], target="metal", cache=cache).object_code).source
    assert "constant long &N [[buffer(2)]]" in source
    check([source], tmp_path)


def test_double_precision_is_refused(cache: KernelCache):
    a = te.placeholder((8,), "float64", name="A")
    b = te.compute((8,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    with pytest.raises(te.ScheduleError, match="Metal has no numbers of double precision"):
        tw.build(s, [a, b], target="metal", cache=cache)


def test_nothing_runs_it(cache: KernelCache):
    product = matrix_product(8, shared=True, target="metal", cache=cache)
    arrays = np.zeros((3, 8, 8), np.float32)
    with pytest.raises(TileworkError, match="Tilework writes Metal's source and runs none of it"):
        product(*arrays)
