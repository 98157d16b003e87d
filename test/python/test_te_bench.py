"""`tilework bench --compile`: the compiler's own time. No time is asserted."""

import json

import pytest

from tilework.tools.cli import main


def test_table_and_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tilework.tools.bench.compiling.STAGES", (1, 2))
    file = tmp_path / "out.json"
    assert main(["bench", "--compile", "--repeat", "1", "--json", str(file)]) == 0
    first, *stages = capsys.readouterr().out.splitlines()
    measured = json.loads(file.read_text())["compiling"]
    assert measured["primitives"] >= 20 and first.startswith(f"te kernel of {measured['primitives']} primitives")
    assert set(measured["kernel"]) == {"schedule", "lower", "emit"} and set(measured["stages"]) == {"1", "2"}
    assert [line.split()[:2] for line in stages] == [["1", "stages"], ["2", "stages"]]


@pytest.mark.parametrize("arguments", [["bench"], ["bench", "--compile", "light:mlp"]])
def test_models_or_the_compiler(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err == "tilework: error: bench takes models, or --compile and no model\n"
