"""Transformers that learn in one pass are what scikit-learn's are: results, attributes, names and refusals."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interpreted_tables import INTERPRETED
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

import tilework as tw
from tilework import pipelines
from tilework.frontends.sklearn.transformer import OptimizedTransformer
from tilework.runtime.pipelines.folding import BLOCK

NUMBERS, WORDS = ["a", "b", "c"], ["u", "v"]
REFUSED = (ValueError, TypeError, ZeroDivisionError)

LOGARITHM = FunctionTransformer(lambda x: np.log1p(np.abs(x)) / 2, feature_names_out="one-to-one")
NUMERIC: dict[str, Callable[[], Any]] = {
    "standard": StandardScaler,
    "no mean": lambda: StandardScaler(with_mean=False),
    "nothing": lambda: StandardScaler(with_mean=False, with_std=False),
    "minmax": MinMaxScaler,
    "range": lambda: MinMaxScaler((-2, 3), clip=True),
    "maxabs": MaxAbsScaler,
    "mean": lambda: make_pipeline(SimpleImputer(), MinMaxScaler()),
    "constant": lambda: make_pipeline(SimpleImputer(strategy="constant", fill_value=2.5), StandardScaler()),
    "frequent": lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), MaxAbsScaler()),
    "chain": lambda: make_pipeline(SimpleImputer(), StandardScaler(), MinMaxScaler((1, 4)), StandardScaler()),
    "polynomial": lambda: make_pipeline(SimpleImputer(), StandardScaler(), PolynomialFeatures(2)),
    "bins": lambda: make_pipeline(SimpleImputer(), KBinsDiscretizer(3, strategy="uniform", encode="ordinal")),
    "wide bins": lambda: make_pipeline(SimpleImputer(), KBinsDiscretizer(3, strategy="uniform", encode="onehot-dense")),
    "union": lambda: FeatureUnion([("s", StandardScaler()), ("m", MinMaxScaler())]),
    "indicator": lambda: make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
    "mark": lambda: make_pipeline(SimpleImputer(missing_values=3), MinMaxScaler()),
    "frequent mark": lambda: SimpleImputer(missing_values=0.3, strategy="most_frequent", add_indicator=True),
    "function": lambda: make_pipeline(SimpleImputer(), LOGARITHM, StandardScaler()),
}
WORDY: dict[str, Callable[[], Any]] = {
    "one hot": lambda: OneHotEncoder(sparse_output=False),
    "drop": lambda: OneHotEncoder(sparse_output=False, drop="first"),
    "binary": lambda: OneHotEncoder(sparse_output=False, drop="if_binary", dtype=np.float32),
    "rare": lambda: OneHotEncoder(sparse_output=False, min_frequency=3, handle_unknown="infrequent_if_exist"),
    "most": lambda: OneHotEncoder(sparse_output=False, max_categories=2, handle_unknown="ignore"),
    "ordinal": OrdinalEncoder,
    "ordinal rare": lambda: OrdinalEncoder(
        min_frequency=0.2, handle_unknown="use_encoded_value", unknown_value=-3, encoded_missing_value=-1
    ),
    "frequent": lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)),
    "sparse": OneHotEncoder,
    "sparse drop": lambda: OneHotEncoder(drop="first", dtype=np.int8, min_frequency=2),
    "warn": lambda: OneHotEncoder(handle_unknown="warn", sparse_output=False, max_categories=3),
    "integers": lambda: OrdinalEncoder(dtype=np.int64, encoded_missing_value=-1),
    "filled": lambda: make_pipeline(SimpleImputer(strategy="constant"), OrdinalEncoder()),
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Frames of 1 to 300 rows: missing values, constant columns, one category, numbers of several types, words."""
    rows, seed = draw(st.integers(1, 300)), draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for name in NUMBERS:
        values = rng.standard_normal(rows).round(1) * 3 + draw(st.sampled_from([0, 7, -1e5]))
        kind = draw(st.sampled_from(["float64", "float64", "float32", "int64", "bool", "constant", "missing"]))
        if kind == "missing":
            values[rng.random(rows) < 0.3] = np.nan
        made[name] = np.full(rows, 5.0) if kind in ("constant", "bool") and rows < 2 else values
        if kind == "constant":
            made[name] = np.full(rows, float(values[0]))
        elif kind in ("float32", "int64", "bool"):
            made[name] = values.astype(kind)
    for name in WORDS:
        count = draw(st.integers(1, 6))
        missing = draw(st.sampled_from([[], [None], [np.nan]]))
        words: Any = np.array([*"abcdef"[:count], *missing], object)
        kind = draw(st.sampled_from([object, "str", "category"]))
        made[name] = pd.Series(words[rng.integers(0, len(words), rows)], dtype=object).astype(kind)
    return pd.DataFrame(made)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the type of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except REFUSED as error:
            return type(error)


def parts_of(estimator: Any) -> Iterator[Any]:
    """The fitted estimators inside of one that are no compositions."""
    if isinstance(estimator, Pipeline):
        for _, inner in estimator.steps:
            yield from parts_of(inner)
    elif isinstance(estimator, FeatureUnion):
        for _, inner in estimator.transformer_list:
            yield from parts_of(inner)
    elif isinstance(estimator, ColumnTransformer):
        for _, inner, _ in estimator.transformers_:
            yield from parts_of(inner)
    elif isinstance(estimator, BaseEstimator):
        yield estimator


def assert_same_attributes(found: Any, expected: Any, close: float = 1e-9) -> None:
    for own, theirs in zip(parts_of(found), parts_of(expected), strict=True):
        for name, value in vars(theirs).items():
            if not name.endswith("_") or name.startswith("_"):
                continue
            mine = getattr(own, name)
            if name in ("categories_", "infrequent_categories_", "drop_idx_") and value is not None:
                for a, b in zip(mine, value, strict=True):
                    assert repr(a) == repr(b), name
                continue
            assert np.asarray(mine).dtype == np.asarray(value).dtype, name
            if np.asarray(value).dtype == object:
                assert repr(mine) == repr(value), name
            elif np.asarray(value).dtype.kind == "f":
                np.testing.assert_allclose(mine, value, rtol=close, atol=close, err_msg=name)
            else:
                np.testing.assert_array_equal(mine, value, err_msg=name)


def check(estimator: Any, rows: Any, *, close: float = 1e-9) -> None:
    """What is optimized gives, has and refuses what scikit-learn does."""
    expected_fit = clone(estimator)
    expected = outcome(lambda: expected_fit.fit_transform(rows))
    optimized = OptimizedTransformer(estimator, INTERPRETED)
    found = outcome(lambda: optimized.fit_transform(rows))
    if isinstance(expected, type):
        assert found is expected
        return
    assert not isinstance(found, type), found
    again = optimized.transform(rows)
    if issparse(expected):
        assert (type(found), found.nnz) == (type(expected), expected.nnz)
        found, expected, again = found.toarray(), expected.toarray(), again.toarray()
    assert (type(found), found.shape, found.dtype) == (type(expected), expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=close, atol=close)
    assert_same_attributes(optimized.fitted, expected_fit, close)
    np.testing.assert_array_equal(optimized.get_feature_names_out(), expected_fit.get_feature_names_out())
    np.testing.assert_array_equal(again, found)


def tolerance(rows: pd.DataFrame) -> float:
    """How far results may differ: numbers near -1e5 have two digits behind the point in single precision."""
    return 2e-2 if any(rows[name].dtype == np.float32 for name in NUMBERS) else 1e-9


DRAWN = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("name", NUMERIC)
@DRAWN
@given(frames())
def test_steps_on_numbers(name: str, frame: pd.DataFrame):
    rows = frame[NUMBERS]
    check(NUMERIC[name](), rows, close=tolerance(rows))


@pytest.mark.parametrize("types", [["float32"] * 3, ["float32", "float64", "float32"], ["float32", "int8", "float32"]])
@pytest.mark.parametrize("values", [[[0.3, -0.3, 1.8]], [[0.3, 1.8, -1.5], [-0.3, 0.3, 1.2]]])
def test_a_mark_is_a_number_of_the_type_of_all_columns(types: list[str], values: list[list[float]]):
    """0.3 in single precision is 0.3 where all columns are so, and another number beside one of double precision."""
    rows = pd.DataFrame(values, columns=NUMBERS).astype(dict(zip(NUMBERS, types, strict=True)))
    check(NUMERIC["frequent mark"](), rows, close=1e-6)


@pytest.mark.parametrize("name", WORDY)
@DRAWN
@given(frames())
def test_steps_on_words(name: str, frame: pd.DataFrame):
    check(WORDY[name](), frame[WORDS])


@DRAWN
@given(frames(), st.sampled_from(["mean", "chain"]), st.sampled_from(["sparse", "frequent", "sparse drop"]))
def test_columns_of_both(frame: pd.DataFrame, numeric: str, wordy: str):
    columns = make_column_transformer((NUMERIC[numeric](), NUMBERS), (WORDY[wordy](), WORDS))
    check(columns, frame, close=tolerance(frame))
    check(make_column_transformer((WORDY[wordy](), ["u"]), remainder="drop"), frame)


@pytest.mark.parametrize(
    "options", [{}, {"n_components": 2, "whiten": True}, {"svd_solver": "full"}, {"n_components": 0.7}], ids=str
)
def test_components(options: dict[str, Any]):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 4)) * [1, 5, 0.1, 2] + [1e3, 0, 0, 7]
    for estimator in (PCA(**options), make_pipeline(StandardScaler(), PCA(**options))):
        check(estimator, rows)
    for count in (60, 30):
        found, expected = OptimizedTransformer(PCA(**options), INTERPRETED).fit(rows[:count]), PCA(**options)
        expected.fit(rows[:count])
        assert type(found.n_components_) is type(expected.n_components_)
        assert found._fit_svd_solver == expected._fit_svd_solver


def large(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.standard_normal(rows) + 1e4 for name in NUMBERS})
    data.loc[rng.random(rows) < 0.1, "a"] = np.nan
    data["u"] = rng.choice(["x", "y", None], rows)
    data["v"] = rng.choice(["p", "q", "r"], rows)
    return data


def test_compiled_and_fitted_twice():
    """The code of the first fit serves the second; blocks are joined; new rows may hold values that are not known."""
    columns = make_column_transformer((NUMERIC["chain"](), NUMBERS), (WORDY["most"](), WORDS))
    optimized = pipelines.optimize(columns, strict=True)
    for rows in (BLOCK + 3, 2 * BLOCK):
        data = large(rows)
        expected = clone(columns).fit(data)
        np.testing.assert_allclose(optimized.fit_transform(data), expected.transform(data), rtol=1e-9, atol=1e-9)
        assert_same_attributes(optimized.fitted, expected)
        others = data.assign(v="new", more=1)[["more", *reversed(data.columns)]]
        np.testing.assert_allclose(optimized.transform(others), expected.transform(others), rtol=1e-9, atol=1e-9)
    assert optimized.explain() == "all steps learn in one pass over the rows"
    again = pickle.loads(pickle.dumps(optimized.fitted))
    np.testing.assert_allclose(again.transform(data), optimized.transform(data), rtol=1e-12, atol=1e-12)


def test_a_predictor_behind_transformers_is_fitted_by_scikit_learn():
    data = large(200)
    target = data["b"].to_numpy() > 1e4
    pipeline = make_pipeline(
        make_column_transformer((NUMERIC["mean"](), NUMBERS), (WORDY["one hot"](), WORDS)), LogisticRegression()
    )
    optimized = OptimizedTransformer(pipeline, INTERPRETED).fit(data, target)
    expected = clone(pipeline).fit(data, target)
    assert "logisticregression is fitted by scikit-learn" in optimized.explain()
    np.testing.assert_allclose(optimized.predict_proba(data), expected.predict_proba(data), rtol=1e-7)
    np.testing.assert_array_equal(optimized.classes_, expected.classes_)


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (make_pipeline(StandardScaler(), QuantileTransformer(n_quantiles=5)), "QuantileTransformer is not among"),
        (KBinsDiscretizer(3, encode="ordinal"), "KBinsDiscretizer\\(strategy='quantile'\\)"),
        (PCA("mle"), "PCA\\(n_components='mle'\\)"),
        (PCA(svd_solver="randomized"), "PCA\\(svd_solver='randomized'\\)"),
        (SimpleImputer(strategy="median"), "SimpleImputer\\(strategy='median'\\) of numbers is not learned"),
        (Pipeline([("a", StandardScaler())], memory="nowhere"), "the pipeline is given a memory"),
    ],
    ids=["step", "quantiles", "share", "random", "strategy", "memory"],
)
def test_what_stays_scikit_learns(estimator: Any, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    monkeypatch.chdir(tmp_path)
    rows = large(30)[NUMBERS].fillna(0)
    with pytest.raises(tw.UsageError, match=f"strict=True: .*{why}"):
        pipelines.optimize(estimator, strict=True).fit(rows)
    optimized = pipelines.optimize(estimator)
    expected = clone(estimator).fit_transform(rows)
    np.testing.assert_allclose(optimized.fit_transform(rows), expected, rtol=1e-7)
    assert "stays scikit-learn's: " in optimized.explain()
    np.testing.assert_allclose(optimized.transform(rows), expected, rtol=1e-7)


def known_beside_unknown() -> ColumnTransformer:
    """There are three branches: one is not known, and one has such a step in its middle."""
    ranked = make_pipeline(SimpleImputer(), QuantileTransformer(n_quantiles=5), MinMaxScaler())
    parts = [("words", OneHotEncoder(), WORDS), ("ranks", ranked, ["a"]), ("median", RobustScaler(), ["b"])]
    return ColumnTransformer([*parts, ("scaled", StandardScaler(), ["b", "c"])], transformer_weights={"scaled": 2})


@pytest.mark.parametrize("remainder", ["drop", "passthrough", RobustScaler(), StandardScaler()], ids=str)
def test_branches_beside_barriers_learn_together(remainder: Any):
    columns, rows = known_beside_unknown().set_params(remainder=remainder), large(60).assign(d=range(60))
    check(columns, rows)
    optimized = OptimizedTransformer(columns, INTERPRETED).fit(rows)
    together = "words, scaled, remainder" if isinstance(remainder, StandardScaler) else "words, scaled"
    first, *_ = lines = optimized.explain().split("\n")
    assert first == f"learn in one pass over the rows: {together}"
    assert "stays scikit-learn's: ranks.quantiletransformer: QuantileTransformer is not among" in optimized.explain()
    assert lines[1:3] == [f"learn in one pass over the rows: ranks.{own}" for own in ("simpleimputer", "minmaxscaler")]
    assert pickle.loads(pickle.dumps(optimized.fitted)).transform(rows).shape == optimized.transform(rows).shape


def test_every_barrier_is_listed():
    why = "ranks.quantiletransformer: QuantileTransformer is not .*; median: the fit of RobustScaler is no sum"
    with pytest.raises(tw.UsageError, match=f"strict=True: {why}"):
        OptimizedTransformer(known_beside_unknown(), INTERPRETED, strict=True).fit(large(30))


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (Ridge(), "learn in one pass over the rows: pca, last"),
        (LogisticRegression(), "learn in one pass over the rows: pca\nstays scikit-learn's: ranks: Q"),
        (Ridge(positive=True), "stays scikit-learn's: last: Ridge(positive=True)"),
    ],
    ids=["known", "unknown", "parameter"],
)
def test_steps_around_a_barrier_learn_here(last: Any, said: str):
    rows = large(60)[NUMBERS]
    target = rows["b"].to_numpy() > 1e4
    steps = [("fill", SimpleImputer()), ("scale", StandardScaler()), ("ranks", QuantileTransformer(n_quantiles=9))]
    pipeline = Pipeline([*steps, ("pca", PCA(2)), ("last", last)])
    optimized, expected = OptimizedTransformer(pipeline, INTERPRETED).fit(rows, target), clone(pipeline)
    np.testing.assert_allclose(optimized.predict(rows), expected.fit(rows, target).predict(rows), rtol=1e-9)
    assert optimized.explain().startswith("learn in one pass over the rows: fill, scale\n")
    assert said in optimized.explain()
    check(pipeline[:-1], rows)


def test_barriers_that_need_the_target_or_a_vector():
    rows = large(80).assign(t=["red blue", "blue"] * 40)
    target = rows["b"].to_numpy()
    parts = [("mean", TargetEncoder(cv=KFold(3)), ["v"]), ("text", CountVectorizer(), "t")]
    columns = ColumnTransformer([*parts, ("scaled", StandardScaler(), ["c"])])
    found, expected = OptimizedTransformer(columns, INTERPRETED), clone(columns)
    np.testing.assert_allclose(found.fit_transform(rows, target), expected.fit_transform(rows, target), rtol=1e-9)
    np.testing.assert_allclose(found.transform(rows), expected.transform(rows), rtol=1e-9)
    assert "learn in one pass over the rows: scaled\n" in found.explain()


def test_steps_behind_what_is_not_affine_learn_in_a_pass_of_their_own():
    products = make_pipeline(StandardScaler(), PolynomialFeatures(2), MinMaxScaler(), Ridge())
    rows = large(60)[NUMBERS].fillna(0)
    optimized = OptimizedTransformer(products, INTERPRETED, strict=True).fit(rows, rows["b"])
    expected = clone(products).fit(rows, rows["b"])
    np.testing.assert_allclose(optimized.predict(rows), expected.predict(rows), rtol=1e-9)
    first, second = optimized.explain().split("\n")
    assert first == "learn in one pass over the rows: standardscaler, polynomialfeatures"
    assert second == "learn in one pass over the rows: minmaxscaler, ridge"


def test_a_union_of_which_one_is_not_known():
    rows = large(50)[NUMBERS].fillna(0)
    union = FeatureUnion([("scaled", StandardScaler()), ("ranks", QuantileTransformer(n_quantiles=5))])
    check(union, rows)
    assert OptimizedTransformer(union, INTERPRETED).fit(rows).explain().startswith("learn in one pass over the rows: s")


def test_features_that_are_a_frame_stay_scikit_learns_which_is_told():
    rows = large(40)[NUMBERS]
    found, expected = OptimizedTransformer(FunctionTransformer(np.sqrt), INTERPRETED), np.sqrt(rows)
    pd.testing.assert_frame_equal(found.fit_transform(rows), expected)
    pd.testing.assert_frame_equal(found.transform(rows), expected)
    assert found.explain().count("; transform stays scikit-learn's: it makes a DataFrame, no array") == 1
    with pytest.raises(tw.UsageError, match="strict=True: it makes a DataFrame"):
        OptimizedTransformer(FunctionTransformer(np.sqrt), INTERPRETED, strict=True).fit_transform(rows)


@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.5, 0.65, 1.0])
def test_how_full_rows_are_decides_whether_they_are_sparse(share: float, drop: str | None):
    """Among 10 rows, of which the first few are a sample, values stand otherwise than among all."""
    words = np.repeat(["a", "b", "c", "d"], [900, 80, 15, 5])
    rows = pd.DataFrame({"u": np.random.default_rng(0).permutation(words), "x": np.arange(1000.0)})
    encoder = OneHotEncoder(min_frequency=10, drop=drop)
    columns = ColumnTransformer([("u", encoder, ["u"]), ("x", StandardScaler(), ["x"])], sparse_threshold=share)
    check(make_pipeline(columns), rows)
    found = OptimizedTransformer(columns, INTERPRETED).fit(rows)
    assert (found.output_indices_, found.sparse_output_) == [
        (each.output_indices_, each.sparse_output_) for each in [clone(columns).fit(rows)]
    ][0]


def test_unknown_values_are_warned_of():
    rows, others = large(40)[WORDS], large(40)[WORDS].assign(v="new")
    for encoder in (OneHotEncoder(handle_unknown="warn"), OneHotEncoder(handle_unknown="ignore", drop="first")):
        found, expected = OptimizedTransformer(encoder, INTERPRETED, strict=True).fit(rows), clone(encoder).fit(rows)
        with pytest.warns(UserWarning) as told:
            made = found.transform(others)
        with pytest.warns(UserWarning) as own:
            np.testing.assert_array_equal(made.toarray(), expected.transform(others).toarray())
        assert [str(each.message) for each in told] == [str(each.message) for each in own]


def with_value(value: Any) -> pd.DataFrame:
    data = large(40)[NUMBERS]
    data.loc[7, "b"] = value
    return data


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (StandardScaler(), with_value(np.inf)),
        (MinMaxScaler(), np.zeros((0, 3))),
        (StandardScaler(), np.zeros((3, 3), complex)),
        (StandardScaler(), np.zeros(3)),
        (OneHotEncoder(sparse_output=False), pd.DataFrame({"u": ["a", 1, "b"]}, dtype=object)),
        (make_column_transformer((StandardScaler(), ["z"])), large(5)),
    ],
    ids=["infinite", "rows", "complex", "flat", "mixed", "column"],
)
def test_rows_that_scikit_learn_refuses(estimator: Any, rows: Any):
    check(estimator, rows)
    assert isinstance(outcome(lambda: clone(estimator).fit_transform(rows)), type)


def test_names_in_another_order():
    """A scaler refuses them, a column transformer finds its columns by their names."""
    data = large(20)[NUMBERS]
    others = data[["c", "a", "b"]]
    scaler = OptimizedTransformer(StandardScaler(), INTERPRETED).fit(data)
    with pytest.raises(ValueError, match="feature names should match"):
        scaler.transform(others)
    columns = make_column_transformer((StandardScaler(), NUMBERS))
    by_name = OptimizedTransformer(columns, INTERPRETED).fit(data)
    np.testing.assert_array_equal(by_name.transform(others), by_name.transform(data))


def test_what_is_not_fitted_does_not_transform():
    with pytest.raises(NotFittedError):
        pipelines.optimize(make_pipeline(SimpleImputer(), StandardScaler())).transform(np.eye(3))


def test_sparse_matrices_and_columns_without_any_value_are_scikit_learns():
    given = csr_matrix(np.eye(4))
    found = pipelines.optimize(make_pipeline(MaxAbsScaler()))
    np.testing.assert_array_equal(found.fit_transform(given).toarray(), np.eye(4))
    np.testing.assert_array_equal(found.transform(given).toarray(), np.eye(4))
    assert found.explain() == "stays scikit-learn's: the rows are a sparse matrix"
    rows = np.random.default_rng(0).standard_normal((40, 3))
    rows[:, 1] = np.nan
    found = pipelines.optimize(make_pipeline(SimpleImputer(), PCA(2))).fit(rows)
    assert "rows that are to be learned from have no value of x1" in found.explain()


def test_columns_that_were_not_there_at_fit_are_refused_by_scikit_learn():
    rows = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=["a", "b", "c"])
    found = pipelines.optimize(make_pipeline(SimpleImputer(), StandardScaler())).fit(rows)
    with pytest.raises(ValueError, match="unseen at fit time"):
        found.transform(rows.assign(d=1.0))
