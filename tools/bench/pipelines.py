"""Pipelines beside scikit-learn: CPU seconds of one thread, medians of runs in turns.

    python -m tilework.tools.bench.pipelines --rows 50000 --runs 3 ridge search scoring

ridge: a search over 20 penalties in 10 folds of a table of 100 columns. search: the same over 5 folds of a pipeline
that fills in, scales and encodes columns of numbers and of words. again, encoded: the same two searches over other
penalties than an earlier one, whose sums they take, beside one that keeps and takes nothing. memory: the same beside a
pipeline with `memory=`. features: fit_transform of what comes first in such a pipeline, for numbers and words.
numbers: for numbers alone. scoring: probabilities for all rows of such a table. onnx: the same beside onnxruntime,
which reads a column of a frame each. filter: a function of a table of 30 numbers that keeps a tenth of the rows for a
matrix, with log1p of 5 columns, beside numpy on the matrix of all rows. most: the same where nine tenths are kept.
join: sums over rows that are joined with a table of 1,000 rows, beside pandas. row: probabilities for one row of an
array. trees: what a forest says of all rows, beside onnxruntime.
What is compiled is compiled before the first run; how far both results differ is told, too, and what either takes of
memory above its results.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from tilework import pipelines
from tilework.pipelines import DataBag
from tilework.runtime.threads import set_num_threads
from tilework.tools.bench.pipelines_onnx import forest_model, logistic_model, session_of

PENALTIES = np.logspace(-2, 4, 20)
NUMBERS, WORDS = [f"n{i}" for i in range(20)], [f"w{i}" for i in range(6)]

COLUMNS = [f"c{i}" for i in range(30)]
LOGARITHMS = COLUMNS[:5]


@dataclass(frozen=True)
class Case:
    """The same work twice; each gives numbers that are compared."""

    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    who: str = "scikit-learn"


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
    optimized = pipelines.optimize(search, strict=True, cache=False)
    return Case(lambda: _scores(optimized, rows, target), lambda: _scores(search, rows, target))


def _scores(search: Any, rows: Any, target: Any) -> Any:
    return search.fit(rows, target).cv_results_["mean_test_score"]


def ridge(rows: int) -> Case:
    """A search over penalties of numbers alone."""
    return _search(_ridge(PENALTIES), *_numbers(rows))


def again(rows: int) -> Case:
    """The same search when one over other penalties has been."""
    return _again(_ridge, *_numbers(rows))


def _ridge(penalties: Any) -> GridSearchCV:
    return GridSearchCV(Ridge(), {"alpha": penalties}, cv=10)


def _numbers(rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 100))
    return x, x @ rng.standard_normal(100)


def search(rows: int) -> Case:
    """A search over penalties behind preprocessing."""
    return _search(_preprocessed(PENALTIES), *table(rows))


def encoded(rows: int) -> Case:
    """The same search when one over other penalties has been."""
    return _again(_preprocessed, *table(rows))


def _preprocessed(penalties: Any) -> GridSearchCV:
    pipeline = Pipeline([("columns", preprocessing()), ("ridge", Ridge())])
    return GridSearchCV(pipeline, {"ridge__alpha": penalties}, cv=5)


def _again(search: Callable[[Any], GridSearchCV], rows: Any, target: Any) -> Case:
    """A search whose sums are kept already, beside the same one that takes none."""
    pipelines.optimize(search(PENALTIES), strict=True).fit(rows, target)
    second, alone = (pipelines.optimize(search(2 * PENALTIES), strict=True, cache=cache) for cache in (True, False))
    who = "without what was kept"
    return Case(lambda: _scores(second, rows, target), lambda: _scores(alone, rows, target), who)


def memory(rows: int) -> Case:
    """The same beside scikit-learn with a cache of what preprocessing makes, in an empty folder each time."""
    frame, target = table(rows)

    def pipeline(folder: str) -> Any:
        return Pipeline([("columns", preprocessing()), ("ridge", Ridge())], memory=folder)

    optimized = pipelines.optimize(_preprocessed(PENALTIES), strict=True, cache=False)

    def cached() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return _scores(GridSearchCV(pipeline(folder), {"ridge__alpha": PENALTIES}, cv=5), frame, target)

    return Case(lambda: _scores(optimized, frame, target), cached, "scikit-learn with memory=")


def features(rows: int) -> Case:
    """What comes before a model, fitted and applied to all rows."""
    return _features(rows, ColumnTransformer([("numbers", scaled(), NUMBERS), ("words", words(), WORDS)]))


def numbers(rows: int) -> Case:
    """The same of numbers alone."""
    return _features(rows, ColumnTransformer([("numbers", scaled(), NUMBERS)]))


def scaled() -> Any:
    """Three steps on numbers."""
    return Pipeline([("fill", SimpleImputer()), ("standard", StandardScaler()), ("range", MinMaxScaler())])


def words() -> Any:
    """Two steps on words."""
    encoder = OneHotEncoder(sparse_output=False)
    return Pipeline([("fill", SimpleImputer(strategy="most_frequent")), ("encode", encoder)])


def _features(rows: int, transformer: Any) -> Case:
    frame, _ = table(rows)
    optimized: Any = pipelines.optimize(transformer, strict=True)
    return Case(lambda: optimized.fit_transform(frame), lambda: transformer.fit_transform(frame))


def scoring(rows: int) -> Case:
    """The probabilities that a fitted pipeline tells."""
    frame, fitted = _logistic(rows)
    compiled = pipelines.compile(fitted, frame[:5], ["predict_proba"])
    return Case(lambda: compiled.predict_proba(frame), lambda: fitted.predict_proba(frame))


def onnx(rows: int) -> Case:
    """The same beside onnxruntime, whose inputs are made of the frame each time."""
    frame, fitted = _logistic(rows)
    compiled = pipelines.compile(fitted, frame[:5], ["predict_proba"])
    session = session_of(logistic_model(fitted, NUMBERS, WORDS))

    def run() -> Any:
        given = {name: frame[[name]].to_numpy(np.float32) for name in NUMBERS}
        given |= {name: frame[[name]].to_numpy(object) for name in WORDS}
        return session.run(["probabilities"], given)[0]

    return Case(lambda: compiled.predict_proba(frame), run, "onnxruntime")


def _logistic(rows: int) -> tuple[Any, Any]:
    """A table, and a pipeline that is fitted to its first rows."""
    frame, target = table(rows)
    fitted: Any = Pipeline([("columns", preprocessing()), ("model", LogisticRegression())])
    return frame, fitted.fit(frame[:5000], target[:5000] > 0)


def row(rows: int) -> Case:
    """The probabilities of one row of an array of numbers, a thousand times."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1000, 20))
    fitted: Any = Pipeline([("scaled", scaled()), ("model", LogisticRegression())])
    fitted.fit(x, x[:, 0] > 0)
    compiled = pipelines.compile(fitted, x[:5], ["predict_proba"])

    def each(model: Any) -> Any:
        return np.concatenate([model.predict_proba(x[i : i + 1]) for i in range(1000)])

    return Case(lambda: each(compiled), lambda: each(fitted))


def trees(rows: int) -> Case:
    """The probabilities that a forest of 100 trees tells, beside onnxruntime."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 80)).astype(np.float32)
    forest: Any = RandomForestClassifier(100, max_depth=8, random_state=0)
    forest.fit(x[:3000], x[:3000, 0] + x[:3000, 1] > 0)
    compiled = pipelines.compile(forest, x[:5], ["predict_proba"])
    session = session_of(forest_model(forest))
    return Case(lambda: compiled.predict_proba(x), lambda: session.run(["probabilities"], {"x": x})[0], "onnxruntime")


def kept(share: float) -> Callable[[int], Case]:
    """Rows of a table that a filter keeps, as a matrix, beside the filter of a matrix of all rows."""

    def case(rows: int) -> Case:
        rng = np.random.default_rng(0)
        frame = import_module("pandas").DataFrame({name: rng.random(rows) for name in COLUMNS})

        def matrix(table: DataBag) -> Any:
            for c in LOGARITHMS:
                table = DataBag(r | {c: np.log1p(r[c])} for r in table)
            return DataBag(r for r in table if r.c29 < share).to_matrix(*COLUMNS)

        def converted() -> Any:
            x = frame.to_numpy().copy(order="C")
            x[:, :5] = np.log1p(x[:, :5])
            return x[x[:, 29] < share]

        quoted = pipelines.quote(matrix)
        return Case(lambda: quoted(frame), converted, "numpy")

    return case


def join(rows: int) -> Case:
    """Sums of products of numbers of two tables that are joined, and the greatest of one of them."""
    rng = np.random.default_rng(0)
    pandas, names = import_module("pandas"), np.array([f"town {i}" for i in range(1000)])
    people = pandas.DataFrame({"a": rng.random(rows), "b": rng.random(rows)})
    people["town"] = pandas.Categorical(rng.choice(names, rows), names)
    towns = pandas.DataFrame({"name": names, "c": rng.random(1000), "d": rng.random(1000)})

    def sums(people: DataBag, towns: DataBag) -> Any:
        rows = DataBag(p | {"c": t.c, "d": t.d} for p in people for t in towns if p.town == t.name)
        return sum(r.a * r.c for r in rows), sum(r.b * r.d for r in rows), max(r.d for r in rows)

    def merged() -> Any:
        both = people.merge(towns, left_on="town", right_on="name")
        return np.array([(both.a * both.c).sum(), (both.b * both.d).sum(), both.d.max()])

    quoted = pipelines.quote(sums)
    return Case(lambda: np.array(quoted(people, towns)), merged, "pandas")


MADE = (ridge, again, search, encoded, memory, features, numbers, scoring, onnx, join, row, trees)
CASES: Mapping[str, Callable[[int], Case]] = {
    **{case.__name__: case for case in MADE},
    "filter": kept(0.1),
    "most": kept(0.9),
}


@dataclass(frozen=True)
class Measured:
    """Median CPU seconds of both, how far their numbers differ at most, and how many bytes ours takes at most above
    what was there before and what it gives."""

    ours: float
    theirs: float
    difference: float
    bytes_above: int


def measure(case: Case, runs: int) -> Measured:
    """Run both in turns."""
    case.ours()  # compiles
    seconds: tuple[list[float], list[float]] = ([], [])
    results: list[Any] = [None, None]
    for _ in range(runs):
        for i, run in enumerate((case.ours, case.theirs)):
            begun = time.process_time()
            results[i] = run()
            seconds[i].append(time.process_time() - begun)
    difference = float(np.abs(results[0] - results[1]).max())
    size = results[0].nbytes
    del results
    ours, theirs = (statistics.median(each) for each in seconds)
    return Measured(ours, theirs, difference, bytes_at_most(case.ours) - size)


def bytes_at_most(run: Callable[[], Any]) -> int:
    """Return by how much the memory of the process grows at most while something runs, which Linux tells."""
    clear, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    if not clear.exists():
        return 0
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    clear.write_text("5")
    before = _kilobytes(status.read_text(), "VmRSS")
    run()
    return (_kilobytes(status.read_text(), "VmHWM") - before) * 1024


def _kilobytes(status: str, name: str) -> int:
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1])


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
            case = CASES[name](given.rows)
            found = measure(case, given.runs)
            ratio = f"{found.theirs / found.ours:.1f} times as fast"
            took = f"differs by {found.difference:.1e}, takes {found.bytes_above / 2**20:.0f} MB"
            print(f"{name}: {found.ours:.4f} s, {case.who} {found.theirs:.4f} s, {ratio}, {took}")


if __name__ == "__main__":
    main()
