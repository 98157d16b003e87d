"""Functions of a FunctionTransformer are read where they say what happens to each element, and else refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from interpreted_tables import INTERPRETED
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import tilework as tw
from tilework.frontends.sklearn.element_function import NAMES, WRITTEN
from tilework.frontends.sklearn.transformer import OptimizedTransformer

pytestmark = pytest.mark.filterwarnings("ignore")
LIMIT, NUMBER = 2.5, np.float64(2)
ROWS = np.array([[-3.0, 0.5], [0.0, -0.0], [2.5, 8.0], [np.nan, 1e-300], [1e300, -27.0]])


def clipped(x: Any) -> Any:
    """x, cut off at a limit; the assignment is read as well."""
    low = -LIMIT
    return np.clip(x, low, LIMIT)


READ: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: (2 * x - 1) / 3 + x**2,
    "condition": lambda x: np.where(x > LIMIT, np.log1p(x), -x),
    "missing": lambda x: np.where(np.isnan(x), -1.0, x),
    "extremes": lambda x: np.maximum(np.minimum(x, 4), -1),
    "defined": clipped,
}
REFUSED: dict[str, tuple[Any, str]] = {
    "whole columns": (lambda x: x - np.mean(x), "np.mean\\(x\\) is no function of elements"),
    "method": (lambda x: x.clip(0, 1), "x is not known"),
    "condition": (lambda x: x > 0, "is a condition, no number"),
    "two": (lambda x, y=1: x + y, "has 2 parameters"),
    "array": (lambda x: x + ROWS[0], "ROWS\\[0\\] is not known"),
    "numpy number": (lambda x: x * NUMBER, "NUMBER is no number that Python knows"),
    "ufunc": (np.spacing, "spacing of numpy is not known"),
    "class": (np.vectorize(abs), "is no function of Python"),
    "source": (eval("lambda x: x"), "the source of <lambda> is not there"),
}


def features(function: Any) -> Any:
    return make_pipeline(StandardScaler(with_mean=False, with_std=False), FunctionTransformer(function))


@pytest.mark.parametrize("name", READ)
def test_functions_that_are_read(name: str):
    found = OptimizedTransformer(features(READ[name]), INTERPRETED, strict=True)
    np.testing.assert_allclose(found.fit_transform(ROWS), READ[name](ROWS), rtol=1e-15)


@pytest.mark.parametrize("function", [*NAMES, *WRITTEN], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_numpy(function: Any, dtype: Any):
    rows = np.linspace(-1.5, 2, 24).reshape(12, 2).astype(dtype)
    found = OptimizedTransformer(features(function), INTERPRETED, strict=True).fit_transform(rows)
    np.testing.assert_allclose(found, function(rows), rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)
    assert found.dtype == dtype


@pytest.mark.parametrize("name", REFUSED)
def test_functions_that_are_refused(name: str):
    function, why = REFUSED[name]
    with pytest.raises(tw.UsageError, match=f"functiontransformer: .*({why})"):
        OptimizedTransformer(features(function), INTERPRETED, strict=True).fit(ROWS)


def test_columns_of_few_bits_are_scikit_learns():
    rows = np.ones((3, 2), np.int8)
    found = OptimizedTransformer(FunctionTransformer(np.sqrt), INTERPRETED)
    assert found.fit_transform(rows).dtype == np.float16
    assert "column 0, which holds elements of type int8" in found.explain()
