"""Matrix algebra of quoted functions is numpy's, and their cross-validation scikit-learn's."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import tilework as tw
from tilework import pipelines
from tilework.pipelines import DataBag

NAMES = ["age", "pay", "size"]
ALPHAS = [0.1, 1.0, 30.0]
solve, eye = np.linalg.solve, np.eye


def cross_validate(fit: Callable[..., Any], X: Any, y: Any, folds: int, grid: Any) -> Any:  # noqa: N803
    raise AssertionError("quoted functions are read")


def table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(rows)
    made = pd.DataFrame(rng.standard_normal((rows, 3)) + [0, 1, 3], columns=NAMES)
    made["score"] = made["age"] - 2 * made["pay"] + rng.standard_normal(rows)
    return made


@pipelines.quote
def algebra(people: DataBag) -> Any:
    """Products, sums and a fit of what a filter leaves."""
    rows = DataBag(p for p in people if p.age > -0.5)
    X, y = rows.to_matrix(*NAMES), rows.to_vector("score")  # noqa: N806
    d = X.shape[1]
    gram = X.T @ X
    w = solve(gram + 0.5 * eye(d), X.T @ y)
    left = y - X @ w
    means = X.mean(axis=0)
    several = solve(gram, gram)
    return w, gram / 2 - gram.max(), left.sum(), abs(means).sum(), X.sum(axis=1), np.sqrt(y @ y), several, means @ w


@pytest.mark.parametrize("rows", [50, 500])
def test_algebra_is_that_of_numpy(rows: int):
    data = table(rows)
    kept = data[data["age"] > -0.5]
    x, y = kept[NAMES].to_numpy(), kept["score"].to_numpy()
    gram = x.T @ x
    w = np.linalg.solve(gram + 0.5 * np.eye(3), x.T @ y)
    means = x.mean(axis=0)
    expected = (
        w,
        gram / 2 - gram.max(),
        (y - x @ w).sum(),
        np.abs(means).sum(),
        x.sum(axis=1),
        np.sqrt(y @ y),
        np.eye(3),
        means @ w,
    )
    found = algebra(data)
    assert [type(item) for item in found] == [type(item) if np.ndim(item) else float for item in expected]
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


@pipelines.quote
def search(people: DataBag) -> Any:
    """r2 of ridge regressions, by folds."""
    X, y = people.to_matrix(*NAMES), people.to_vector("score")  # noqa: N806
    return cross_validate(lambda X, y, a: solve(X.T @ X + a * eye(3), X.T @ y), X, y, folds=4, grid=ALPHAS)


@pytest.mark.parametrize("rows", [30, 31, 303])
def test_cross_validation_is_that_of_scikit_learn(rows: int):
    data = table(rows)
    grid = GridSearchCV(Ridge(fit_intercept=False), {"alpha": ALPHAS}, cv=4)
    results = grid.fit(data[NAMES].to_numpy(), data["score"].to_numpy()).cv_results_
    expected = np.stack([results[f"split{i}_test_score"] for i in range(4)], axis=1)
    np.testing.assert_allclose(search(data), expected, rtol=1e-11)


def far(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(score=data["score"] + 1e6)


def outlier(data: pd.DataFrame) -> pd.DataFrame:
    return data.mul(np.where(data.index > 7, 1.0, 1e9), axis=0)


def constant(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(score=2.5)


@pytest.mark.parametrize(("change", "tolerance"), [(far, 1e-9), (outlier, 1e-9), (constant, 0.0)])
def test_scores_lose_no_digits_where_numbers_are_large_or_the_same(change: Any, tolerance: float):
    data = change(table(31))
    x, y = data[NAMES].to_numpy(), data["score"].to_numpy()
    expected = [cross_val_score(Ridge(alpha, fit_intercept=False), x, y, cv=KFold(4)) for alpha in ALPHAS]
    np.testing.assert_allclose(search(data), expected, rtol=tolerance)


def test_folds_of_one_row_have_no_score_and_folds_without_rows_are_refused():
    assert np.isnan(search(table(5))).tolist() == [[False, True, True, True]] * 3
    with pytest.raises(ValueError, match="3 rows are to be split into 4 folds, of which each has one at least"):
        search(table(3))


@pipelines.quote
def centred(people: DataBag) -> Any:
    """A fit that reads all there is of a training set: means and how many rows there are."""
    X, y = people.to_matrix("age", "pay"), people.to_vector("score")  # noqa: N806
    return cross_validate(
        lambda X, y, a: solve(
            X.T @ X / len(X) + a * eye(2) + 0 * X.mean(axis=0).sum() * eye(2),
            y @ X / len(y) + 0 * y.mean() + 0 * (y @ y),
        ),
        X,
        y,
        folds=3,
        grid=[0.5],
    )


def test_what_is_known_of_a_training_set():
    data = table(40)
    x, y = data[["age", "pay"]].to_numpy(), data["score"].to_numpy()
    expected: list[float] = []
    for held in np.array_split(np.arange(40), 3):
        train = np.setdiff1d(np.arange(40), held)
        n = len(train)
        w = np.linalg.solve(x[train].T @ x[train] / n + 0.5 * np.eye(2), x[train].T @ y[train] / n)
        left, spread = y[held] - x[held] @ w, y[held] - y[held].mean()
        expected.append(1 - left @ left / (spread @ spread))
    np.testing.assert_allclose(centred(data), [expected], rtol=1e-11)


def test_tables_are_joined_scaled_and_cross_validated():
    """The whole way: a join, columns that are scaled by what all of them say, matrices, a search."""
    rng = np.random.default_rng(3)
    people = table(200).assign(town=rng.choice(["a", "b", "c"], 200))
    towns = pd.DataFrame({"name": ["a", "b", "c"], "width": [1.5, -0.5, 2.0]})

    @pipelines.quote
    def train(people: DataBag, towns: DataBag) -> Any:
        rows = DataBag(p | {"width": t.width} for p in people for t in towns if p.town == t.name and p.age >= -1)
        for c in ["age", "pay"]:
            m, s = rows[c].mean(), rows[c].std()
            rows = rows.map(lambda r: r | {c: (r[c] - m) / s})  # noqa: B023  it is read where it stands
        X, y = rows.to_matrix("age", "pay", "width"), rows.to_vector("score")  # noqa: N806
        return cross_validate(lambda X, y, a: solve(X.T @ X + a * eye(3), X.T @ y), X, y, folds=5, grid=ALPHAS)

    kept = people.merge(towns, left_on="town", right_on="name")
    kept = kept[kept["age"] >= -1]
    for name in ("age", "pay"):
        kept[name] = (kept[name] - kept[name].mean()) / kept[name].std(ddof=0)
    grid = GridSearchCV(Ridge(fit_intercept=False), {"alpha": ALPHAS}, cv=5)
    results = grid.fit(kept[["age", "pay", "width"]].to_numpy(), kept["score"].to_numpy()).cv_results_
    expected = np.stack([results[f"split{i}_test_score"] for i in range(5)], axis=1)
    np.testing.assert_allclose(train(people, towns), expected, rtol=1e-10)


def refused(body: str) -> Any:
    """A quoted function with this statement, which stands in a file of its own."""
    text = f"def f(people):\n    X, y = people.to_matrix('age', 'pay'), people.to_vector('score')\n    return {body}\n"
    names: dict[str, Any] = {}
    linecache.cache[body] = (len(text), None, text.splitlines(keepends=True), body)
    exec(compile(text, body, "exec"), names)
    return pipelines.quote(names["f"])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("X @ X", "X @ X: .*columns"),
        ("X + y.T @ X.T", "line 3"),
        ("solve(X, y)", "no square matrix"),
        ("X.sum(axis=2)", "there is no axis 2"),
        ("X.std(axis=0)", "X.std\\(axis=0\\) is not known"),
        ("people.sum() @ X", "is not known"),
        ("y.sum() @ X", "multiplies what is neither a matrix nor a vector"),
        ("cross_validate(lambda X, y: X, X, y, folds=3, grid=[1])", "write cross_validate"),
        ("cross_validate(lambda X, y, a: X @ X, X, y, folds=3, grid=[1])", "X @ X is no sum over the rows"),
        ("cross_validate(lambda X, y, a: X * 2, X, y, folds=3, grid=[1])", "X \\* 2 reads rows"),
        ("cross_validate(lambda X, y, a: X.sum(axis=1), X, y, folds=3, grid=[1])", "is no sum over the rows"),
        ("cross_validate(lambda X, y, a: X.T @ X, X, y, folds=3, grid=[1])", "fits no vector of weights"),
        ("cross_validate(lambda X, y, a: X.T @ y, y, X, folds=3, grid=[1])", "takes a matrix and a vector"),
        ("len(X)", "X is no table"),
        ("X.T @ X + eye(2.5)", "eye\\(2.5\\): how many rows there are is a whole number above 0"),
        ("X.sum(axis='x')", "X.sum\\(axis='x'\\): an axis is a whole number"),
        ("cross_validate(lambda X, y, a: X.T @ y, X, y, folds=3, grid=[])", "is a list of numbers"),
        ("cross_validate(lambda X, y, a: X.T @ y, X, y, folds=3, grid=['q'])", "is a list of numbers"),
    ],
    ids=str,
)
def test_what_is_refused(body: str, why: str):
    with pytest.raises(tw.UsageError, match=f"f, line 3: .*{why}" if "line" not in why else why):
        refused(body)(table(20))


def test_negatives_last_axes_and_constants():
    data = table(20)
    x = data[["age", "pay"]].to_numpy()
    negative, sums, name, mean = refused("-X, X.sum(axis=-1), 'sums', -people['age'].mean()")(data)
    np.testing.assert_array_equal(negative, -x)
    np.testing.assert_allclose(sums, x.sum(axis=-1))
    assert (name, mean) == ("sums", pytest.approx(-data["age"].mean()))


def test_a_vector_is_no_table_and_constants_are_no_result():
    with pytest.raises(
        tw.UsageError, match="f takes tables, which have rows and columns; a Series with 1 axes is given"
    ):
        refused("X")(table(20)["age"])
    with pytest.raises(tw.UsageError, match="f, what it returns is computed of no table"):
        refused("1, 2")(table(20))


def test_a_singular_matrix_is_an_error_as_in_numpy():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        refused("solve(0 * X.T @ X, X.T @ y)")(table(20))
