"""The examples of pipelines run, and what they make is what scikit-learn makes."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from places import ROOT

EXAMPLE = ROOT / "examples" / "pipelines"


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module(name)


def test_the_search_on_data_of_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    example("diabetes", monkeypatch).main(["--plot", str(tmp_path / "times.svg")])
    explained, best, compared, *times = capsys.readouterr().out.splitlines()
    assert explained.startswith("250 fits and scores")
    assert re.fullmatch(r"best: \{'ridge__alpha': .*\}, r2 0\.4\d+", best)
    assert float(compared.split()[-3]) < 1e-10
    assert [line.partition(":")[0] for line in times] == ["search", "predict"]
    assert len(ElementTree.fromstring((tmp_path / "times.svg").read_text()).findall("{*}rect")) == 4


def test_the_large_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    example("table", monkeypatch).main(["--rows", "5000", "--plot", str(tmp_path / "times.svg")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["fit_transform", "predict_proba"]
    assert all(float(line.rpartition(" ")[2]) < 1e-9 for line in lines)
    drawing = ElementTree.fromstring((tmp_path / "times.svg").read_text())
    assert len(drawing.findall("{*}rect")) == 4
