"""Columns of words with missing values say the same in quoted functions, whatever library they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from interpreted_tables import Interpreted

from tilework.frontends.quoted.function import Quoted
from tilework.pipelines import DataBag
from tilework.runtime.pipelines.columns import numbers, objects

ENCODED = pa.array(["b", "a", None]).dictionary_encode()


def words(table: DataBag):
    return table.group_by("k").count(), table, table.filter(lambda r: r.k == "a").count()


@pytest.mark.parametrize(
    "column",
    [
        ENCODED,
        pa.chunked_array([ENCODED[:1], ENCODED[1:]]),
        pa.array(["b", "a", None], pa.string_view()),
        pl.Series(["b", "a", None], dtype=pl.Categorical),
        pd.Categorical(["b", "a", None], categories=["z", "b", "a"]),
        pd.array(["b", "a", None], pd.StringDtype("python")),
        pd.array(["b", "a", None], pd.ArrowDtype(pa.string())),
    ],
    ids=["dictionary", "chunks", "views", "polars", "pandas", "pandas strings", "pandas with pyarrow"],
)
def test_a_missing_word_is_no_word(column: Any):
    library = {"pyarrow": pa.table, "polars": pl.DataFrame}.get(type(column).__module__.split(".")[0], pd.DataFrame)
    counts, table, of_a = Quoted(words, Interpreted)(library({"k": column, "v": [1.0, 2.0, 3.0]}))  # type: ignore[arg-type]
    assert counts == {"a": 1, "b": 1}
    assert table["k"].tolist() == ["b", "a", None]
    assert of_a == 1


@pytest.mark.parametrize("given", [[3, 1, None], [None, 3], [3, 1]], ids=str)
def test_a_null_of_a_dictionary_is_none_of_its_values(given: list[int | None]):
    column = pa.chunked_array([pa.array(given).dictionary_encode()])
    expected = [np.nan if value is None else value for value in given]
    np.testing.assert_array_equal(numbers(column, np.dtype(np.float64)), expected)
    texts = [None if value is None else str(value) for value in given]
    assert objects(pa.chunked_array([pa.array(texts).dictionary_encode()])).tolist() == texts
