"""The command that times pipelines beside scikit-learn tells both times, and that both say the same."""

import re

import pytest

from tilework.tools.bench import pipelines


def test_a_line_for_each_case(capsys: pytest.CaptureFixture[str]):
    pipelines.main(["--rows", "600", "--runs", "1", "ridge"])
    [line] = capsys.readouterr().out.splitlines()
    found = re.fullmatch(
        r"ridge: [\d.]+ s, scikit-learn [\d.]+ s, [\d.]+ times as fast, differs by (.*), takes -?\d+ MB", line
    )
    assert found is not None
    assert float(found[1]) < 1e-9
