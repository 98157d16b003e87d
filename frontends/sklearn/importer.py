"""A fitted estimator becomes a program on a table for each of its methods."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region, SSAValue

from tilework.dialects import graph
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.matrix import ToTensorOp
from tilework.dialects.matrix.base import matrix_of
from tilework.dialects.support.shapes import element_type
from tilework.frontends.sklearn.emitter import Array, Columns, Emitter, Features, Unsupported, convert
from tilework.frontends.sklearn.programs import parts_of
from tilework.frontends.sklearn.sparse_features import apart
from tilework.frontends.sklearn.steps.clustering import distances
from tilework.frontends.sklearn.untyped import check_is_fitted, is_exactly, issparse, known_names, last_of
from tilework.runtime.pipelines.columns import as_rows, column, dtype_of, names_of
from tilework.runtime.pipelines.interface import Interface, Output

WIDEST = ("int64", "uint64")
"""Integers that float64 may not hold."""

SHARES = (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)
"""Classifiers whose scores are probabilities, of two classes too."""

MADE_OF_SCORES = (LogisticRegression, GradientBoostingClassifier, HistGradientBoostingClassifier)
"""Classifiers whose probabilities are the logistic function, or the softmax, of their scores."""


@dataclass(frozen=True)
class Program:
    """A module whose function @main is one method of an estimator, its fitted numbers, and how it is called.

    There is no module where what is made are the ones of codes alone.
    """

    module: ModuleOp | None
    parameters: Mapping[str, Array]
    interface: Interface


def import_method(estimator: Any, rows: Any, method: str, example: Any = None) -> Program:
    """The program of a method of a fitted estimator, for tables like these rows.

    example: what it makes of such rows where it transforms, if somebody knows. Raises Unsupported that names the step,
    or the parameter of it, for which there is none; NotFittedError.
    """
    check_is_fitted(estimator)
    rows = as_rows(rows)
    names = names_of(rows)
    keys = _keys(estimator, rows, names)
    e = Emitter({key: dtype_of(column(rows, key)) for key in keys})
    if method == "transform":
        value, output = _transform(
            e, estimator, Columns(keys), _example(estimator, rows) if example is None else example
        )
    else:
        value, output = _method(e, estimator, Columns(keys), method)
    parts = parts_of(e.table.type, e.inputs)
    interface = Interface(keys, names is not None, parts, output, _finds_by_name(estimator))
    if value is None:
        return Program(None, e.parameters, interface)
    e.block.add_op(ReturnOp(value))
    function = FuncOp("main", ([e.table.type], [value.type]), Region(e.block))
    return Program(ModuleOp([function]), e.parameters, interface)


def _example(estimator: Any, rows: Any) -> Any:
    """What an estimator makes of rows: what these are warned of is said when they are transformed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.transform(rows)


def _keys(estimator: Any, rows: Any, names: list[Any] | None) -> tuple[Any, ...]:
    """The columns that an estimator has been fitted to, in their order. Raises Unsupported for rows without them."""
    fitted: list[Any] | None = None if names is None else known_names(estimator)
    if names is None or fitted is None:
        expected = getattr(estimator, "n_features_in_", rows.shape[1])
        if rows.shape[1] != expected:
            raise Unsupported(f"the rows have {rows.shape[1]} columns, and it is fitted to {expected}")
        return tuple(range(rows.shape[1]) if names is None else names)
    missing = [str(name) for name in fitted if name not in names]
    if missing:
        raise Unsupported(f"it is fitted to columns that the rows do not have: {', '.join(missing)}")
    if fitted != names and not _finds_by_name(estimator):
        raise Unsupported("the columns of the rows are not those that it is fitted to, in their order")
    return tuple(fitted)


def _finds_by_name(estimator: Any) -> bool:
    """Whether an estimator finds columns by their names, whatever their order."""
    if is_exactly(estimator, Pipeline):
        steps = (inner for _, inner in estimator.steps if inner is not None and not isinstance(inner, str))
        return any(_finds_by_name(first) for first in islice(steps, 1))
    return is_exactly(estimator, ColumnTransformer)


def _transform(e: Emitter, estimator: Any, x: Columns, example: Any) -> tuple[SSAValue | None, Output]:
    """Features as a transformer makes them of the example rows. Raises Unsupported where they are of another type."""
    last: Any = last_of(estimator)
    made = (
        distances(e, last, _before(e, estimator, x))
        if is_exactly(last, KMeans)
        else e.numbers(convert(e, estimator, x))
    )
    dtype = numpy_dtype(matrix_of(made.value).element_type)
    if issparse(example):
        if example.format != "csr":
            raise Unsupported(f"it makes a {type(example).__name__}, no rows")
        _require_type(e, example, dtype)
        parts = parts_of(e.table.type, e.inputs)
        numbers, sparse = apart(e, made.value, type(example).__name__, parts)
        tensor = None if numbers is None else e.insert(ToTensorOp.of(numbers))
        return tensor, Output("sparse", dtype=example.dtype.str, sparse=sparse)
    if not is_exactly(example, np.ndarray):
        raise Unsupported(f"it makes a {type(example).__name__}, no array")
    _require_type(e, example, dtype)
    tensor = e.insert(ToTensorOp.of(made.value))
    if example.dtype == dtype:
        return tensor, Output("rows")
    return e.insert(graph.CastOp.of(tensor, to=i64)), Output("integers", dtype=example.dtype.str)


def _require_type(e: Emitter, example: Any, dtype: np.dtype[Any]) -> None:
    """Refuse numbers that are not those which are computed, nor integers that these hold."""
    if example.dtype == dtype:
        return
    if example.dtype.kind not in "iub" or dtype != np.float64:
        raise Unsupported(f"it makes numbers of type {example.dtype}, not {dtype}")
    if any(given.dictionary is None and str(e.dtypes[given.key]) in WIDEST for given in e.inputs.values()):
        raise Unsupported("it makes integers of integers of 64 bits, which may be too large for float64")


def _method(e: Emitter, estimator: Any, x: Columns, method: str) -> tuple[SSAValue, Output]:
    last: Any = last_of(estimator)
    if is_exactly(last, KMeans):
        return _clusters(e, estimator, x, method)
    made = e.numbers(convert(e, estimator, x))
    tensor = e.insert(ToTensorOp.of(made.value))
    columns = matrix_of(made.value).columns
    if not hasattr(last, "classes_"):
        flat = np.ndim(getattr(last, "coef_", [0])) == 1
        return tensor, Output("numbers" if flat else "rows")
    classes = tuple(np.asarray(last.classes_).tolist())
    if method == "decision_function":
        return tensor, Output("numbers" if columns == 1 else "rows")
    if len(classes) < 2:
        raise Unsupported("it knows one class")
    if method == "predict":
        return _codes(e, tensor, columns), Output("classes", classes, np.asarray(last.classes_).dtype.str)
    if method == "predict_proba" and isinstance(last, SHARES):
        return tensor, Output("rows")
    if method == "predict_proba" and isinstance(last, MADE_OF_SCORES):
        return _probabilities(e, tensor, columns), Output("rows")
    raise Unsupported(f"it has no method {method} that is known")


def _before(e: Emitter, estimator: Any, x: Features) -> Features:
    """What the steps before the last one make."""
    return convert(e, estimator[:-1], x) if is_exactly(estimator, Pipeline) and len(estimator.steps) > 1 else x


def _clusters(e: Emitter, estimator: Any, x: Features, method: str) -> tuple[SSAValue, Output]:
    """The nearest centre of each row."""
    if method != "predict":
        raise Unsupported(f"KMeans has no method {method} that is known")
    tensor = e.insert(ToTensorOp.of(e.numbers(convert(e, estimator, x)).value))
    return _first_of(e, graph.ArgMinOp, tensor), Output("classes", tuple(range(last_of(estimator).n_clusters)), "<i4")


def _codes(e: Emitter, scores: SSAValue, columns: int) -> SSAValue:
    """The number of the class that each row has the highest score for; of two classes, there is one score."""
    if columns == 1:
        positive = e.insert(graph.LessOp.of(_number(e, "zero", 0.0, scores), scores))
        return e.insert(graph.CastOp.of(positive, to=i64))
    return _first_of(e, graph.ArgMaxOp, scores)


def _first_of(e: Emitter, operator: type[graph.ArgMaxOp | graph.ArgMinOp], scores: SSAValue) -> SSAValue:
    kept = {"axis": IntegerAttr(1, i64), "keep_dims": BoolAttr.from_bool(True), "last": BoolAttr.from_bool(False)}
    return e.insert(operator.of(scores, **kept))


def _probabilities(e: Emitter, scores: SSAValue, columns: int) -> SSAValue:
    """The probability of each class: of two, the logistic function of one score and what is left to 1."""
    if columns > 1:
        return e.insert(graph.SoftmaxOp.of(scores, axis=IntegerAttr(1, i64)))
    positive = e.insert(graph.SigmoidOp.of(scores))
    rest = e.insert(graph.SubOp.of(_number(e, "one", 1.0, scores), positive))
    return e.insert(graph.ConcatOp.of(rest, positive, axis=IntegerAttr(1, i64)))


def _number(e: Emitter, name: str, value: float, like: SSAValue) -> SSAValue:
    """A number of the type of a tensor."""
    return e.parameter(name, np.full((1, 1), value), numpy_dtype(element_type(like.type)).name)


def methods_of(estimator: Any) -> list[str]:
    """The methods of a fitted estimator that programs are made of, in the order in which they are tried."""
    names = ("transform", "predict", "predict_proba", "decision_function")
    return [name for name in names if hasattr(estimator, name)]
