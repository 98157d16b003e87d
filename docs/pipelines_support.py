"""The table of what is known of scikit-learn's estimators: each is tried, and its answer written down."""

from __future__ import annotations

import linecache
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import cluster, compose, decomposition, ensemble, impute, linear_model, pipeline, preprocessing, tree

from tilework.algebra.errors import UsageError
from tilework.frontends.sklearn.emitter import Unsupported
from tilework.frontends.sklearn.importer import import_method, methods_of
from tilework.frontends.sklearn.transformer import OptimizedTransformer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "python"))
from interpreted_tables import INTERPRETED  # noqa: E402  tests lie beside the documentation

MODULES = (cluster, compose, decomposition, ensemble, impute, linear_model, pipeline, preprocessing, tree)
NAMES = {name: getattr(module, name) for module in MODULES for name in module.__all__} | {"np": np}

NUMBERS = """
StandardScaler()
StandardScaler(with_mean=False)
StandardScaler(with_std=False)
MinMaxScaler()
MinMaxScaler((-1, 1), clip=True)
MaxAbsScaler()
MaxAbsScaler(clip=True)
RobustScaler()
RobustScaler(with_centering=False, quantile_range=(10.0, 90.0))
SimpleImputer()
SimpleImputer(strategy="most_frequent")
SimpleImputer(strategy="constant", fill_value=3.5)
SimpleImputer(strategy="median")
SimpleImputer(missing_values=-1)
SimpleImputer(missing_values=-1, strategy="most_frequent")
SimpleImputer(add_indicator=True)
Pipeline([("a", SimpleImputer(add_indicator=True)), ("b", StandardScaler())])
PolynomialFeatures()
PolynomialFeatures(3, interaction_only=True, include_bias=False)
PolynomialFeatures((2, 3))
KBinsDiscretizer(encode="ordinal", strategy="uniform")
KBinsDiscretizer(encode="onehot-dense", strategy="uniform")
KBinsDiscretizer(encode="onehot-dense", strategy="quantile", quantile_method="linear")
KBinsDiscretizer(encode="ordinal", strategy="kmeans")
KBinsDiscretizer(strategy="uniform")
FunctionTransformer()
FunctionTransformer(np.log1p)
Pipeline([("a", StandardScaler()), ("b", FunctionTransformer(np.cbrt))])
Pipeline([("a", StandardScaler()), ("b", FunctionTransformer(np.square)), ("c", FunctionTransformer(np.arctan))])
Pipeline([("a", StandardScaler()), ("b", FunctionTransformer(np.sign))])
Pipeline([("a", StandardScaler()), ("b", FunctionTransformer(lambda x: np.where(x > 1, np.exp(x), -x)))])
FunctionTransformer(np.spacing)
FunctionTransformer(lambda x: np.log1p(np.maximum(x, 0)) / 2)
FunctionTransformer(lambda x: x - x.mean())
Pipeline([("a", FunctionTransformer(lambda x: 2 * x + 1)), ("b", StandardScaler())])
PCA()
PCA(2, whiten=True)
PCA(0.9)
PCA("mle")
PCA(svd_solver="randomized")
KMeans(3, n_init=1, random_state=0)
Normalizer()
Normalizer("l1")
Normalizer("max")
QuantileTransformer(n_quantiles=10)
FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())], transformer_weights={"b": 2})
Pipeline([("a", MinMaxScaler()), ("b", StandardScaler()), ("c", PCA(2))])
LinearRegression()
LinearRegression(fit_intercept=False)
LinearRegression(positive=True)
Ridge()
Ridge(fit_intercept=False, solver="svd")
Ridge(solver="sag", random_state=0)
Ridge(positive=True)
Lasso(alpha=0.1)
Lasso(alpha=0.1, positive=True)
Lasso(alpha=0.1, selection="random", random_state=0)
ElasticNet(alpha=0.1, l1_ratio=0.3)
LogisticRegression()
RidgeClassifier()
DecisionTreeRegressor(max_depth=3, random_state=0)
DecisionTreeClassifier(max_depth=3, random_state=0)
RandomForestRegressor(3, random_state=0)
RandomForestClassifier(3, random_state=0)
ExtraTreesRegressor(3, random_state=0)
ExtraTreesClassifier(3, random_state=0)
GradientBoostingRegressor(n_estimators=3, random_state=0)
GradientBoostingClassifier(n_estimators=3, init="zero", random_state=0)
HistGradientBoostingRegressor(max_iter=3, random_state=0)
HistGradientBoostingRegressor(max_iter=3, random_state=0, categorical_features=[0])
HistGradientBoostingClassifier(max_iter=3, random_state=0)
"""
"""Estimators that are fitted to numbers, one a line."""

WORDS = """
OneHotEncoder(sparse_output=False)
OneHotEncoder(sparse_output=False, handle_unknown="ignore", dtype=np.float32)
OneHotEncoder(sparse_output=False, handle_unknown="warn")
OneHotEncoder(sparse_output=False, dtype=int)
OneHotEncoder(sparse_output=False, drop="first")
OneHotEncoder(sparse_output=False, drop="if_binary")
OneHotEncoder(sparse_output=False, categories=[["a", "b", "c"], ["x", "y"]])
OneHotEncoder(sparse_output=False, min_frequency=15, handle_unknown="infrequent_if_exist")
OneHotEncoder(sparse_output=False, max_categories=2)
OneHotEncoder()
OneHotEncoder(handle_unknown="ignore", drop="first", dtype=np.float32)
OrdinalEncoder()
OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
OrdinalEncoder(min_frequency=15)
OrdinalEncoder(dtype=np.int64)
OrdinalEncoder(dtype=np.uint8, handle_unknown="use_encoded_value", unknown_value=9)
TargetEncoder()
Pipeline([("a", SimpleImputer(strategy="most_frequent")), ("b", OneHotEncoder(sparse_output=False))])
Pipeline([("a", SimpleImputer(strategy="constant", fill_value="b")), ("b", OrdinalEncoder())])
ColumnTransformer([("u", OneHotEncoder(), ["u"]), ("v", OrdinalEncoder(), ["v"])], transformer_weights={"v": 2})
ColumnTransformer([("u", OneHotEncoder(), ["u"])], sparse_threshold=1)
ColumnTransformer([("u", OneHotEncoder(), ["u"]), ("v", OrdinalEncoder(), ["v"])], sparse_threshold=0.9)
"""
"""Estimators that are fitted to words."""


def expressions() -> list[tuple[str, bool]]:
    """Every estimator, and whether it is fitted to words."""
    return [
        *((text, False) for text in NUMBERS.split("\n") if text),
        *((text, True) for text in WORDS.split("\n") if text),
    ]


def made(text: str) -> Any:
    """The estimator that a line says."""
    linecache.cache[text] = (len(text), None, [text], text)  # lambdas in it are read
    return eval(compile(text, text, "eval"), dict(NAMES))  # noqa: S307  the lines stand above


def table(words: bool) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Rows, a target of numbers, and one of classes."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.standard_normal((60, 3)).round(2), columns=["a", "b", "c"])
    target = numbers["a"].to_numpy() * 2 + numbers["b"].to_numpy() + rng.standard_normal(60)
    rows = pd.DataFrame({"u": rng.choice(["a", "b", "c"], 60), "v": rng.choice(["x", "y"], 60)}) if words else numbers
    return rows, target, target > 0


def target_for(estimator: Any, words: bool) -> np.ndarray:
    """What an estimator is fitted to."""
    _, target, classes = table(words)
    return classes if hasattr(estimator, "predict_proba") or type(estimator).__name__ == "RidgeClassifier" else target


def compiled(text: str, words: bool) -> str | None:
    """Why `pipelines.compile` does not take an estimator; None where it takes a method."""
    estimator, (rows, _, _) = made(text), table(words)
    fitted = estimator.fit(rows, target_for(estimator, words))
    reasons: list[str] = []
    for method in methods_of(fitted):
        try:
            import_method(fitted, rows[:5], method)
            return None
        except Unsupported as why:
            reasons.append(str(why))
    return reasons[0]


def learned(text: str, words: bool) -> str | None:
    """Why the fit that `pipelines.optimize` gives is scikit-learn's; None where it is one pass over the rows."""
    estimator, (rows, _, _) = made(text), table(words)
    target = target_for(estimator, words)
    if not hasattr(estimator, "transform"):
        estimator = pipeline.Pipeline([("model", estimator)])
    try:
        optimized = OptimizedTransformer(estimator, INTERPRETED, strict=True)
        optimized.fit(rows, target)
    except UsageError as why:
        return str(why).removeprefix("strict=True: ").removeprefix("model: ")
    return None


def page(note: str) -> str:
    """The page."""
    lines = [
        *("# What is known of scikit-learn", "", note, ""),
        "Each line is tried: by `pipelines.compile`, once scikit-learn has fitted it, and by `pipelines.optimize`,",
        "whose fit is one pass over the rows. What is not known stays scikit-learn's, with the reason that `explain()`",
        "gives. A test compares each answer with scikit-learn's. [Pipelines](pipelines.md) says how to use both.",
        *("", "| estimator | compiled | fitted in one pass |", "| --- | --- | --- |"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text, words in expressions():
            cells = [why or "yes" for why in (compiled(text, words), learned(text, words))]
            lines.append(f"| `{text}` | {cells[0]} | {cells[1]} |".replace("\n", " "))
    return "\n".join(lines) + "\n"
