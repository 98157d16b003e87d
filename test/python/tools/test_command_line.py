"""`tilework` as a program: what it refuses, and that it does so before the work, in one line."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

import tilework as tw
from tilework.runtime.cache import KernelCache
from tilework.tools import cli
from tilework.tools.commands.doctor import cache_text

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with digits.tw, two images in images.npy, and the kernels of both in a cache."""
    folder = tmp_path_factory.mktemp("command_line")
    tw.compile(DIGITS, cache=KernelCache(folder / "cache")).save(folder / "digits.tw")
    np.save(folder / "images.npy", np.zeros((2, 1, 8, 8), np.float32))
    return folder


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `tilework` in process, in that folder: (status, lines of stderr)."""
    monkeypatch.setenv("TILEWORK_CACHE", str(folder / "cache"))
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> tuple[int, list[str]]:
        return cli.main(arguments), capsys.readouterr().err.splitlines()

    return run


IMAGES = ("--input", "images=images.npy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "digits.tw", "--target", "foo"), "digits.tw is compiled already: --target is for models"),
        (("bench", "digits.tw"), "digits.tw is compiled already: give the ONNX model"),
        (("compile", "digits.tw"), "digits.tw is compiled already: give the ONNX model"),
        (("run", "digits.tw", *IMAGES, *IMAGES), "--input images is given twice"),
        (("run", "digits.tw", "--dim", "N=1", "--dim", "N=2"), "--dim N is given twice"),
        (
            ("run", "digits.tw", *IMAGES, "--dim", "N=5"),
            "--dim N=5: N is 2 in the array for input 'images'",
        ),
        (
            ("run", "digits.tw", "--input", "image=images.npy"),
            "--input image: the model's inputs are images; did you mean 'images'?",
        ),
        (("run", "digits.tw", "--random", "-1"), "--random -1: give 0 or a positive number"),
        (
            ("run", "digits.tw", "--random", "0", "--dim", "N=99999999999999"),
            "input 'images' of shape (99999999999999, 1, 8, 8) does not fit into memory: see --dim",
        ),
        (
            ("run", "digits.tw", "--random", "0", "--dim", f"N={2**70}"),
            f"input 'images' of shape ({2**70}, 1, 8, 8) does not fit into memory: see --dim",
        ),
        (("compil", "digits.tw"), "there is no command 'compil'; did you mean 'compile'?"),
        (
            ("compile", str(DIGITS), "--target", "llvm -mattr=+avx2,+fmaa"),
            "-mattr: LLVM knows no feature 'fmaa'; did you mean 'fma'?",
        ),
        (
            ("compile", str(DIGITS), "--target", "llvm -mcpu=haswel -mattr=+avx2"),
            "-mcpu: LLVM knows no processor 'haswel'; did you mean 'haswell'?",
        ),
        (
            ("compile", str(DIGITS), "--target", "llvm -mtriple=z80 -mattr=+x"),
            '-mtriple: RuntimeError: No available targets are compatible with triple "z80"',
        ),
    ],
)
def test_wrong_usage(run: Run, arguments: tuple[str, ...], message: str):
    assert run(*arguments) == (2, [f"tilework: error: {message}"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "gone.onnx"), "cannot read gone.onnx: No such file or directory"),
        (("run", "digits.tw", "--input", "images=gone.npy"), "cannot read gone.npy: No such file or directory"),
        (("compile", str(DIGITS), "-o", "gone/digits.tw"), "cannot write gone/digits.tw: No such file or directory"),
        (("compile", str(DIGITS), "-o", "cache"), "cannot write cache: Is a directory"),
        (("compile", str(DIGITS), "-o", "digits.tw/x.tw"), "cannot write digits.tw/x.tw: Not a directory"),
        (("bench", str(DIGITS), "--json", "gone/x.json"), "cannot write gone/x.json: No such file or directory"),
    ],
)
def test_files_at_fault(run: Run, arguments: tuple[str, ...], message: str):
    """Outputs that cannot be written are one line too: nothing was compiled before."""
    assert run(*arguments) == (1, [f"tilework: error: {message}"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "digits.tw", "--random", "1", "--random", "2"), "--random is given twice"),
        (("run", "digits.tw", "--randm", "1"), "unrecognized arguments: --randm 1; did you mean '--random'?"),
    ],
)
def test_flags(run: Run, arguments: tuple[str, ...], message: str):
    assert run(*arguments) == (2, [f"tilework run: error: {message}; see tilework run --help"])


def test_doctor_sees_that_the_cache_cannot_be_written(folder: Path):
    assert "CANNOT" not in cache_text(KernelCache(folder / "cache"))
    assert "CANNOT BE WRITTEN" in cache_text(KernelCache(folder / "digits.tw" / "cache"))
    assert "CANNOT BE WRITTEN" in cache_text(KernelCache(Path("/proc/cache")))


def test_ctrl_c_while_commands_are_imported():
    """The command line is there before numpy and xDSL are."""
    program = """
import signal, sys
from tilework.tools import cli
assert "numpy" not in sys.modules and "xdsl" not in sys.modules
def load(name):
    signal.raise_signal(signal.SIGINT)
cli._load = load
sys.exit(cli.main(["run", "model.onnx"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, "\ntilework: interrupted\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("opt_tool", ["-"]),
        ("opt_tool", ["--list-passes"]),
        ("opt_tool", ["--show-dialects"]),
        ("cli", ["run", "digits.tw", "--input", "images=images.npy"]),
    ],
)
def test_a_full_disk(folder: Path, tool: str, arguments: list[str]):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", f"tilework.tools.{tool}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            timeout=60,
        )
    name = {"opt_tool": "opt-tool", "cli": "tilework"}[tool]
    assert done.stderr == f"{name}: error: cannot write to stdout: No space left on device\n"
    assert done.returncode == 1
