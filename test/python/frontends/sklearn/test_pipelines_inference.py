"""What is compiled of fitted estimators says what scikit-learn says, and refuses what it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tilework as tw
from tilework import pipelines
from tilework.frontends.sklearn.importer import import_method
from tilework.interpreters.graph import run_function
from tilework.runtime.pipelines.folding import BLOCK

NUMBERS, WORDS = ["age", "pay", "size"], ["town", "job"]


def frame(rows: int, seed: int = 0, *, complete: bool = False) -> pd.DataFrame:
    """Three columns of numbers, some missing in the first, and two of words, some missing in the second."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({name: rng.standard_normal(rows) * 10 + 30 for name in NUMBERS})
    made["town"] = rng.choice(["Ulm", "Bonn", "Köln"], rows)
    made["job"] = rng.choice(["cook", "smith"] if complete else ["cook", "smith", None], rows)
    if not complete:
        made.loc[rng.random(rows) < 0.2, "age"] = np.nan
        made.loc[0, "age"] = 31.0
    return made


def labels(rows: int, classes: int, seed: int = 1) -> np.ndarray:
    return np.array(["no", "yes", "maybe"])[np.random.default_rng(seed).integers(0, classes, rows)]


def interpreted(estimator: Any, rows: Any, method: str) -> Any:
    """A method as its program says it, run by the interpreter: no time is spent on code."""
    program = import_method(estimator, rows[:5], method)
    tables = [
        run_function(program.module, "main", [_table(program, arrays)], program.parameters)[0]
        for arrays in program.interface.blocks(program.interface.checked(rows))
    ]
    return program.interface.output.of(np.concatenate(tables))


def _table(program: Any, arrays: list[Any]) -> dict[str, Any]:
    names = program.module.body.block.first_op.body.block.args[0].type.columns
    lying = [array[:, i] for array in arrays for i in range(array.shape[1])]
    by_kind = sorted(names, key=lambda name: names[name].name == "bag.dict")  # numbers of one type, then codes
    columns = dict(zip(by_kind, lying, strict=True))
    return {name: columns[name] for name in names}


imputed = make_pipeline(SimpleImputer(), StandardScaler())
SPLIT: Callable[[], Any] = lambda: make_column_transformer(  # noqa: E731
    (imputed, NUMBERS), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), WORDS)
)
TRANSFORMERS = {
    "standard": StandardScaler(),
    "mean alone": StandardScaler(with_std=False),
    "scale alone": StandardScaler(with_mean=False),
    "minmax": MinMaxScaler((-1, 2)),
    "clipped": MinMaxScaler(clip=True),
    "maxabs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "norms": make_pipeline(SimpleImputer(), Normalizer()),
    "mean imputer": SimpleImputer(),
    "median imputer": SimpleImputer(strategy="median"),
    "indicators": SimpleImputer(add_indicator=True),
    "zeros imputed": make_pipeline(SimpleImputer(), FunctionTransformer(np.floor), SimpleImputer(missing_values=30)),
    "weights": FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())], transformer_weights={"b": 3}),
    "constant imputer": SimpleImputer(strategy="constant", fill_value=7),
    "pca": make_pipeline(SimpleImputer(), PCA(2)),
    "whitened": make_pipeline(SimpleImputer(), PCA(2, whiten=True)),
    "logarithms": make_pipeline(SimpleImputer(), FunctionTransformer(np.abs), FunctionTransformer(np.log1p)),
    "polynomial": make_pipeline(SimpleImputer(), PolynomialFeatures(3)),
    "interactions": make_pipeline(SimpleImputer(), PolynomialFeatures(3, interaction_only=True, include_bias=False)),
    "cubes alone": make_pipeline(SimpleImputer(), PolynomialFeatures((3, 3))),
    "bins": make_pipeline(SimpleImputer(), KBinsDiscretizer(4, encode="ordinal", quantile_method="linear")),
    "wide bins": make_pipeline(SimpleImputer(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")),
    "distances": make_pipeline(SimpleImputer(), KMeans(3, n_init=1, random_state=0)),
    "union": FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler()), ("c", "passthrough")]),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_of_numbers(name: str):
    integers = frame(60, complete=True)[NUMBERS].astype(int)
    for rows in (
        frame(60)[NUMBERS],
        frame(60)[NUMBERS].to_numpy(),
        *([] if name == "constant imputer" else [integers]),
    ):
        fitted = TRANSFORMERS[name].fit(rows)
        expected, found = fitted.transform(rows), interpreted(fitted, rows, "transform")
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["standard", "minmax", "clipped", "maxabs", "mean imputer", "union", "polynomial", "bins", "wide bins"]
)
def test_single_precision_stays_so_to_the_last_bit(name: str):
    """What trees compare must not differ: two roundings, in the order in which scikit-learn rounds."""
    rows = frame(200)[NUMBERS].to_numpy(np.float32)
    fitted = TRANSFORMERS[name].fit(rows)
    found = interpreted(fitted, rows, "transform")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, fitted.transform(rows))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(2, 40),
    st.integers(0, 1000),
    st.sampled_from(["first", "if_binary", None]),
    st.sampled_from([OneHotEncoder, OrdinalEncoder]),
)
def test_encoders(rows: int, seed: int, drop: str | None, kind: type):
    data = frame(rows, seed)[WORDS]
    options = {"drop": drop, "sparse_output": False} if kind is OneHotEncoder else {}
    fitted = kind(**options).fit(data)
    for given_ in (data, data.to_numpy(object)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the encoder was fitted with names
            expected = fitted.transform(given_)
        refitted = kind(**options).fit(given_)
        found = interpreted(refitted, given_, "transform")
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_encoders_of_numbers_and_of_values_that_are_not_known():
    data, others = np.array([[1, 7.5], [2, np.nan], [1, 2.5]]), np.array([[3, 2.5], [1, 9.0], [2, np.nan]])
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(data)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7, encoded_missing_value=-1).fit(data)
    for fitted in (one_hot, ordinal):
        np.testing.assert_array_equal(interpreted(fitted, others, "transform"), fitted.transform(others))


def test_none_and_nan_are_two_values():
    data = np.array([["a"], [None], [np.nan], ["b"], [None]], object)
    fitted = OneHotEncoder(sparse_output=False).fit(data)
    np.testing.assert_array_equal(interpreted(fitted, data, "transform"), fitted.transform(data))


def test_words_that_are_missing_are_filled_in():
    data = frame(50)[WORDS]
    data["job"] = data["job"].astype(object).where(data["job"].notna(), np.nan)
    for strategy in ("most_frequent", "constant"):
        fitted = make_pipeline(SimpleImputer(strategy=strategy), OneHotEncoder(sparse_output=False)).fit(data)
        np.testing.assert_array_equal(interpreted(fitted, data, "transform"), fitted.transform(data))


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(), Ridge(fit_intercept=False), Lasso(0.1), ElasticNet(0.1)], ids=str
)
def test_regressions(model: Any):
    data = frame(80)
    target = data["pay"].to_numpy() * 2 + np.arange(80)
    fitted = make_pipeline(SPLIT(), model).fit(data, target)
    np.testing.assert_allclose(interpreted(fitted, data, "predict"), fitted.predict(data), rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression(classes: int):
    data = frame(120)
    fitted = make_pipeline(SPLIT(), LogisticRegression()).fit(data, labels(120, classes))
    for method in ("predict_proba", "decision_function"):
        expected, found = getattr(fitted, method)(data), interpreted(fitted, data, method)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(interpreted(fitted, data, "predict"), fitted.predict(data))


def test_nearest_centres():
    rows = frame(3000, complete=True)[NUMBERS].to_numpy()
    fitted = KMeans(5, n_init=1, random_state=0).fit(rows)
    found = interpreted(fitted, rows, "predict")
    assert found.dtype == fitted.predict(rows).dtype
    np.testing.assert_array_equal(found, fitted.predict(rows))


def test_a_column_without_any_value_is_dropped():
    rows = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 5.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = SimpleImputer().fit(rows)
        expected = fitted.transform(rows)
        np.testing.assert_array_equal(interpreted(fitted, rows, "transform"), expected)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), Ridge(), PCA(2), KMeans(2, n_init=1, random_state=0)],
    ids=lambda m: type(m).__name__,
)
def test_models_that_are_fitted_in_single_precision(model: Any):
    rows = frame(80, complete=True)[NUMBERS].to_numpy(np.float32)
    target = rows[:, 0] > 30 if isinstance(model, LogisticRegression) else rows[:, 0]
    fitted = model.fit(rows, target)
    method = next(m for m in ("predict_proba", "transform", "predict") if hasattr(fitted, m))
    expected, found = getattr(fitted, method)(rows), interpreted(fitted, rows, method)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)
    other = rows.astype(np.float64)
    if not isinstance(model, KMeans):
        with pytest.raises(tw.UsageError, match="fitted to float32 for rows of another type"):
            pipelines.compile(fitted, other)


TREES: list[tuple[Any, int]] = [
    (DecisionTreeRegressor(max_depth=4), 0),
    (RandomForestRegressor(6), 0),
    (ExtraTreesRegressor(3, max_depth=3), 0),
    (GradientBoostingRegressor(n_estimators=8), 0),
    (DecisionTreeClassifier(), 3),
    (RandomForestClassifier(5), 2),
    (ExtraTreesClassifier(4, max_depth=5), 3),
    (GradientBoostingClassifier(n_estimators=5), 2),
    (GradientBoostingClassifier(n_estimators=5), 3),
]


@pytest.mark.parametrize(("model", "classes"), TREES, ids=str)
def test_trees(model: Any, classes: int):
    """Every row comes to the leaf that it comes to in scikit-learn, also where it lies on a threshold."""
    data = frame(150)[NUMBERS].round(0)
    missing = not isinstance(model, GradientBoostingRegressor | GradientBoostingClassifier)
    rows = (data if missing else data.fillna(0)).to_numpy()
    target = labels(150, classes) if classes else rows[:, 1] * np.nan_to_num(rows[:, 0])
    fitted = model.fit(rows, target)
    expected, found = fitted.predict(rows), interpreted(fitted, rows, "predict")
    if classes:
        np.testing.assert_array_equal(found, expected)
        found, expected = interpreted(fitted, rows, "predict_proba"), fitted.predict_proba(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


# -- compiled


@pytest.fixture(scope="module")
def fitted() -> Any:
    return make_pipeline(SPLIT(), LogisticRegression()).fit(frame(200), labels(200, 2))


@pytest.fixture(scope="module")
def compiled(fitted: Any) -> pipelines.CompiledPipeline:
    return pipelines.compile(fitted, frame(5), ["predict_proba"])


def test_compiled_in_blocks_of_rows(fitted: Any, compiled: pipelines.CompiledPipeline):
    for rows in (1, 7, BLOCK, BLOCK + 1, 2 * BLOCK + 5):
        data = frame(rows, rows)
        np.testing.assert_allclose(compiled.predict_proba(data), fitted.predict_proba(data), rtol=1e-12, atol=1e-14)


def test_frames_of_other_libraries_and_with_more_columns(fitted: Any, compiled: pipelines.CompiledPipeline):
    data = frame(30)
    expected = fitted.predict_proba(data)
    polars = pl.from_pandas(data)
    for other in (polars, polars.to_arrow(), data[[*WORDS, *NUMBERS]], data.assign(more=1)):
        np.testing.assert_allclose(compiled.predict_proba(other), expected, rtol=1e-12, atol=1e-14)


def test_a_compiled_forest():
    rows = frame(300, complete=True)[NUMBERS].to_numpy()
    fitted = RandomForestClassifier(7, max_depth=6).fit(rows, labels(300, 3))
    compiled_forest = pipelines.compile(fitted, rows[:5], ["predict", "predict_proba"])
    np.testing.assert_array_equal(compiled_forest.predict(rows), fitted.predict(rows))
    np.testing.assert_allclose(compiled_forest.predict_proba(rows), fitted.predict_proba(rows), rtol=1e-14)


def test_saved_and_loaded(tmp_path: Path, compiled: pipelines.CompiledPipeline):
    data = frame(30)
    compiled.save(tmp_path / "m.tw")
    loaded = pipelines.load(tmp_path / "m.tw")
    assert loaded.methods == ("predict_proba",)
    np.testing.assert_array_equal(loaded.predict_proba(data), compiled.predict_proba(data))
    with pytest.raises(AttributeError, match="has no predict; it has predict_proba"):
        loaded.predict(data)
    (tmp_path / "bad.tw").write_bytes(b"nothing")
    with pytest.raises(tw.TileworkError, match="it is no compiled pipeline"):
        pipelines.load(tmp_path / "bad.tw")
    with pytest.raises(tw.TileworkError, match=r"cannot read .*gone.tw: No such file or directory"):
        pipelines.load(tmp_path / "gone.tw")
    tw.compile("examples/digits/digits.onnx").save(tmp_path / "module.tw")
    with pytest.raises(tw.TileworkError, match=r"it is no compiled pipeline; tilework.load reads modules"):
        pipelines.load(tmp_path / "module.tw")


# -- refused


def with_value(row: int, name: str, value: Any) -> pd.DataFrame:
    data = frame(20)
    data.loc[row, name] = value
    return data


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (with_value(3, "pay", np.inf), "infinity"),
        (frame(20).drop(columns="pay"), "columns are missing: {'pay'}"),
        (frame(20)[:0], "0 sample"),
        (frame(20).to_numpy(object), "by their names"),
    ],
    ids=["infinite", "column", "rows", "array"],
)
def test_rows_that_scikit_learn_refuses(fitted: Any, compiled: pipelines.CompiledPipeline, rows: Any, message: str):
    with pytest.raises(ValueError):
        fitted.predict_proba(rows)
    with pytest.raises(ValueError, match=message):
        compiled.predict_proba(rows)


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (PCA(2), np.array([[1.0, np.nan, 2.0]])),
        (StandardScaler(), np.zeros((3, 2))),
        (StandardScaler(), np.zeros(3)),
        (StandardScaler(), np.zeros((3, 3), complex)),
        (OneHotEncoder(sparse_output=False), np.full((3, 3), 99.0)),
    ],
    ids=["missing", "columns", "flat", "complex", "unknown"],
)
def test_arrays_that_scikit_learn_refuses(estimator: Any, rows: Any):
    example = np.arange(12.0).reshape(4, 3)
    fitted = estimator.fit(example)
    interface = import_method(fitted, example, "transform").interface
    with pytest.raises(ValueError):
        fitted.transform(rows)
    with pytest.raises(ValueError):
        list(interface.blocks(interface.checked(rows)))


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (QuantileTransformer(n_quantiles=5), "QuantileTransformer is not among the estimators that are known"),
        (
            make_pipeline(StandardScaler(), FunctionTransformer(np.spacing)),
            "the function spacing of numpy is not known",
        ),
        (FunctionTransformer(np.sqrt), "it makes a DataFrame, no array"),
        (SimpleImputer(strategy="constant", fill_value=0), "it makes integers of integers of 64 bits"),
    ],
    ids=str,
)
def test_what_is_not_known_is_named(estimator: Any, why: str):
    data = frame(20, complete=True)[NUMBERS].astype(int)
    fitted = estimator.fit(data)
    with pytest.raises(tw.UsageError, match=f"cannot compile transform of .*: {why}"):
        pipelines.compile(fitted, data[:5])


def test_example_rows_with_columns_in_another_order():
    data = frame(60, complete=True)
    others = data[data.columns[::-1]].assign(more=1.0)
    fitted = make_column_transformer((StandardScaler(), NUMBERS)).fit(data)
    for compiled in (pipelines.compile(fitted, data[:5]), pipelines.compile(fitted, others[:5])):
        np.testing.assert_array_equal(compiled.transform(data), fitted.transform(data))
        np.testing.assert_array_equal(compiled.transform(others), fitted.transform(data))


@pytest.mark.parametrize(
    ("estimator", "rows", "why"),
    [
        (
            StandardScaler().fit(frame(20)[NUMBERS]),
            frame(5)[NUMBERS[::-1]],
            "not those that it is fitted to, in their order",
        ),
        (StandardScaler().fit(frame(20)[NUMBERS]), frame(5)[NUMBERS[:1]], "columns that the rows do not have"),
        (StandardScaler().fit(np.eye(3)), np.eye(4), "the rows have 4 columns, and it is fitted to 3"),
        (StandardScaler(), np.eye(4), "cannot compile transform of StandardScaler: it is not fitted"),
        (StandardScaler, np.eye(4), "a fitted estimator, not the class StandardScaler"),
    ],
    ids=["order", "missing", "array", "not fitted", "class"],
)
def test_example_rows_that_an_estimator_is_not_fitted_to(estimator: Any, rows: Any, why: str):
    with pytest.raises(tw.UsageError, match=why):
        pipelines.compile(estimator, rows)


@pytest.mark.parametrize(
    ("column", "why"),
    [(1j, "type complex128"), (pd.Timestamp("2020-01-01"), "type datetime64"), (pd.Timedelta(1), "type timedelta64")],
    ids=["complex", "date", "time"],
)
def test_columns_that_numpy_would_make_numbers_of(column: Any, why: str):
    data = frame(20, complete=True)[NUMBERS]
    compiled = pipelines.compile(StandardScaler().fit(data), data[:5])
    with pytest.raises(ValueError, match=why):
        compiled.transform(data.assign(**{NUMBERS[0]: column}))
    twice = data.copy()
    twice.columns = [NUMBERS[0]] * len(NUMBERS)
    with pytest.raises(ValueError):
        compiled.transform(twice)
    with pytest.raises(ValueError, match="a sparse matrix is given"):
        compiled.transform(csr_matrix(data.to_numpy()))
