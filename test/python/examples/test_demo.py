"""`make demo` runs, and what it says is what happened."""

from __future__ import annotations

import importlib
import sys
from io import StringIO
from pathlib import Path

import pytest
from places import ROOT
from rich.console import Console

EXAMPLE = ROOT / "examples" / "digits"
LEVELS = ["1-graph", "2-optimized", "3-fused", "4-te", "5-schedule", "6-loop", "7-host"]


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("demo")


def run(demo, levels: Path) -> str:
    output = StringIO()
    demo.main(Console(file=output, width=100), levels, rounds={1: 3, 2: 1})
    return output.getvalue()


def test_whole_demo(demo, tmp_path):
    pytest.importorskip("onnxruntime")
    text = run(demo, tmp_path)
    assert "kernels" in text and "one inference is one native call" in text
    assert "conv_add_relu" in text and "are not fused: " in text
    assert "every prediction agrees" in text
    ours, theirs = (next(line for line in text.splitlines() if line.startswith(n)) for n in ("Tilework", "onnxruntime"))
    assert ours.split()[1:] == theirs.split()[1:]  # the same share is read correctly
    assert [path.stem for path in sorted(tmp_path.glob("*.mlir"))] == LEVELS
    assert "te.compute" in (tmp_path / "4-te.mlir").read_text() and (tmp_path / "8-llvm.ll").exists()


def test_without_onnxruntime_onnx_itself_is_the_reference(demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    name, reference = demo.reference_predictor()
    images = demo.load_split()[1].images[:3]
    assert name == "onnx.reference" and reference(images).shape == (3, 10)


def test_predictions_that_differ_are_counted(demo):
    images, labels = demo.load_split()[1]
    output = StringIO()
    scores = demo.np.eye(10, dtype=demo.np.float32)[labels]
    wrong = demo.np.roll(scores, 1, axis=1)
    demo.compare(Console(file=output, width=100), images, labels, lambda _: wrong, "truth", lambda _: scores)
    assert "360 predictions differ" in output.getvalue() and "0.00%" in output.getvalue()
