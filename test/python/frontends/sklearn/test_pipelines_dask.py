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
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

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
    assert found.best_params_ == here.best_params_
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-12)
    coefficients, expected = found.best_estimator_[-1].coef_, here.best_estimator_[-1].coef_
    np.testing.assert_allclose(coefficients, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    numbers = [
        pipelines.optimize(scaled(), strict=True, client=each).fit(rows[["age", "pay"]]) for each in (client, None)
    ]
    for name in ("mean_", "var_"):
        np.testing.assert_allclose(*(getattr(each.fitted[1], name) for each in numbers), rtol=1e-12)


def test_an_infinite_number_is_refused_by_a_worker(client: Any):
    rows, target = table()
    rows.loc[ROWS - 3, "pay"] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        pipelines.optimize(search(), strict=True, client=client).fit(rows, target)


def test_a_worker_that_is_killed_changes_nothing(client: Any):
    rows, target = table()
    expected = pipelines.optimize(search(), strict=True, client=client).fit(rows, target)
    process, *_ = client.run(os.getpid).values()

    def kill() -> None:
        while not any(client.processing().values()):
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = pipelines.optimize(search(), strict=True, client=client).fit(rows, target)
    killer.join(10)
    assert process not in client.run(os.getpid).values()
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


def test_groups_of_two_ranges():
    a, b = {0: (np.ones(2),), 2: (np.ones(2),)}, {1: (np.ones(2),), 2: (np.ones(2) * 4,)}
    joined = joined_groups(a, b)
    assert sorted(joined) == [0, 1, 2]
    np.testing.assert_array_equal(joined[2][0], [5, 5])
