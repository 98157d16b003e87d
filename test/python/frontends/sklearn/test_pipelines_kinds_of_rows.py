"""Frames and arrays take turns, whichever an estimator is fitted to, and fitted estimators may change meanwhile."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpreted_tables import INTERPRETED
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler

from tilework.frontends.sklearn.transformer import OptimizedTransformer

FRAME = pd.DataFrame({"a": [1.0, 2, 4, 9], "b": [3.0, -1, 0, 5]})
ARRAY = FRAME.to_numpy()
SCALED = make_pipeline(StandardScaler(), MinMaxScaler())
AROUND_A_BARRIER = make_pipeline(StandardScaler(), MinMaxScaler(), QuantileTransformer(n_quantiles=3), MinMaxScaler())


class RefusesMany(RobustScaler):
    """A step that is not known, and refuses more than 50 rows."""

    def transform(self, X: Any) -> Any:  # noqa: N803  as scikit-learn calls them
        if len(X) > 50:
            raise ValueError("too many rows")
        return super().transform(X)


def told(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call gives, and what it warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = call()
    return made, [str(each.message) for each in said]


@pytest.mark.parametrize("estimator", [SCALED, AROUND_A_BARRIER], ids=["known", "barrier"])
@pytest.mark.parametrize("fitted_to", [FRAME, ARRAY], ids=["frame", "array"])
@pytest.mark.parametrize("first", [FRAME, ARRAY], ids=["frame first", "array first"])
def test_frames_and_arrays_take_turns(estimator: Any, fitted_to: Any, first: Any):
    found, expected = OptimizedTransformer(estimator, INTERPRETED).fit(fitted_to), clone(estimator).fit(fitted_to)
    for rows in (first, FRAME, ARRAY, FRAME[:1], FRAME.astype("float32"), ARRAY.tolist()):
        made, said = told(lambda rows=rows: found.transform(rows))
        wanted, known = told(lambda rows=rows: expected.transform(rows))
        np.testing.assert_allclose(made, wanted, rtol=1e-6, atol=1e-6)
        assert (made.dtype, said) == (wanted.dtype, known)


@pytest.mark.parametrize(
    ("estimator", "rows", "why"),
    [
        (make_column_transformer((StandardScaler(), ["a"])), ARRAY, "only supported for dataframes"),
        (SCALED, FRAME[["b", "a"]], "feature names should match"),
        (SCALED, FRAME[["a"]], "seen at fit time, yet now missing"),
        (SCALED, ARRAY[:, :1], "X has 1 features, but StandardScaler is expecting 2"),
    ],
    ids=["names", "order", "missing", "width"],
)
def test_rows_of_a_wrong_kind_are_refused_and_leave_nothing_behind(estimator: Any, rows: Any, why: str):
    found = OptimizedTransformer(estimator, INTERPRETED, strict=True).fit(FRAME)
    for _ in range(2):
        with pytest.raises(ValueError, match=why):
            found.transform(rows)
        np.testing.assert_allclose(found.transform(FRAME), clone(estimator).fit_transform(FRAME))


def test_steps_that_refuse_rows_leave_no_half_of_a_pipeline_behind():
    pipeline = make_pipeline(StandardScaler(), RefusesMany(), MinMaxScaler())
    found, expected = OptimizedTransformer(pipeline, INTERPRETED).fit(FRAME), clone(pipeline).fit(FRAME)
    with pytest.raises(ValueError, match="too many rows"):
        found.transform(pd.concat([FRAME] * 20))
    np.testing.assert_allclose(found.transform(FRAME), expected.transform(FRAME))


def shifted(fitted: Any) -> None:
    fitted[0].mean_ = fitted[0].mean_ + 5


def shifted_in_place(fitted: Any) -> None:
    fitted[0].mean_ += 5


def as_a_frame(fitted: Any) -> None:
    fitted.set_output(transform="pandas")


@pytest.mark.parametrize("change", [shifted, shifted_in_place, as_a_frame])
@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_a_fitted_estimator_that_is_changed_transforms_as_changed(change: Callable[[Any], None], used: bool):
    found, expected = OptimizedTransformer(SCALED, INTERPRETED).fit(FRAME), clone(SCALED).fit(FRAME)
    if used:
        found.transform(FRAME)
    for fitted in (found.fitted, expected):
        change(fitted)
    made, wanted = found.transform(FRAME), expected.transform(FRAME)
    assert type(made) is type(wanted)
    np.testing.assert_allclose(made, wanted)


FACTOR = 3.0


def multiplied(x: Any) -> Any:
    """x times a number from around, which a test changes."""
    return x * FACTOR


@pytest.mark.parametrize("last", [MinMaxScaler(), Ridge()], ids=["transformer", "regression"])
def test_a_function_whose_surroundings_change_is_read_again(last: Any, monkeypatch: pytest.MonkeyPatch):
    pipeline = make_pipeline(FunctionTransformer(multiplied), StandardScaler(with_std=False), last)
    found, expected = OptimizedTransformer(pipeline, INTERPRETED, strict=True), clone(pipeline)
    for refitted in (True, False, True):
        for each in (found, expected):
            if refitted:
                each.fit(ARRAY, ARRAY[:, 0] - ARRAY[:, 1])
        method = "predict" if isinstance(last, Ridge) else "transform"
        np.testing.assert_allclose(getattr(found, method)(ARRAY), getattr(expected, method)(ARRAY))
        monkeypatch.setitem(globals(), "FACTOR", FACTOR + 4)


class Settings:
    """Numbers that may change."""

    factor = 2.0


def test_an_attribute_that_may_change_is_not_read():
    found = OptimizedTransformer(make_pipeline(FunctionTransformer(lambda x: x * Settings.factor)), INTERPRETED)
    found.fit(ARRAY)
    assert "Settings.factor is an attribute, which may change" in found.explain()
    constant = FunctionTransformer(lambda x: x * np.pi)
    OptimizedTransformer(make_pipeline(constant, StandardScaler()), INTERPRETED, strict=True).fit(ARRAY)
