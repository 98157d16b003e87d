"""A second search over the same rows makes no pass over them, and one over rows that changed does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tilework import pipelines
from tilework.frontends.sklearn.training_data import RowsAndTarget
from tilework.runtime.pipelines.encoded import EncodedColumn
from tilework.runtime.pipelines.lineage_cache import LineageCache

ROWS = 300
ALPHAS = [0.1, 1.0, 10.0]


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> LineageCache:
    """What the searches of one test keep: a digest takes no time, so that all is worth keeping."""
    own = LineageCache(lambda: 1 << 24, lambda: 1e15)
    monkeypatch.setattr(pipelines, "_KEPT", own)
    return own


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each pass over the rows, and with each column whose words are told apart."""
    counted: list[str] = []
    blocks, encode = RowsAndTarget.blocks, EncodedColumn.of

    def counted_blocks(self: RowsAndTarget, parts: Any) -> Any:
        counted.append("rows")
        return blocks(self, parts)

    def counted_encode(column: Any) -> EncodedColumn:
        counted.append("words")
        return encode(column)

    monkeypatch.setattr(RowsAndTarget, "blocks", counted_blocks)
    monkeypatch.setattr(EncodedColumn, "of", staticmethod(counted_encode))
    return counted


def columns() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    age = np.where(rng.random(ROWS) < 0.2, np.nan, rng.standard_normal(ROWS))
    return {"age": age, "pay": rng.standard_normal(ROWS), "town": rng.choice(["a", "b", "c"], ROWS).tolist()}


def target() -> np.ndarray:
    own = columns()
    return 2 * own["pay"] + (np.array(own["town"]) == "a") + np.random.default_rng(1).standard_normal(ROWS)


def search(last: Any = None, alphas: list[float] = ALPHAS, **parameters: Any) -> GridSearchCV:
    """A search over penalties behind preprocessing."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    steps = make_column_transformer((numbers, ["age", "pay"]), (OneHotEncoder(handle_unknown="ignore"), ["town"]))
    last = Ridge() if last is None else last
    name = f"{type(last).__name__.lower()}__alpha"
    return GridSearchCV(make_pipeline(steps, last), {name: alphas}, **{"cv": 4, **parameters})


def fitted(given: GridSearchCV, frame: Any, y: np.ndarray, **options: Any) -> Any:
    """The search as it is fitted from sums, once its scores are those of scikit-learn."""
    found = pipelines.optimize(given, strict=True, **options).fit(frame, y)
    expected = clone(given).fit(frame, y)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(found.predict(frame), expected.predict(frame), rtol=1e-8)
    return found


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_other_penalties_another_score_and_another_estimator_make_no_pass(library: Any, passes: list[str]):
    frame, y = library(columns()), target()
    first = pipelines.optimize(search(), strict=True).fit(frame, y)
    assert passes.count("rows") == passes.count("words") == 1
    assert first.explain().endswith("1 pass(es) over the rows")
    for other in (
        search(alphas=[0.5, 2.0]),
        search(scoring="neg_mean_squared_error"),
        search(Lasso(), alphas=[0.01, 0.1]),
        search(Ridge(fit_intercept=False)),
    ):
        found = pipelines.optimize(other, strict=True).fit(frame, y)
        assert found.explain().partition("fold's rows: ")[2] == (
            "0 pass(es) over the rows; kept from a fit before: codes of words, sums of products, "
            "which columns have missing numbers"
        )
    assert len(passes) == 2


def test_scores_from_kept_sums_are_scikit_learns():
    frame, y = pd.DataFrame(columns()), target()
    for other in (search(), search(alphas=[0.5, 2.0]), search(Lasso(), alphas=[0.01, 0.1])):
        fitted(other, frame, y)


@pytest.mark.parametrize(("row", "name", "value"), [(0, "age", 5.0), (299, "pay", -9.0), (150, "town", "d")])
def test_a_frame_that_is_changed_in_place_is_seen(row: int, name: str, value: Any, passes: list[str]):
    frame, y = pd.DataFrame(columns()), target()
    fitted(search(), frame, y)
    frame.loc[row, name] = value
    fitted(search(), frame, y)
    assert passes.count("rows") == 2


def test_an_array_and_its_target_that_are_changed_in_place_are_seen(passes: list[str]):
    rows, y = np.random.default_rng(0).standard_normal((ROWS, 3)), target()
    given = GridSearchCV(Ridge(), {"alpha": ALPHAS}, cv=4)
    for step, change in enumerate([lambda: None, lambda: rows[7].fill(3), lambda: y.put(7, 3)], 1):
        change()
        fitted(given, rows, y)
        fitted(given, rows, y)
        assert passes == ["rows"] * step


def test_other_folds_are_summed_anew(passes: list[str]):
    frame, y = pd.DataFrame(columns()), target()
    fitted(search(), frame, y)
    found = fitted(search(cv=3), frame, y)
    assert (passes.count("rows"), passes.count("words")) == (2, 1)
    why = "1 pass(es) over the rows; kept from a fit before: codes of words, which columns have missing numbers"
    assert found.explain().endswith(why)


def test_parameters_of_steps_are_summed_once_each(passes: list[str]):
    """A search whose candidates differ in more than the penalty keeps the sums of each combination."""
    frame, y = pd.DataFrame(columns()), target()
    given = search()
    given.param_grid = {
        **given.param_grid,
        "columntransformer__pipeline__simpleimputer__strategy": ["mean", "constant"],
    }
    fitted(given, frame, y)
    assert passes.count("rows") == 2
    assert "0 pass(es) over the rows" in fitted(given, frame, y).explain()
    assert passes.count("rows") == 2


def test_cheap_passes_are_not_kept(monkeypatch: pytest.MonkeyPatch, passes: list[str]):
    monkeypatch.setattr(pipelines, "_KEPT", LineageCache(lambda: 1 << 24, lambda: 1.0))
    for _ in range(2):
        fitted(search(), pd.DataFrame(columns()), target())
    assert passes.count("rows") == 2


def test_sums_that_exceed_the_budget_are_computed_again(monkeypatch: pytest.MonkeyPatch, passes: list[str]):
    monkeypatch.setattr(pipelines, "_KEPT", LineageCache(lambda: 100, lambda: 1e15))
    for _ in range(2):
        fitted(search(), pd.DataFrame(columns()), target())
    assert passes.count("rows") == 2


def test_columns_of_python_objects_are_not_kept(kept: LineageCache, passes: list[str]):
    frame = pd.DataFrame(columns()).astype({"town": object})
    for _ in range(2):
        fitted(search(), frame, target())
    assert (len(kept), passes.count("rows")) == (0, 2)


def test_nothing_is_kept_with_cache_false(kept: LineageCache, passes: list[str]):
    frame, y = pd.DataFrame(columns()), target()
    for _ in range(2):
        fitted(search(), frame, y, cache=False)
    assert (len(kept), passes.count("rows")) == (0, 2)
