"""`python -m tilework.tools.bench.decoding`: its models, its table. No time of ours is asserted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tilework as tw
from tilework.runtime.cache import KernelCache
from tilework.tools.bench import decoding


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch):
    """Layers that take a moment."""
    for name, value in {"SIZE": 64, "INNER": 96, "STREAMED": (64, 64)}.items():
        monkeypatch.setattr(decoding, name, value)


def test_layers_are_what_onnxruntime_says(small: None, tmp_path: Path):
    ort = pytest.importorskip("onnxruntime")
    model = decoding.Decoder(1, 3).model(2)
    x = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)
    [expected] = ort.InferenceSession(model.SerializeToString()).run(None, {"word": x})
    np.testing.assert_allclose(tw.compile(model, cache=KernelCache(tmp_path))(x), expected, rtol=1e-4, atol=1e-5)


def test_a_layer_of_7_billion_weights_has_126_megabytes():
    assert decoding.weight_bytes(1) == (4 * 4096**2 + 3 * 4096 * 11008) * (4 + 1) // 8


def test_the_table_compares_medians_and_least_times():
    times = {"tilework": {"median": 4.0, "least": 2.0}, "other": {"median": 6.0, "least": 5.0}}
    runs = [{"threads": 1, "bytes_per_second": 2e9, "milliseconds": times}]
    _, ours, other = decoding.decoding_rows({"weight_bytes": 2e6, "runs": runs})
    assert ours == ["1", "tilework", "4.00", "", "2.00", "", "1.0", "50 %"]
    assert other == ["1", "other", "6.00", "1.50", "5.00", "2.50", "0.4", "20 %"]


@pytest.mark.slow
def test_engines_take_turns(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("onnxruntime")
    file = tmp_path / "measured.json"
    words = ["--layers", "1", "--threads", "1", "--repeat", "1", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["decoding", *words])
    decoding.main()
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3
    [run] = json.loads(file.read_text())["decoding"]["runs"]
    assert set(run["milliseconds"]) == {"tilework", *decoding.LEVELS}
