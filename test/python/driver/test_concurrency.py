"""Several at once: processes sharing a cache, threads sharing a module, and a user who presses Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from places import ROOT
from xdsl.ir import Operation
from xdsl.passes import ModulePass

import tilework as tw
from tilework.driver.instrumentation import Instrumentation
from tilework.runtime.cache import KernelCache
from tilework.targets.cpu.host import host_target
from tilework.tools.light_models import load_light_model, random_feeds, reference

pytest.importorskip("onnxruntime")

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(scope="module")
def squeezenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 20-odd kernels, which take a second or two to compile."""
    path = tmp_path_factory.mktemp("model") / "squeezenet.onnx"
    path.write_bytes(load_light_model("squeezenet").SerializeToString())
    return path


def start(cache: Path, *arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """A Python process that uses the cache in a folder."""
    command = [sys.executable, "-P", "-u", *map(str, arguments)]
    environment = {**os.environ, "TILEWORK_CACHE": str(cache)}
    return subprocess.Popen(command, env=environment, text=True, stderr=subprocess.PIPE, **options)


def assert_right(module: tw.Module, path: Path) -> None:
    """It computes what onnxruntime computes."""
    model = onnx.load(path)
    feeds = random_feeds(model)
    for name, wanted in reference(model, feeds).items():
        np.testing.assert_allclose(module.run(feeds)[name], wanted, rtol=1e-4, atol=1e-6)


def test_two_processes_fill_one_cache(squeezenet: Path, tmp_path: Path):
    artefacts = [tmp_path / "one.tw", tmp_path / "two.tw"]
    processes = [
        start(tmp_path / "cache", "-m", "tilework.tools.cli", "compile", squeezenet, "-o", artefact)
        for artefact in artefacts
    ]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    for artefact in artefacts:
        assert_right(tw.load(artefact), squeezenet)
    again = tw.compile(squeezenet, cache=KernelCache(tmp_path / "cache"))
    assert again.report is not None and again.report.cached == again.report.kernels
    assert_right(again, squeezenet)


def test_threads_call_one_module(tmp_path: Path):
    """Each call has its own workspace, whatever the number of images in it."""
    module = tw.compile(DIGITS, cache=KernelCache(tmp_path))
    rng = np.random.default_rng(0)
    inputs = [rng.random((1 + i % 9, 1, 8, 8), np.float32) for i in range(200)]
    wanted = [module(x) for x in inputs]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(module, inputs))
    assert all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True))


def test_runs_that_read_weights_to_and_fro_agree(tmp_path: Path):
    """To the last bit, whichever run a thread's is, and with however many threads."""
    weight = np.random.default_rng(0).random((300, 301), np.float32)
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, n]) for name, n in (("x", 300), ("y", 301))
    )
    node, initializer = onnx.helper.make_node("MatMul", ["x", "w"], ["y"]), onnx.numpy_helper.from_array(weight, "w")
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "product", [x], [y], [initializer]))
    target = replace(host_target(), cores=2, cache_bytes=(32 << 10, 64 << 10, 1 << 20))
    watcher = Watcher()
    module = tw.compile(model, str(target), cache=KernelCache(tmp_path), instrumentations=[watcher])
    assert watcher.alternating
    row = np.random.default_rng(1).random((1, 300), np.float32)
    wanted = module(row)
    np.testing.assert_allclose(wanted, row @ weight, rtol=1e-5)
    before = tw.get_num_threads()
    try:
        for threads in (1, 2, 3):
            tw.set_num_threads(threads)
            with ThreadPoolExecutor(4) as pool:
                assert all(np.array_equal(y, wanted) for y in pool.map(module, [row] * 50))
    finally:
        tw.set_num_threads(before)


class Watcher(Instrumentation):
    """Sees whether a kernel is to alternate."""

    alternating = False

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        self.alternating |= any("te.alternating" in kernel.attributes for kernel in op.walk())


# ---- Ctrl-C ----------------------------------------------------------------------------------------------------------

CALL = """
import sys
import tilework as tw
def report(phase, done, total):
    sys.stderr.write(f"{phase}\\n")  # at once: print writes the end of the line by itself
try:
    tw.compile(sys.argv[1], processes=2, progress=report)
except KeyboardInterrupt:
    sys.exit("interrupted")
"""


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], Any]) -> Any:
    """What the condition gives once it is true."""
    deadline = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return value


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("way", ["command line", "call"])
def test_ctrl_c_while_compiling(squeezenet: Path, tmp_path: Path, way: str):
    """No worker is left behind, and what the cache holds by then is whole."""
    cache, artefact = tmp_path / "cache", tmp_path / "never.tw"
    if way == "call":
        process = start(cache, "-c", CALL, squeezenet)
    else:
        process = start(cache, "-m", "tilework.tools.cli", "compile", squeezenet, "-o", artefact)
    assert process.stderr is not None
    while "kernels" not in (line := process.stderr.readline()):
        assert line, "it ended before there was a kernel to compile"
    prices = {*cache.glob("??/[!.]*")}
    workers = wait_for(lambda: children_of(process.pid))
    wait_for(lambda: {*cache.glob("??/[!.]*")} - prices)  # a kernel, not what is still being written
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    last_line = err.splitlines()[-1]  # a few lines of progress may come before it
    wanted = (130, "tilework: interrupted") if way == "command line" else (1, "interrupted")
    assert (process.returncode, last_line) == wanted
    wait_for(lambda: not any(map(is_running, workers)))
    assert not artefact.exists()
    again = tw.compile(squeezenet, cache=KernelCache(cache))
    assert again.report is not None and 0 < len(again.report.cached) < len(again.report.kernels)
    assert_right(again, squeezenet)
