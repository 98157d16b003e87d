"""Functions of scikit-learn that take estimators of any kind, without the types that it says they have."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sklearn.pipeline import Pipeline

_BASE: Any = import_module("sklearn.base")
_UTILS: Any = import_module("sklearn.utils")
_SELECTION: Any = import_module("sklearn.model_selection")

clone: Callable[[Any], Any] = _BASE.clone
is_classifier: Callable[[Any], bool] = _BASE.is_classifier
issparse: Callable[[Any], bool] = import_module("scipy.sparse").issparse
check_is_fitted: Callable[[Any], None] = import_module("sklearn.utils.validation").check_is_fitted
"""Raises NotFittedError."""
check_cv: Callable[..., Any] = _SELECTION.check_cv
"""The splitter that `cv=` stands for."""


def is_exactly(value: Any, type_: type) -> bool:
    """Whether a value is of a type, and not of a subclass, which may do anything."""
    return type(value) is type_


def last_of(estimator: Any) -> Any:
    """The last step of a pipeline; anything else as it is."""
    return estimator.steps[-1][1] if is_exactly(estimator, Pipeline) else estimator


def allows_missing(estimator: Any) -> bool:
    """Whether an estimator takes missing numbers."""
    return _UTILS.get_tags(estimator).input_tags.allow_nan


def known_names(estimator: Any) -> list[Any] | None:
    """The names of the columns that an estimator has been fitted to; None where they had none."""
    names: Any = getattr(estimator, "feature_names_in_", None)
    return None if names is None else names.tolist()
