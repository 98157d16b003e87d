"""Columns are encoded as codes of the values that they have, whatever library holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpreted_tables import INTERPRETED
from sklearn.preprocessing import OrdinalEncoder

from tilework.frontends.sklearn.transformer import OptimizedTransformer
from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.encoded import EncodedColumn


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", None, "b", np.nan],
        np.array([2.5, np.nan, -1.0, 2.5]),
        pd.Series(["b", "a", None, "b"], dtype="str"),
        pd.Series(["b", "a", None, "b"], dtype="category"),
        np.arange(300) % 257,
        [],
    ],
    ids=["objects", "numbers", "words", "category", "wide", "none"],
)
def test_values_that_are_told_apart(values: Any):
    column = values if not isinstance(values, list) else np.array(values, object)
    found = EncodedColumn.of(column)
    again = [found.values[code] for code in found.codes]
    expected = np.asarray(column, object).tolist()
    assert len(again) == len(expected)
    for a, b in zip(again, expected, strict=True):
        assert a is b or a == b or (a != a and b != b)
    assert found.counts.sum() == len(expected)
    assert found.counts_of(found.values) == found.counts.tolist()
    for value, place in zip(found.values, found.places, strict=True):
        if value == value and value is not None and value in expected:
            assert expected[place] == value


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", None, "b"], dtype="string"),
        pd.Series(["b", "a", None, "b"], dtype="string[python]"),
        pd.Series(["b", "a", None, "b"], dtype="string").astype("category"),
        pd.Series(["b", "a", pd.NA, "b"], dtype=object),
        np.array(["b", "a", pd.NA, "b"], object),
    ],
    ids=["arrow", "python", "category", "objects", "array"],
)
def test_a_word_that_pandas_calls_na_is_missing(column: Any):
    found = EncodedColumn.of(column)
    assert repr(found.ordered) == "('a', 'b', nan)"
    assert Dictionary(found.ordered).codes(column).tolist() == [1, 0, 2, 1]
    assert Dictionary(("a", "b")).codes(column[:3]).tolist() == [1, 0, -1]
    with pytest.raises(TypeError, match="NAType"):  # as scikit-learn itself
        OptimizedTransformer(OrdinalEncoder(), INTERPRETED).fit(pd.DataFrame({"v": pd.array(["b", None], "string")}))
