"""The plugin of `examples/` installed from its wheel beside Tilework's: what it brings is there without a flag."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from wheels import ROOT, wheel_of, wheel_of_tilework

EXAMPLE = ROOT / "examples" / "plugin"

NEGATIONS = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.neg %0 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
"""
SNAKE = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.snake %x {alpha = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
"""
KERNEL = """
te.kernel @squares(%x: tensor<8xf32>) -> tensor<1xf32> {
  %square = te.compute "square" [i: 8] : tensor<8xf32> {
    %0 = te.read %x[i] : tensor<8xf32>
    %1 = arith.mulf %0, %0 : f32
    te.yield %1 : f32
  }
  %sum = te.compute "sum" [j: 1] reduce [k: 8] : tensor<1xf32> {
    %0 = te.read %square[k] : tensor<8xf32>
    te.reduce add %0 : f32
  }
  te.return %sum : tensor<1xf32>
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a virtual environment with both wheels, which finds what Tilework depends on in this one."""
    folder = tmp_path_factory.mktemp("environment")
    wheels = [
        wheel_of_tilework(tmp_path_factory.mktemp("tilework")),
        wheel_of(EXAMPLE, tmp_path_factory.mktemp("plugin")),
    ]
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = folder / "bin" / "python"
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = ("install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--force-reinstall")
    _run(sys.executable, "-m", "pip", "--python", str(python), *install, *map(str, wheels))
    where = _run(
        str(python), "-P", "-c", "import tilework, tilework_python as p; print(tilework.__path__[0], p.__path__[0])"
    )
    assert all(Path(path).is_relative_to(folder) for path in where.split()), where
    return folder / "bin"


def _run(*command: str, folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_inside_a_clone_its_own_sources_run(installed: Path):
    """The folder `tilework` of a clone hides the installed package, so it has to be complete."""
    code = "import tilework.tools; print(tilework.tools.__path__[0])"
    assert Path(_run(str(installed / "python"), "-c", code, folder=ROOT).strip()).resolve() == ROOT / "tools"


def test_the_pass(installed: Path, tmp_path: Path):
    (tmp_path / "x.mlir").write_text(NEGATIONS)
    assert "return %x" in _run(str(installed / "opt-tool"), "x.mlir", "--graph-cancel-negations", folder=tmp_path)


def test_the_operator(installed: Path, tmp_path: Path):
    (tmp_path / "x.mlir").write_text(SNAKE)
    assert "(8,)" in _run(str(installed / "tilework"), "run", "x.mlir", "--random", "1", folder=tmp_path)


def test_the_rule_and_the_back_end(installed: Path, tmp_path: Path):
    (tmp_path / "x.mlir").write_text(KERNEL)
    words = ("x.mlir", "--target=python", "-p", "te-to-schedule")
    assert "schedule.compute_inline %square" in _run(str(installed / "opt-tool"), *words, folder=tmp_path)
    run = (str(installed / "tilework"), "run", "x.mlir", "--random", "1", "--target")
    in_python, native = (_run(*run, target, folder=tmp_path).splitlines()[1].split() for target in ("python", "llvm"))
    assert in_python[:3] == native[:3] and float(in_python[3]) == pytest.approx(float(native[3]), rel=1e-5)
