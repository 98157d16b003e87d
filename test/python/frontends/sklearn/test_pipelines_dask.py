"""Passes over rows on the workers of Dask find what they find here, also where a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler

import tilework as tw
from tilework import pipelines
from tilework.runtime.pipelines.cluster import RANGE, joined_groups

distributed = pytest.importorskip("dask.distributed")

ROWS = 5 * RANGE + 77


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as made:
        yield made


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"age": rng.standard_normal(ROWS) + 1e4, "pay": rng.standard_normal(ROWS)})
    target = 2 * data["pay"].to_numpy() + rng.standard_normal(ROWS)
    data.loc[rng.random(ROWS) < 0.2, "age"] = np.nan
    data["town"] = rng.choice(["a", "b", "c"], ROWS)
    return data, target


def scaled() -> Any:
    return make_pipeline(SimpleImputer(), StandardScaler(), MinMaxScaler())


def features() -> Any:
    return make_column_transformer((scaled(), ["age", "pay"]), (OneHotEncoder(), ["town"]))


def search() -> GridSearchCV:
    return GridSearchCV(make_pipeline(features(), Ridge()), {"ridge__alpha": np.logspace(-2, 4, 5)}, cv=3)


def test_a_search_and_features_on_two_workers(client: Any):
    rows, target = table()
    found = pipelines.optimize(search(), strict=True, client=client).fit(rows, target)
    here = pipelines.optimize(search(), strict=True).fit(rows, target)
    assert ": 1 pass(es) over the rows" in here.explain()  # sums of workers, added in another order, are not taken
    assert found.best_params_ == here.best_params_
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-12)
    coefficients, expected = found.best_estimator_[-1].coef_, here.best_estimator_[-1].coef_
    np.testing.assert_allclose(coefficients, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    numbers = [
        pipelines.optimize(scaled(), strict=True, client=each).fit(rows[["age", "pay"]]) for each in (client, None)
    ]
    for name in ("mean_", "var_"):
        np.testing.assert_allclose(*(getattr(each.fitted[1], name) for each in numbers), rtol=1e-12)


GONE = ROWS // 5 + 9
"""Rows without which the first partition is empty."""


def partitioned(rows: pd.DataFrame) -> Any:
    """The rows behind the first ones in partitions."""
    frame = pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=5)
    return frame.query(f"index >= {GONE}")


def test_rows_stay_in_partitions(client: Any):
    rows, target = table()
    frame = client.persist(partitioned(rows))
    apart = search().set_params(estimator__columntransformer__onehotencoder__drop="first")  # else columns add up to 1
    found = pipelines.optimize(apart, strict=True, client=client).fit(frame, target[GONE:])
    here = pipelines.optimize(apart, strict=True).fit(rows[GONE:], target[GONE:])
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-12)
    coefficients, expected = found.best_estimator_[-1].coef_, here.best_estimator_[-1].coef_
    np.testing.assert_allclose(coefficients, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())

    many = pipelines.optimize(features(), strict=True, client=client)
    made = many.fit_transform(frame).compute()
    one = pipelines.optimize(features(), strict=True).fit(rows[GONE:])
    np.testing.assert_allclose(made, one.transform(rows[GONE:]), rtol=1e-12, atol=1e-12)
    assert many.explain() == "all steps learn in one pass over the rows"
    assert many.fitted.named_transformers_["onehotencoder"].categories_[0].tolist() == ["a", "b", "c"]


def test_a_value_that_one_partition_has_is_known_to_all(client: Any):
    rows, _ = table()
    rows.loc[ROWS - 2, "town"] = "rare"
    encoder = OneHotEncoder(min_frequency=10, sparse_output=False)
    frame = partitioned(rows)[["town"]]
    found = pipelines.optimize(encoder, strict=True, client=client).fit(frame)
    assert found.infrequent_categories_[0].tolist() == ["rare"]


@pytest.mark.parametrize(
    "steps",
    [[OneHotEncoder(sparse_output=False)], [SimpleImputer(strategy="most_frequent"), OrdinalEncoder()]],
    ids=["encoded", "filled"],
)
def test_missing_words_of_partitions_are_nan(client: Any, steps: list[Any]):
    """Dask calls them NA, which scikit-learn refuses."""
    words = np.array(["p", np.nan, "q", "p"], object)
    frame = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame({"v": words}), npartitions=2)
    found = pipelines.optimize(make_pipeline(*steps), strict=True, client=client).fit_transform(frame).compute()
    np.testing.assert_array_equal(found, make_pipeline(*steps).fit_transform(words[:, None]))


def test_a_killed_worker_and_partitions(client: Any):
    rows, target = table()
    frame = client.persist(partitioned(rows))
    target = target[GONE:]
    expected = pipelines.optimize(search(), strict=True, client=client).fit(frame, target)
    process, *_ = client.run(os.getpid).values()
    os.kill(process, signal.SIGKILL)
    found = pipelines.optimize(search(), strict=True, client=client).fit(frame, target)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (make_pipeline(RobustScaler()), "the fit of RobustScaler is no sum over rows"),
        (make_pipeline(scaled(), RobustScaler(), MinMaxScaler()), "the fit of RobustScaler is no sum over rows"),
        (
            make_column_transformer((MinMaxScaler(), ["age"]), (RobustScaler(), ["pay"])),
            "the fit of RobustScaler is no sum over rows",
        ),
        (make_pipeline(scaled(), LogisticRegression()), "the fit of LogisticRegression is no sum over rows"),
        (make_pipeline(scaled(), Ridge(positive=True)), "Ridge\\(positive=True\\)"),
        (make_pipeline(SimpleImputer(strategy="most_frequent")), "numbers of a Dask frame, are not told apart"),
        (GridSearchCV(Ridge(positive=True), {"alpha": [1.0, 2]}), "Ridge\\(positive=True\\)"),
    ],
    ids=["scaler", "middle", "branch", "predictor", "ridge", "counts", "search"],
)
def test_what_needs_rows_that_are_here_is_refused(client: Any, estimator: Any, why: str):
    rows, target = table()
    frame = partitioned(rows)[["age", "pay"]]
    with pytest.raises(tw.UsageError, match=f"rows of Dask are learned from by sums over partitions: .*{why}"):
        pipelines.optimize(estimator, client=client).fit(frame, target[GONE:])


def test_a_frame_of_dask_needs_a_client():
    frame = partitioned(table()[0])
    with pytest.raises(tw.UsageError, match="a frame of Dask is given: pipelines.optimize"):
        pipelines.optimize(scaled()).fit(frame[["age", "pay"]])


def test_what_is_no_client_is_refused():
    with pytest.raises(tw.UsageError, match="takes a Client of dask.distributed, not a str"):
        pipelines.optimize(scaled(), client="tcp://127.0.0.1:1")


def test_an_infinite_number_is_refused_by_a_worker(client: Any):
    rows, target = table()
    rows.loc[ROWS - 3, "pay"] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        pipelines.optimize(search(), strict=True, client=client).fit(rows, target)


def test_a_worker_that_is_killed_changes_nothing(client: Any):
    rows, target = table()
    expected = pipelines.optimize(search(), strict=True, client=client, cache=False).fit(rows, target)
    process, *_ = client.run(os.getpid).values()

    def kill() -> None:
        while not any(client.processing().values()):
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = pipelines.optimize(search(), strict=True, client=client, cache=False).fit(rows, target)
    killer.join(10)
    assert process not in client.run(os.getpid).values()
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


def test_groups_of_two_ranges():
    a, b = {0: (np.ones(2),), 2: (np.ones(2),)}, {1: (np.ones(2),), 2: (np.ones(2) * 4,)}
    joined = joined_groups(a, b)
    assert sorted(joined) == [0, 1, 2]
    np.testing.assert_array_equal(joined[2][0], [5, 5])
