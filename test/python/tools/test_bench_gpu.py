"""The measurement of a device on PoCL, at small sizes: each part answers, and what takes too long is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from opencl_devices import skip_without_opencl

from tilework.targets import parse_target
from tilework.tools.bench.gpu.__main__ import main
from tilework.tools.bench.gpu.measurements import PARTS, Settings

skip_without_opencl()

SETTINGS = Settings(str(parse_target("opencl")), small=True)


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("products", ["float32 64", "float16 64", "bfloat16 64"]),
        ("cooperation", ["cooperative", "by itself"]),
        ("fusion", ["fused", "one by one"]),
        pytest.param("correctness", ["dqn", "lstm_35", "encoder"], marks=pytest.mark.slow),
        pytest.param("operators", ["C12", "D9"], marks=pytest.mark.slow),
        pytest.param("networks", ["dqn"], marks=pytest.mark.slow),
    ],
)
def test_a_part(name: str, entries: list[str]):
    found = list(PARTS[name].run(SETTINGS))
    assert [entry["name"] for entry in found] == entries
    for entry in found:
        assert "failure" not in entry, entry
        assert entry.get("seconds", 1) > 0 and (entry.get("error") or 0) < 1e-2


def test_a_part_that_takes_too_long_is_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "gpu.json"
    words = ["--target", "opencl", "--small", "--seconds", "0.1", "--only", "machine", "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["gpu", *words])
    assert main() == 1
    assert "machine: 0 entries" in capsys.readouterr().out
    part = json.loads(out.read_text())["parts"]["machine"]
    assert part["entries"] == [] and part["failure"].startswith("took more than 0 s")
