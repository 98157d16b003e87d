"""Features of a large table of numbers and words, some missing, and a model's probabilities, beside scikit-learn.

    python examples/pipelines/table.py --rows 2000000 --plot times.svg

Times are CPU seconds of one run each, once all code has been compiled; the plot shows them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from times import plot, seconds

from tilework import pipelines

NUMBERS, WORDS = [f"n{i}" for i in range(10)], ["town", "job"]
FEW = 2000
"""Rows that code is compiled for, and that the model is fitted to."""


def table(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and words, of which one in twenty is missing, and two classes."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {name: rng.standard_normal(rows) for name in NUMBERS}
    classes = columns["n0"] + rng.standard_normal(rows) > 0
    for name in NUMBERS[:5]:
        columns[name][rng.random(rows) < 0.05] = np.nan
    for name, count in zip(WORDS, (12, 5), strict=True):
        words = np.array([*(f"{name} {i}" for i in range(count)), None], object)
        columns[name] = pd.Series(words[rng.integers(0, len(words), rows)], dtype="str")
    return pd.DataFrame(columns), classes


def features() -> Any:
    """Fill in, scale and encode."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler(), MinMaxScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False))
    return make_column_transformer((numbers, NUMBERS), (words, WORDS))


def main(arguments: list[str] | None = None) -> None:
    """Print both times of each step, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--plot", type=Path, help="a file of SVG")
    given = parser.parse_args(arguments)
    rows, classes = table(given.rows)
    fused = pipelines.optimize(features(), strict=True)
    fused.fit_transform(rows[:FEW])
    model = make_pipeline(features(), LogisticRegression()).fit(rows[:FEW], classes[:FEW])
    compiled = pipelines.compile(model, rows[:5], ["predict_proba"])
    steps: Mapping[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "fit_transform": (lambda: fused.fit_transform(rows), lambda: features().fit_transform(rows)),
        "predict_proba": (lambda: compiled.predict_proba(rows), lambda: model.predict_proba(rows)),
    }
    times: dict[str, tuple[float, float]] = {}
    for name, (ours, theirs) in steps.items():
        (fast, found), (slow, expected) = seconds(ours), seconds(theirs)
        times[name] = (fast, slow)
        difference = np.abs(found - expected).max()
        print(f"{name}: {fast:.3f} s, scikit-learn {slow:.3f} s, {slow / fast:.1f} times, differs by {difference:.1e}")
    if given.plot is not None:
        given.plot.write_text(plot(times), encoding="utf-8")


if __name__ == "__main__":
    main()
