"""The programs whose compile time is measured over their size can be compiled, and are as large as asked for."""

from __future__ import annotations

import pytest

from tilework.analysis.verification import verify
from tilework.tools.bench.growth import main, seconds_of
from tilework.tools.bench.growth_programs import FORMS, program_of


@pytest.mark.parametrize("form", FORMS)
def test_programs_grow_and_compile(form: str):
    sizes = [sum(1 for _ in program_of(form, size).walk()) for size in (2, 4, 8)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0]) or form == "graph-concat"  # one operation
    verify(program_of(form, 4))
    assert {"verifier", "write LLVM IR", "LLVM", "Simplify (loop-simplify)"} <= seconds_of(form, 4).keys()


def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.argv", ["growth", "--forms", "te-inlined", "--sizes", "2", "4"])
    assert main() == 0
    head, columns, *_, whole = capsys.readouterr().out.splitlines()
    assert head == "te-inlined, seconds"
    assert columns.split() == ["2", "4", "4", "to", "2"]
    assert whole.split()[0] == "all"
