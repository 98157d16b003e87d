"""SimpleImputer: a number, or a value of a dictionary, in the place of what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
        missing = _mark(estimator)
        if isinstance(x, Columns) and any(e.dtypes[key] is None for key in x.keys):
            if missing is not None or estimator.add_indicator:
                raise Unsupported("SimpleImputer of words with missing_values, or with add_indicator=True")
            return cls._words(e, estimator, x)
        if isinstance(x, Columns):
            missing = _mark_of(e, estimator, x)
        if missing is None or isinstance(x, Columns):
            matrix = e.numbers(x, missing)
        elif e.data is None:
            matrix = e.map(e.refuse_missing(e.numbers(x)), [], _nan_for(missing))
        else:
            raise Unsupported(f"SimpleImputer(missing_values={missing!r}) of numbers that are computed")
        made = super().convert(e, estimator, matrix)
        if not estimator.add_indicator:
            return made
        features = cls._incomplete(e, estimator, matrix)
        if not features:
            return made
        return e.beside([e.numbers(made), Numbers(e.map(e.taken(matrix, features), [], _is_missing).value)])

    @classmethod
    def _incomplete(cls, e: Emitter, estimator: Any, x: Numbers) -> list[int]:
        """The columns that have an indicator: those in which a number is missing when it is fitted."""
        if e.data is None:
            return estimator.indicator_.features_.tolist()
        if x.source is None:
            raise Unsupported("SimpleImputer(add_indicator=True) of numbers that are computed")
        rows = [e.data.first_missing(key, _mark_of(e, estimator, x.source)) for key in x.source.keys]
        features = [i for i, row in enumerate(rows) if row is not None]

        def finish(fitted: Any, vectors: dict[str, Array], rows: int) -> None:
            cls.finish(fitted, vectors, rows)
            fitted.indicator_.features_ = np.array(features, fitted.indicator_.features_.dtype)

        e.learned[id(estimator)] = replace(e.learned[id(estimator)], finish=finish)
        return features

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
                missing = _mark_of(e, estimator, x.source)
                found = [e.data.whole(key).most_frequent(missing) for key in x.source.keys]
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


def _mark(estimator: Any) -> float | None:
    """The number that says that one is missing; None where NaN does. Raises Unsupported for anything else."""
    missing: Any = estimator.missing_values
    if missing is not None and missing != missing:
        return None
    if not isinstance(missing, int | float):
        raise Unsupported(f"SimpleImputer(missing_values={missing!r})")
    return float(missing)


def _mark_of(e: Emitter, estimator: Any, x: Columns) -> float | None:
    """The same in the type that some columns fit in: 0.3 in single precision is another number than 0.3."""
    missing = _mark(estimator)
    return float(np.float32(missing)) if missing is not None and e.are_single(x) else missing


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
                return data.whole(key).most_frequent()
            except TypeError:
                raise Unsupported(f"the most frequent values of {key} have no order") from None
        case strategy:
            raise Unsupported(f"SimpleImputer(strategy={strategy!r}) of values that are no numbers")


def _finish_words(values: list[Any]) -> Callable[[Any, dict[str, Array], int], None]:
    def finish(fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        fitted.statistics_ = np.array(values, object)

    return finish
