"""Estimators and pipelines of scikit-learn, exported by skl2onnx: equal to what onnxruntime makes of the same model."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

Array = np.ndarray[Any, Any]

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 4)).astype(np.float32)
MISSING = np.where(RNG.random(X.shape) < 0.3, np.float32(np.nan), X)
CATEGORIES = RNG.integers(0, 5, (40, 2))
CLASSES = np.digitize(X[:, 0] + X[:, 2] ** 2, [0.0, 1.0])
NUMBERS = X[:, 0] + X[:, 1]

TRANSFORMERS: dict[str, tuple[Any, Array]] = {
    "standard": (make_pipeline(StandardScaler(), Normalizer()), X),
    "robust": (make_pipeline(RobustScaler(), PolynomialFeatures(2)), X),
    "imputed": (make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()), MISSING),
    "one-hot": (OneHotEncoder(), CATEGORIES),
    "ordinal": (OrdinalEncoder(), CATEGORIES),
    "pca": (make_pipeline(StandardScaler(), PCA(2)), X),
    "k-means": (KMeans(3, n_init=1, random_state=0), X),
    "columns": (
        ColumnTransformer([("s", StandardScaler(), [0, 2]), ("p", "passthrough", [3]), ("b", Binarizer(), [1])]),
        X,
    ),
}

CLASSIFIERS: dict[str, Any] = {
    "logistic": make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression()),
    "linear-vectors": LinearSVC(),
    "vectors": make_pipeline(StandardScaler(), SVC()),
    "probable-vectors": SVC(probability=True, kernel="poly", random_state=0),
    "neighbors": KNeighborsClassifier(3),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(8, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "adaptive": AdaBoostClassifier(n_estimators=5, random_state=0),
    "gaussian-bayes": GaussianNB(),
    "bernoulli-bayes": BernoulliNB(),
    "multinomial-bayes": make_pipeline(MinMaxScaler(), MultinomialNB()),
    "calibrated": CalibratedClassifierCV(LinearSVC(), cv=2),
    "network": MLPClassifier((8,), max_iter=5, random_state=0),
    "votes": VotingClassifier(
        [("a", LogisticRegression()), ("b", GaussianNB())], voting="soft", flatten_transform=False
    ),
}

REGRESSORS: dict[str, Any] = {
    "ridge": make_pipeline(MinMaxScaler(), Normalizer(), Ridge()),
    "vectors": SVR(),
    "neighbors": KNeighborsRegressor(3),
    "forest": RandomForestRegressor(5, random_state=0),
    "boosted": GradientBoostingRegressor(n_estimators=5, random_state=0),
    "stacked": StackingRegressor([("a", Ridge()), ("b", SVR())], cv=2),
}

CASES = {
    **{name: (estimator, x, None) for name, (estimator, x) in TRANSFORMERS.items()},
    **{f"{name}-classifier": (estimator, X, CLASSES) for name, estimator in CLASSIFIERS.items()},
    **{f"{name}-regressor": (estimator, X, NUMBERS) for name, estimator in REGRESSORS.items()},
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def exported(name: str) -> tuple[onnx.ModelProto, Array, list[Array]]:
    """A fitted estimator as a model, its input, and what onnxruntime makes of that."""
    estimator, x, y = CASES[name]
    estimator.fit(x, y)
    makes_maps = name.endswith("classifier") and not isinstance(estimator, LinearSVC)
    options = {"zipmap": False} if makes_maps else None
    skl2onnx: Any = import_module("skl2onnx")
    model = skl2onnx.to_onnx(estimator, x[:1], options=options, target_opset={"": 18, "ai.onnx.ml": 3})
    session: Any = onnxruntime.InferenceSession(model.SerializeToString())
    return model, x, session.run(None, {model.graph.input[0].name: x})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_interpreted(name: str):
    model, x, expected = exported(name)
    imported = import_onnx(model)
    compare(run_function(imported.module, "main", [x], imported.parameters)[: len(expected)], expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_compiled(name: str, cache: KernelCache):
    model, x, expected = exported(name)
    compare(list(tw.compile(model, cache=cache).run({model.graph.input[0].name: x}).values()), expected)


def compare(found: Sequence[Array], expected: Sequence[Array]) -> None:
    for result, wanted in zip(found, expected, strict=True):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)
