"""What is compiled or learned of transformers that make sparse matrices is scikit-learn's, entry for entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from tilework import pipelines
from tilework.runtime.pipelines.folding import BLOCK
from tilework.runtime.pipelines.sparse import NOWHERE, Codes, SparseColumns


def rows(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"x": rng.integers(-1, 2, count).astype(float), "y": rng.standard_normal(count)})
    made["u"] = rng.choice(["p", "q", "r", None], count)
    made["v"] = rng.choice([f"word {i}" for i in range(200)], count)
    return made


def mixed() -> ColumnTransformer:
    """Numbers between the ones of two encoders, some of them 0."""
    words = OneHotEncoder(handle_unknown="ignore", drop="first")
    return ColumnTransformer([("u", OneHotEncoder(), ["u"]), ("x", MaxAbsScaler(), ["x"]), ("v", words, ["v"])])


def assert_same(found: Any, expected: Any) -> None:
    assert (type(found), found.shape, found.dtype) == (type(expected), expected.shape, expected.dtype)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


@pytest.mark.parametrize("count", [3, 7, BLOCK + 3])
def test_numbers_between_ones(count: int, tmp_path: Path):
    data = rows(count)
    fitted = mixed().set_params(sparse_threshold=1.0, v__drop=None).fit(data)
    model = pipelines.compile(fitted, data.head(3))
    assert_same(model.transform(data), fitted.transform(data))
    others = data.assign(v="new")
    model.save(tmp_path / "model.tw")
    assert_same(pipelines.load(tmp_path / "model.tw").transform(others), fitted.transform(others))


def test_codes_alone_need_no_native_code(tmp_path: Path):
    data = rows(50)[["u", "v"]]
    fitted = OneHotEncoder(drop="first", dtype=np.float32).fit(data)
    pipelines.compile(fitted, data).save(tmp_path / "model.tw")
    assert_same(pipelines.load(tmp_path / "model.tw").transform(data), fitted.transform(data))


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_learned_and_transformed():
    data = rows(2 * BLOCK)
    found, expected = pipelines.optimize(mixed(), strict=True), mixed()
    assert_same(found.fit_transform(data), expected.fit_transform(data))
    others = rows(BLOCK + 1).assign(v="new")
    assert_same(found.transform(others), expected.transform(others))


def test_integers_and_columns_that_are_dropped():
    data = rows(300)[["u", "v"]].fillna("p")
    encoders = [("u", OrdinalEncoder(dtype=np.int16), ["u"]), ("v", OneHotEncoder(dtype=np.int64), ["v"])]
    for threshold in (0.0, 1.0):
        columns = ColumnTransformer(encoders, sparse_threshold=threshold).fit(data)
        found, expected = pipelines.compile(columns, data).transform(data), columns.transform(data)
        assert found.dtype == expected.dtype == np.int64
        if threshold:
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)


def test_a_sparse_matrix_in_the_middle_stays_scikit_learns():
    data = rows(90)[["u", "v"]].fillna("p")
    features = make_pipeline(OneHotEncoder(), StandardScaler(with_mean=False))
    found = pipelines.optimize(features).fit(data)
    expected = features.fit(data)
    np.testing.assert_allclose(found.transform(data).toarray(), expected.transform(data).toarray())


def test_entries_of_a_block():
    """A one at code 0 only, a column of numbers, and codes that put nothing anywhere."""
    columns = SparseColumns("csr_matrix", 3, (1,), (Codes(1, 0, (0, NOWHERE, NOWHERE)), Codes(1, 1, (NOWHERE, 2, 2))))
    codes = np.array([[0, -1], [1, 0], [-1, 1]], np.int32)
    made = columns.entries(np.array([[0.5], [0.0], [np.nan]]), [np.zeros((3, 1)), codes])
    joined = columns.joined([made], np.dtype(np.float64))
    np.testing.assert_array_equal(joined.toarray(), [[1, 0.5, 1], [0, 0, 0], [0, np.nan, 1]])
    assert joined.nnz == 5
