"""`tilework pipeline` shows what becomes of the quoted functions and optimized objects of a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tilework.tools.cli import main

HEADER = """
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from tilework import pipelines
from tilework.pipelines import DataBag
numbers = np.arange(60.0).reshape(30, 2) % 7
"""
FUNCTION = """
@pipelines.quote
def total(numbers: DataBag):
    return sum(n["0"] * n["1"] for n in numbers if n["0"] > 1)
"""
OBJECTS = """
X, y = numbers, numbers[:, 0] + np.arange(30) % 4
scaler = pipelines.optimize(make_pipeline(StandardScaler()))
search = pipelines.optimize(GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1, 2]}, cv=3))
"""


def file(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(HEADER + text)
    return str(path)


def test_programs_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["pipeline", file(tmp_path, FUNCTION + OBJECTS)]) == 0
    text = capsys.readouterr().out
    for title in ("total: imported", "total: optimize-bags", "scaler: optimize-folds", "search: optimize-training"):
        assert f"// {title}\n" in text
    for operation in ("bag.comprehension", "bag.fold", "matrix.moments", "matrix.ridge"):
        assert operation in text


def test_levels_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    np.save(tmp_path / "rows.npy", np.ones((4, 2)))
    words = ["--rows", f"numbers={tmp_path / 'rows.npy'}", "--dump-levels", str(tmp_path / "levels")]
    assert main(["pipeline", file(tmp_path, FUNCTION), *words]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    names = [str(path.relative_to(tmp_path / "levels" / "total")) for path in written]
    assert names[:3] == ["1-imported.mlir", "2-optimize-bags.mlir", "3-compiled/1-graph.mlir"]
    assert names[-1] == "3-compiled/8-llvm.ll"
    assert "define" in written[-1].read_text()


def test_what_numpy_computes_of_compiled_results_is_a_program_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = FUNCTION[: FUNCTION.rindex("    return")]
    text += """    x = numbers.to_matrix("0", "1")
    return solve(x.T @ x, x.T @ numbers.to_vector("0"))
"""
    np.save(tmp_path / "rows.npy", np.eye(4, 2))
    words = ["--rows", f"numbers={tmp_path / 'rows.npy'}", "--dump-levels", str(tmp_path / "levels")]
    assert main(["pipeline", file(tmp_path, text), *words]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert written[-1].name == "4-finish.mlir"
    assert "matrix.solve" in written[-1].read_text()


@pytest.mark.parametrize(
    ("text", "words", "code", "error"),
    [
        ("", [], 2, "no quoted function and no optimized object at its top"),
        ("1 / 0", [], 1, "cannot import .*ZeroDivisionError: division by zero"),
        (FUNCTION.replace("numbers:", "people:"), [], 2, "total takes people, which .* give --rows people=FILE"),
        (FUNCTION, ["--rows", "numbers"], 2, "--rows numbers: write --rows NAME=FILE"),
        (FUNCTION, ["--rows", "numbers=x.txt"], 2, "x.txt is no .parquet, .csv or .npy file"),
        (FUNCTION, ["--rows", "numbers=x.csv"], 1, "cannot read x.csv"),
        (FUNCTION, ["--rows", "numbers=x.npy", "--rows", "numbers=x.npy"], 1, "cannot read x.npy"),
        (FUNCTION.replace("sum(", "median("), [], 2, "total, line 13: median of rows is not known"),
        ("X = numbers\nranks = pipelines.optimize(QuantileTransformer())", [], 2, "ranks: stays scikit-learn's"),
    ],
    ids=["nothing", "fails", "frame", "name", "kind", "csv", "npy", "line", "unknown"],
)
def test_bad_input(
    text: str, words: list[str], code: int, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["pipeline", file(tmp_path, text), *words]) == code
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert re.search(error, message), message


def test_no_file(capsys: pytest.CaptureFixture[str]):
    assert main(["pipeline", "nowhere.py"]) == 1
    assert "cannot read nowhere.py" in capsys.readouterr().err
