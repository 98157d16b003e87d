"""SimpleImputer: a number, or a value of a dictionary, in the place of what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tilework.dialects.matrix import MomentsOp
from tilework.dialects.matrix.base import matrix_of
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import (
    Array,
    Columns,
    Emitter,
    Features,
    FittedStep,
    Learned,
    Numbers,
    TrainingData,
    Unsupported,
    step,
)


@step(SimpleImputer)
class Imputer(FittedStep):
    """x where it is known, else a number of its column."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        missing: Any = estimator.missing_values
        is_nan = missing is not None and missing != missing
        has_words = isinstance(x, Columns) and any(e.dtypes[key] is None for key in x.keys)
        if not is_nan and (e.data is not None or has_words or not isinstance(missing, int | float)):
            raise Unsupported(f"SimpleImputer(missing_values={missing!r}), which is not NaN")
        if estimator.add_indicator and (e.data is not None or has_words):
            raise Unsupported("SimpleImputer(add_indicator=True) is not learned, nor known of words")
        if isinstance(x, Columns) and has_words:
            return cls._words(e, estimator, x)
        matrix = e.numbers(x)
        if not is_nan:
            matrix = e.map(e.refuse_missing(matrix), [], _nan_for(missing))
        made = super().convert(e, estimator, matrix)
        if not estimator.add_indicator:
            return made
        features = estimator.indicator_.features_.tolist()
        return e.beside([e.numbers(made), Numbers(e.map(e.taken(matrix, features), [], _is_missing).value)])

    @classmethod
    def _words(cls, e: Emitter, estimator: Any, x: Columns) -> Features:
        """Columns of which a value of each stands for what is missing."""
        if e.data is None:
            values: list[Any] = np.asarray(estimator.statistics_, object).tolist()
        else:
            values = [_word(e.data, estimator, key) for key in x.keys]
            e.learned[id(estimator)] = Learned(estimator, _finish_words(values))
        if any(v is None or v != v for v in values):
            raise Unsupported("SimpleImputer drops a column without any value")
        return Columns(x.keys, {**x.fills, **dict(zip(x.keys, values, strict=True))})

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        return {"fill": np.asarray(estimator.statistics_, np.float64)}

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        match estimator.strategy:
            case "mean":
                moments = MomentsOp.of(x.value)
                e.insert(moments)
                return {"fill": moments.mean}
            case "constant":
                value = 0.0 if estimator.fill_value is None else estimator.fill_value
                return {"fill": e.parameter("simpleimputer.fill", np.full(matrix_of(x.value).columns, value))}
            case "most_frequent" if e.data is not None and isinstance(x.source, Columns):
                found = [e.data.whole(key).most_frequent for key in x.source.keys]
                return {"fill": e.parameter("simpleimputer.fill", np.array(found, np.float64))}
            case strategy:
                raise Unsupported(f"SimpleImputer(strategy={strategy!r}) of numbers is not learned")

    @classmethod
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        fitted.statistics_ = vectors["fill"].astype(fitted.statistics_.dtype)

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:

        def function(k: KernelBuilder, v: Scalar, fill: Scalar) -> Scalar:
            narrow = k.cast(fill, f32) if v.dtype == f32 else fill
            return k.select(v.compare("ne", v), narrow, v)

        filled = Numbers(e.map(x, [vectors["fill"]], function).value)
        if e.data is not None:
            return filled
        without = np.isnan(np.asarray(estimator.statistics_, np.float64))  # columns without any value are dropped
        return e.taken(filled, np.flatnonzero(~without).tolist()) if without.any() else filled


def _nan_for(missing: Any) -> Callable[[KernelBuilder, Scalar], Scalar]:
    """NaN in the place of the number that stands for what is missing."""
    number = float(missing)
    return lambda k, v: k.select(v.compare("eq", number), k.constant(np.nan, v.dtype), v)


def _is_missing(k: KernelBuilder, v: Scalar) -> Scalar:
    return k.select(v.compare("ne", v), k.constant(1.0, v.dtype), 0.0)


def _word(data: TrainingData, estimator: Any, key: Any) -> Any:
    """What stands for the missing values of a column. Raises Unsupported."""
    match estimator.strategy:
        case "constant":
            if all(v != v for v in data.encoded(key).ordered):
                return np.nan
            return "missing_value" if estimator.fill_value is None else estimator.fill_value
        case "most_frequent":
            try:
                return data.whole(key).most_frequent
            except TypeError:
                raise Unsupported(f"the most frequent values of {key} have no order") from None
        case strategy:
            raise Unsupported(f"SimpleImputer(strategy={strategy!r}) of values that are no numbers")


def _finish_words(values: list[Any]) -> Callable[[Any, dict[str, Array], int], None]:
    def finish(fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        fitted.statistics_ = np.array(values, object)

    return finish
