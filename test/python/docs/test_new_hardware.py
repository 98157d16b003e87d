"""docs/new-hardware.md: a toy accelerator that is a plugin, from its declaration to a model that runs on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from plugin_packages import forgotten  # noqa: F401

import tilework as tw
from tilework.plugins.packages import load_plugin
from tilework.runtime.cache import KernelCache
from tilework.tools import opt_tool
from tilework.tools.lit_in_process import run_test

EXAMPLE = ROOT / "examples" / "npu"
PACKAGE = EXAMPLE / "tilework_npu"


@pytest.mark.parametrize("file", sorted((EXAMPLE / "test").glob("*.mlir")), ids=lambda file: file.name)
def test_the_toy_does_what_its_tests_say(file: Path, tmp_path: Path):
    assert (failure := run_test(file, tmp_path)) is None, failure


def test_the_toy_takes_fewer_than_150_lines():
    files = [file for file in PACKAGE.rglob("*") if file.suffix in (".py", ".mlir")]
    lines = [line for file in files for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) < 150


def test_the_page_shows_all_of_it():
    page = (ROOT / "docs" / "new-hardware.md").read_text(encoding="utf-8")
    for file in EXAMPLE.rglob("*"):
        if file.suffix in (".py", ".mlir") and file.name != "__init__.py":
            assert f"`{file.relative_to(ROOT)}`:" in page


@pytest.mark.parametrize("sizes", [(1, 8, 8), (3, 24, 16), (5, 8, 64)])
def test_dense_layers_run_on_the_toy(sizes: tuple[int, int, int], tmp_path: Path):
    load_plugin(PACKAGE)
    rows, outputs, summands = sizes
    model = tmp_path / "model.mlir"
    text = (EXAMPLE / "model.mlir").read_text()
    for old, new in (("3x16", f"{rows}x{summands}"), ("24x16", f"{outputs}x{summands}"), ("3x24", f"{rows}x{outputs}")):
        text = text.replace(f"<{old}x", f"<{new}x")
    model.write_text(text)
    compiled = tw.compile(model, targets={"host": "llvm", "npu0": "npu"}, cache=KernelCache(tmp_path / "kernels"))
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-128, 128, (size, summands), np.int8) for size in (rows, outputs))
    np.testing.assert_array_equal(compiled(x, w), np.maximum(x.astype(np.int32) @ w.T.astype(np.int32), 0))
    assert [device.name for device in compiled.manifest.devices] == ["npu0"]


def test_a_tile_that_is_no_instruction_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """The message shows both sides, as the page says."""
    load_plugin(PACKAGE)
    kernel = (EXAMPLE / "test" / "dense.mlir").read_text().partition("te.kernel")[2]
    schedule = """
schedule.sequence @dense {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  %jo, %ji = schedule.split %j factor 4
  %ko, %ki = schedule.split %k factor 8
  schedule.reorder %jo, %ko, %ji, %ki
  schedule.tensorize %ji @npu.dot
}
"""
    (tmp_path / "k.mlir").write_text(f"te.kernel{kernel}{schedule}")
    assert opt_tool.main([str(tmp_path / "k.mlir"), "--target=npu", "-p", "compile-kernel"]) == 1
    error = capsys.readouterr().err
    assert "expected result[n] = 0 : i32 for n < 8; found %y[16 * i + 4 * j_outer + j.inner] = 0" in error
