"""Searches from sums over folds find what scikit-learn finds, and leave to it what sums do not say."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpreted_tables import INTERPRETED
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RandomizedSearchCV, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, QuantileTransformer, StandardScaler

import tilework as tw
from tilework import pipelines
from tilework.dialects.support.registration import make_context
from tilework.driver.read_program import parse_file
from tilework.frontends.sklearn.learner import lowered
from tilework.frontends.sklearn.training_data import RowsAndTarget
from tilework.interpreters.graph import run_function
from tilework.runtime.pipelines.folding import group_states, states_of_others
from tilework.transforms.matrix.split_statistics import SplitStatistics

ALPHAS = np.logspace(-2, 4, 5)

LEAKING = [(np.arange(20), np.arange(20)), (np.arange(20), np.arange(20, 40))]
"""Splits as long as folds of 40 rows, the first of which trains on what it holds out."""


def table(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame of numbers, some of them missing and some far from 0, and of words; and a target."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.standard_normal(rows) + 1e4, "pay": rng.standard_normal(rows)})
    data["town"] = rng.choice(["a", "b", "c"], rows)
    data["job"] = rng.choice(["x", "y", None], rows)
    target = 2 * data["pay"].to_numpy() + (data["town"] == "a").to_numpy() + rng.standard_normal(rows)
    data.loc[rng.random(rows) < 0.2, "age"] = np.nan
    return data, target


def preprocessing() -> Any:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer((numbers, ["age", "pay"]), (OneHotEncoder(handle_unknown="ignore"), ["town", "job"]))


def assert_same(found: Any, expected: Any, rows: Any) -> None:
    """Two fitted searches agree in all that is not a time."""
    assert sorted(found.cv_results_) == sorted(expected.cv_results_)
    for name, values in expected.cv_results_.items():
        if "score" in name and "time" not in name and "rank" not in name:
            np.testing.assert_allclose(found.cv_results_[name], values, rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(found.cv_results_["rank_test_score"], expected.cv_results_["rank_test_score"])
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(found.best_score_, expected.best_score_, rtol=1e-9)
    np.testing.assert_allclose(found.predict(rows), expected.predict(rows), rtol=1e-8)


SEARCHES: dict[str, Callable[[], Any]] = {
    "whole": lambda: GridSearchCV(make_pipeline(preprocessing(), Ridge()), {"ridge__alpha": ALPHAS}, cv=4),
    "drawn": lambda: RandomizedSearchCV(
        make_pipeline(preprocessing(), Ridge()), {"ridge__alpha": loguniform(0.1, 10)}, n_iter=4, random_state=3
    ),
    "error": lambda: GridSearchCV(
        make_pipeline(preprocessing(), Ridge()),
        {"ridge__alpha": ALPHAS[::2], "ridge__fit_intercept": [True, False]},
        scoring="neg_root_mean_squared_error",
        cv=KFold(3, shuffle=True, random_state=1),
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_over_a_pipeline(name: str):
    rows, target = table()
    found, expected = pipelines.optimize(SEARCHES[name](), strict=True), SEARCHES[name]()
    assert_same(found.fit(rows, target), expected.fit(rows, target), rows)
    transformer, other = (s.best_estimator_[0].transformers_ for s in (found, expected))
    for (_, a, _), (_, b, _) in zip(transformer[:1], other[:1], strict=True):
        np.testing.assert_allclose(a[0].statistics_, b[0].statistics_, rtol=1e-12)
        for attribute in ("mean_", "var_", "scale_"):
            np.testing.assert_allclose(getattr(a[1], attribute), getattr(b[1], attribute), rtol=1e-9, atol=1e-12)
        assert a[1].n_samples_seen_ == b[1].n_samples_seen_
    names = found.best_estimator_[0].get_feature_names_out()
    np.testing.assert_array_equal(names, expected.best_estimator_[0].get_feature_names_out())
    np.testing.assert_allclose(found.best_estimator_[1].coef_, expected.best_estimator_[1].coef_, rtol=1e-7, atol=1e-9)
    again = pickle.loads(pickle.dumps(found.best_estimator_))
    np.testing.assert_array_equal(again.predict(rows), found.predict(rows))
    assert "1 pass" in found.explain() or "2 pass" in found.explain()


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (LinearRegression(), {"fit_intercept": [True, False]}),
        (Lasso(), {"alpha": [0.01, 0.1, 1.0]}),
        (ElasticNet(positive=True), {"alpha": [0.01, 0.1], "l1_ratio": [0.2, 0.9]}),
        (make_pipeline(MinMaxScaler(), MaxAbsScaler(), StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}),
        (make_pipeline(StandardScaler(), PCA(3), Ridge()), {"ridge__alpha": ALPHAS, "pca__whiten": [True, False]}),
    ],
    ids=["least squares", "lasso", "net", "extremes", "components"],
)
def test_a_search_over_other_models(model: Any, grid: dict[str, Any]):
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 5)) + 3
    target = rows @ [1.0, 0.5, 0.0, -2.0, 0.1] + rng.standard_normal(200)
    search = GridSearchCV(model, grid, cv=3)
    found = pipelines.optimize(search, strict=True).fit(rows, target)
    expected = clone(search).fit(rows, target)
    assert_same(found, expected, rows)
    for name, value in vars(expected.best_estimator_).items():
        if name.endswith("_"):
            np.testing.assert_allclose(getattr(found.best_estimator_, name), value, rtol=1e-6, atol=1e-9, err_msg=name)


def test_pipelines_that_end_in_a_regression_are_fitted_from_sums():
    rows, target = table()
    numeric = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), ["age", "pay"]))
    for first, model in ((preprocessing(), Ridge(2.0)), (numeric, LinearRegression()), (preprocessing(), Lasso(0.1))):
        pipeline = make_pipeline(first, model)
        found, expected = pipelines.optimize(pipeline, strict=True).fit(rows, target), clone(pipeline)
        expected.fit(rows, target)
        np.testing.assert_allclose(found.predict(rows), expected.predict(rows), rtol=1e-7, atol=1e-9)
    with pytest.raises(tw.UsageError, match="columns are nearly sums of others"):
        pipelines.optimize(make_pipeline(preprocessing(), LinearRegression()), strict=True).fit(rows, target)


def test_a_search_over_an_array_twice():
    """The second fit finds its programs, which do not know the first data."""
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, cv=5)
    found = pipelines.optimize(search, strict=True)
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((6000, 7)) + 1e5
        target = rows @ rng.standard_normal(7) + rng.standard_normal(6000)
        assert_same(found.fit(rows, target), clone(search).fit(rows, target), rows)
        assert found.score(rows, target) == pytest.approx(found.fitted.best_estimator_.score(rows, target))


def test_statistics_that_saw_held_out_rows_give_other_scores():
    """A leak is planted: the sums of all rows in the place of the training rows'."""
    rows, target = table(120)
    rows.loc[:29, "pay"] += 50  # the rows of the first fold are unlike the others
    search = SEARCHES["whole"]()
    found = pipelines.optimize(search, strict=True).fit(rows, target)
    honest = clone(search).fit(rows, target).cv_results_["split0_test_score"]
    np.testing.assert_allclose(found.cv_results_["split0_test_score"], honest, rtol=1e-9)
    data = RowsAndTarget(rows, target)
    programs = lowered(search.estimator, data, len(ALPHAS), "r2", INTERPRETED)
    learner_sums = sums_by_interpreter(programs, data)
    leaky = run_function(
        programs.training.module, "validate", [learner_sums[0], learner_sums[1], learner_sums[2], ALPHAS],
        programs.training.parameters,
    )[0]  # fmt: skip
    assert np.abs(leaky - honest).max() > 1e-3


def sums_by_interpreter(programs: Any, data: RowsAndTarget) -> tuple[Any, Any, Any]:
    """A shift of 0, the sums of all rows, and those of the first fold."""
    shift = np.zeros((programs.sums.basis.size, 1))
    [block] = data.blocks(programs.sums.parts)
    bag = programs.training.module.body.block.first_op.body.block.args[0].type

    def sums(arrays: list[Any]) -> Any:
        columns = [array[:, i] for array in arrays[:-1] for i in range(array.shape[1])]
        rows = dict(zip(bag.columns, columns, strict=True))
        return run_function(programs.training.module, "rows", [rows, arrays[-1], shift], programs.training.parameters)[
            0
        ]

    return shift, sums(block), sums([array[:30] for array in block])


# -- the programs


PROGRAM = """
func.func @fit(%x: !matrix.matrix<N x 3 x f64, [a, b, y]>, %p: tensor<2xf64>)
    -> (tensor<3xf64>, tensor<3xf64>, tensor<2x2xf64>, tensor<2xf64>) {
  %m, %v, %n = matrix.moments %x
    : (!matrix.matrix<N x 3 x f64, [a, b, y]>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  %s = matrix.scale %m, %v, %n : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %z = matrix.map %x (%m, %s) : (!matrix.matrix<N x 3 x f64, [a, b, y]>, tensor<3xf64>, tensor<3xf64>)
      -> !matrix.matrix<N x 3 x f64, [a, b, y]> {
  ^bb0(%e: f64, %c: f64, %d: f64):
    %0 = arith.subf %e, %c : f64
    %1 = arith.divf %0, %d : f64
    matrix.yield %1 : f64
  }
  %mean, %scatter, %count = matrix.covariance %z
    : (!matrix.matrix<N x 3 x f64, [a, b, y]>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>)
  %coef, %zero = matrix.ridge %mean, %scatter, %count, %p {intercept = true}
    : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  func.return %m, %v, %coef, %zero : tensor<3xf64>, tensor<3xf64>, tensor<2x2xf64>, tensor<2xf64>
}
"""


@pytest.mark.parametrize("rows", [3, 50])
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_sums_say_what_rows_say(rows: int, far: float):
    """Also of columns far from 0, about a shift near them."""
    context = make_context()
    module = parse_file(context, PROGRAM, "<test>")
    x = np.random.default_rng(rows).standard_normal((rows, 3)) + far
    expected = run_function(module, "fit", [x, np.array([0.1, 10.0])], {})
    SplitStatistics().apply(context, module)
    shift = np.array([[0], *x[:1].T])
    [sums] = run_function(module, "rows", [x, shift], {})
    found = run_function(module, "fit", [shift, sums, np.array([0.1, 10.0])], {})
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_states_of_groups_and_of_all_others():
    rng = np.random.default_rng(0)
    values, groups = rng.integers(0, 9, (1000, 2)).astype(float), rng.integers(0, 4, 1000)
    blocks = ([values[start : start + 300]] for start in range(0, 1000, 300))

    def state(rows: Any) -> tuple[Any, ...]:
        return rows.sum(axis=0), rows.min(axis=0), rows.max(axis=0)

    states = group_states(blocks, groups, 4, lambda arrays: state(arrays[0]))
    for g, (found, others) in enumerate(zip(states, states_of_others(states), strict=True)):
        np.testing.assert_array_equal(found, state(values[groups == g]))
        np.testing.assert_array_equal(others, state(values[groups != g]))


# -- what is left to scikit-learn


def quantiles() -> Any:
    return make_pipeline(QuantileTransformer(n_quantiles=5), Ridge())


@pytest.mark.parametrize(
    ("search", "why"),
    [
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring="neg_max_error"), "scoring='neg_max_error' is not among"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=RepeatedKFold(n_repeats=2)), "no partition of the rows"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=LEAKING), "no partition of the rows"),
        (GridSearchCV(Ridge(solver="sag"), {"alpha": [1.0]}), "Ridge\\(solver='sag'\\)"),
        (GridSearchCV(Ridge(positive=True), {"alpha": [1.0]}), "Ridge\\(positive=True\\)"),
        (GridSearchCV(Ridge(), {"alpha": [0.0, 1.0]}), "alpha=0.0 is no number above 0"),
        (GridSearchCV(quantiles(), {"ridge__alpha": [1.0]}), "QuantileTransformer is not among"),
        (GridSearchCV(RandomForestRegressor(2), {"max_depth": [2]}), "the fit of RandomForestRegressor is no sum"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, return_train_score=True), "return_train_score"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_stays_scikit_learns(search: GridSearchCV, why: str):
    rng = np.random.default_rng(0)
    rows, target = rng.standard_normal((40, 3)), rng.standard_normal(40)
    with pytest.raises(tw.UsageError, match=f"strict=True: .*{why}"):
        pipelines.optimize(search, strict=True).fit(rows, target)
    found = pipelines.optimize(search).fit(rows, target)
    assert found.explain().startswith("stays scikit-learn's: ")
    assert len(found.cv_results_["params"]) == len(search.param_grid[next(iter(search.param_grid))])


def test_encoders_that_would_miss_a_value_and_sparse_matrices_are_scikit_learns():
    rows = pd.DataFrame({"town": ["a", "b", "a", "b", "a", "b", "a", "rare", "b", "a"]})
    target = np.arange(10.0)
    encoder = OneHotEncoder(sparse_output=False)
    search = GridSearchCV(make_pipeline(encoder, Ridge()), {"ridge__alpha": [1.0]}, cv=5)
    with pytest.raises(tw.UsageError, match="a training set has not all values of town"):
        pipelines.optimize(search, strict=True).fit(rows, target)
    search.set_params(estimator__onehotencoder=OneHotEncoder(handle_unknown="ignore"))
    with pytest.raises(tw.UsageError, match="to a sparse matrix by iterations"):
        pipelines.optimize(search, strict=True).fit(rows, target)


def test_groups_are_scikit_learns():
    rows, target = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    found = pipelines.optimize(GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=GroupKFold(2)))
    found.fit(rows, target, groups=np.arange(20) % 4)
    assert "fit is given groups" in found.explain()


@pytest.mark.parametrize("place", ["row", "target", "length"])
def test_data_that_scikit_learn_refuses(place: str):
    rows, target = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    if place == "row":
        rows[3, 1] = np.inf
    if place == "target":
        target[4] = np.nan
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, error_score="raise")
    given = (rows, target[:-1] if place == "length" else target)
    for each in (pipelines.optimize(search), search):
        with pytest.raises(ValueError):
            each.fit(*given)


def test_only_searches_are_optimized():
    with pytest.raises(tw.UsageError, match="optimize takes a search, a pipeline or a transformer, not a Ridge"):
        pipelines.optimize(Ridge())


def flags(place: int, rows: int = 300) -> np.ndarray:
    """0 in all rows but one."""
    return np.where(np.arange(rows) == place, 1.0, 0.0)


@pytest.mark.parametrize(
    ("column", "is_summed"),
    [
        (flags(5), True),
        (np.where(np.arange(300) == 5, 1e8, 0.3), True),
        (np.where(np.arange(300) < 240, 0.1, 1e6 * np.arange(300)), True),
        (np.where(np.arange(300) < 260, 1e6 + np.arange(300), 0.1), False),
        (np.concatenate([np.arange(150) + 1e8, np.arange(150)])[np.arange(300) * 7 % 300], True),
        (np.where(np.arange(300) < 256, np.nan, flags(270)), False),
    ],
    ids=["flag", "one far away", "a last fold", "a first part", "two places", "missing"],
)
def test_columns_that_are_the_same_nearly_everywhere(column: np.ndarray, is_summed: bool):
    """What a training set knows of a column is not the rounding of numbers that it does not have."""
    data, target = table()
    rows = data[["pay"]].assign(column=column)
    search: Any = GridSearchCV(
        make_pipeline(SimpleImputer(), StandardScaler(), Ridge()), {"ridge__alpha": [1e-3]}, cv=5
    )
    found, expected = pipelines.optimize(search).fit(rows, target), clone(search).fit(rows, target)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-7)
    assert found.explain().startswith("5 fits") == is_summed, found.explain()


def test_a_training_set_far_from_the_first_rows_is_scikit_learns():
    data, target = table(2000)
    rows = data[["pay"]].assign(column=np.where(np.arange(2000) < 500, 1e8, 0.1))
    search: Any = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0]}, cv=4)
    found, expected = pipelines.optimize(search).fit(rows, target), clone(search).fit(rows, target)
    assert "nearly one value, which other rows are far from, of column" in found.explain()
    np.testing.assert_allclose(found.best_score_, expected.best_score_)


@pytest.mark.parametrize("value", [0.1, 1.0])
@pytest.mark.parametrize("score", ["r2", "neg_mean_squared_error"])
def test_targets_that_are_the_same_in_a_fold(value: float, score: str):
    data, target = table()
    target[:150] = value
    search: Any = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}, cv=4, scoring=score)
    found, expected = pipelines.optimize(search).fit(data[["pay"]], target), clone(search).fit(data[["pay"]], target)
    assert ("the target is" in found.explain()) == (score == "r2")
    assert_same(found, expected, data[["pay"]])


@pytest.mark.parametrize("score", ["neg_mean_squared_error", "neg_root_mean_squared_error"])
def test_errors_that_are_rounding_are_scikit_learns(score: str):
    rows = np.arange(300.0)[:, None]
    target = 1e6 * rows[:, 0] + np.random.default_rng(0).standard_normal(300)
    search: Any = GridSearchCV(Ridge(), {"alpha": [1e-6, 1e-9, 1.0]}, scoring=score)
    found, expected = pipelines.optimize(search).fit(rows, target), clone(search).fit(rows, target)
    assert found.explain().startswith("stays scikit-learn's")
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(found.best_score_, expected.best_score_)


@pytest.mark.parametrize(
    "grid",
    [
        {"standardscaler": [MinMaxScaler(), StandardScaler(), "passthrough"], "ridge__alpha": [1.0, 2.0]},
        {"ridge": [Ridge(2.0), Ridge(300.0), Lasso(0.1)]},
        {"ridge": [Lasso(0.1)], "ridge__alpha": [0.5, 0.01]},
    ],
    ids=["scaler", "model", "model and penalty"],
)
def test_searches_over_steps(grid: dict[str, Any]):
    data, target = table()
    search: Any = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), grid, cv=3)
    found, expected = pipelines.optimize(search).fit(data[["pay"]], target), clone(search).fit(data[["pay"]], target)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-9)
    assert str(found.best_estimator_) == str(expected.best_estimator_)
    assert "follow from sums" in found.explain()
    np.testing.assert_allclose(found.predict(data[["pay"]]), expected.predict(data[["pay"]]))


@pytest.mark.parametrize("which", [slice(1, 2), slice("age", "pay"), slice(None, 2), [True, False]], ids=str)
def test_columns_by_slices_and_masks(which: Any):
    data, target = table()
    rows = data[["age", "pay"]].fillna(0)
    search: Any = GridSearchCV(
        make_pipeline(make_column_transformer((StandardScaler(), which)), Ridge()), {"ridge__alpha": ALPHAS}
    )
    found, expected = pipelines.optimize(search).fit(rows, target), clone(search).fit(rows, target)
    assert "follow from sums" in found.explain()
    assert_same(found, expected, rows)


def test_columns_that_are_not_there_are_refused_by_scikit_learn():
    data, target = table()
    search: Any = GridSearchCV(
        make_pipeline(make_column_transformer((StandardScaler(), ["wage"])), Ridge()), {"ridge__alpha": [1]}
    )
    with pytest.raises(ValueError, match="fits failed"):
        pipelines.optimize(search).fit(data, target)


def test_a_fitted_search_is_pickled():
    data, target = table()
    found = pipelines.optimize(GridSearchCV(Ridge(), {"alpha": ALPHAS})).fit(data[["pay"]], target)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(data[["pay"]]), found.predict(data[["pay"]]))
    assert again.explain() == found.explain()
    with pytest.raises(AttributeError, match="no_such"):
        _ = again.no_such
