"""Pipelines beside scikit-learn: CPU seconds of one thread, medians of runs in turns.

    python -m tilework.tools.bench.pipelines --rows 50000 --runs 3 ridge search scoring

ridge: a search over 20 penalties in 10 folds of a table of 100 columns. search: the same over 5 folds of a pipeline
that fills in, scales and encodes columns of numbers and of words. scoring: probabilities for all rows of such a table.
What is compiled is compiled before the first run; how far both results differ is told, too.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tilework import pipelines
from tilework.runtime.threads import set_num_threads

PENALTIES = np.logspace(-2, 4, 20)
NUMBERS, WORDS = [f"n{i}" for i in range(20)], [f"w{i}" for i in range(6)]


@dataclass(frozen=True)
class Case:
    """The same work twice; each gives numbers that are compared."""

    ours: Callable[[], Any]
    scikit_learn: Callable[[], Any]


def table(rows: int) -> tuple[Any, Any]:
    """Columns of numbers, of which half have missing ones, and of words; and a target."""
    rng = np.random.default_rng(0)
    words = np.array([f"word {i}" for i in range(10)])
    columns: dict[str, Any] = {name: rng.standard_normal(rows) for name in NUMBERS}
    target = columns["n15"] * 2 + rng.standard_normal(rows)
    for name in NUMBERS[:10]:
        columns[name] = np.where(rng.random(rows) < 0.05, np.nan, columns[name])
    columns |= {name: words[rng.integers(0, len(words), rows)] for name in WORDS}
    return import_module("pandas").DataFrame(columns), target


def preprocessing() -> Any:
    """What fills in, scales and encodes the table."""
    numbers = Pipeline([("fill", SimpleImputer()), ("scale", StandardScaler())])
    encoder = OneHotEncoder(handle_unknown="ignore")
    return ColumnTransformer([("numbers", numbers, NUMBERS), ("words", encoder, WORDS)])


def _search(search: GridSearchCV, rows: Any, target: Any) -> Case:
    optimized = pipelines.optimize(search, strict=True)

    def scores(each: Any) -> Any:
        return each.fit(rows, target).cv_results_["mean_test_score"]

    return Case(lambda: scores(optimized), lambda: scores(search))


def ridge(rows: int) -> Case:
    """A search over penalties of numbers alone."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 100))
    return _search(GridSearchCV(Ridge(), {"alpha": PENALTIES}, cv=10), x, x @ rng.standard_normal(100))


def search(rows: int) -> Case:
    """A search over penalties behind preprocessing."""
    pipeline = Pipeline([("columns", preprocessing()), ("ridge", Ridge())])
    return _search(GridSearchCV(pipeline, {"ridge__alpha": PENALTIES}, cv=5), *table(rows))


def scoring(rows: int) -> Case:
    """The probabilities that a fitted pipeline tells."""
    frame, target = table(rows)
    fitted: Any = Pipeline([("columns", preprocessing()), ("model", LogisticRegression())])
    fitted.fit(frame[:5000], target[:5000] > 0)
    compiled = pipelines.compile(fitted, frame[:5], ["predict_proba"])
    return Case(lambda: compiled.predict_proba(frame), lambda: fitted.predict_proba(frame))


CASES: Mapping[str, Callable[[int], Case]] = {"ridge": ridge, "search": search, "scoring": scoring}


def measure(case: Case, runs: int) -> tuple[float, float, float]:
    """Median CPU seconds of ours and of scikit-learn's, and how far their numbers differ at most."""
    case.ours()  # compiles
    seconds: tuple[list[float], list[float]] = ([], [])
    results: list[Any] = [None, None]
    for _ in range(runs):
        for i, run in enumerate((case.ours, case.scikit_learn)):
            begun = time.process_time()
            results[i] = run()
            seconds[i].append(time.process_time() - begun)
    difference = float(np.abs(results[0] - results[1]).max())
    return statistics.median(seconds[0]), statistics.median(seconds[1]), difference


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; by default all")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    if unknown := set(given.cases) - CASES.keys():
        parser.error(f"there is no case {min(unknown)}; there are {', '.join(CASES)}")
    set_num_threads(1)
    with import_module("threadpoolctl").threadpool_limits(1):
        for name in given.cases or CASES:
            ours, theirs, difference = measure(CASES[name](given.rows), given.runs)
            ratio = f"{theirs / ours:.0f} times as fast"
            print(f"{name}: {ours:.4f} s, scikit-learn {theirs:.4f} s, {ratio}, differs by {difference:.1e}")


if __name__ == "__main__":
    main()
