"""SimpleImputer: a number, or a value of a dictionary, in the place of what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tilework.dialects.matrix import MomentsOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Array, Columns, Emitter, Features, FittedStep, Numbers, Unsupported, step


@step(SimpleImputer)
class Imputer(FittedStep):
    """x where it is known, else a number of its column."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        missing: Any = estimator.missing_values
        if missing is not None and missing == missing:  # neither None nor NaN
            raise Unsupported(f"SimpleImputer(missing_values={missing!r}), which is not NaN")
        if estimator.add_indicator:
            raise Unsupported("SimpleImputer(add_indicator=True)")
        if isinstance(x, Columns) and any(e.dtypes[key] is None for key in x.keys):
            if e.data is not None:
                raise Unsupported("SimpleImputer of values that are no numbers is not learned")
            values: list[Any] = np.asarray(estimator.statistics_, object).tolist()
            if any(v is None or v != v for v in values):
                raise Unsupported("SimpleImputer drops a column without any value")
            return Columns(x.keys, {**x.fills, **dict(zip(x.keys, values, strict=True))})
        return super().convert(e, estimator, x)

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        return {"fill": np.asarray(estimator.statistics_, np.float64)}

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        if estimator.strategy != "mean":
            raise Unsupported(f"SimpleImputer(strategy={estimator.strategy!r}) of numbers is not learned")
        moments = MomentsOp.of(x.value)
        e.insert(moments)
        return {"fill": moments.mean}

    @classmethod
    def attributes(cls, estimator: Any, vectors: dict[str, Array], rows: int) -> dict[str, Any]:
        return {
            "statistics_": vectors["fill"],
            "indicator_": None,
            "_fit_dtype": np.dtype(np.float64),
            "_fill_dtype": np.dtype(np.float64),
        }

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        if e.data is None and np.isnan(np.asarray(estimator.statistics_, np.float64)).any():
            if estimator.keep_empty_features:
                raise Unsupported("SimpleImputer(keep_empty_features=True) with a column without any value")
            raise Unsupported("SimpleImputer drops a column without any value")

        def function(k: KernelBuilder, v: Scalar, fill: Scalar) -> Scalar:
            narrow = k.cast(fill, f32) if v.dtype == f32 else fill
            return k.select(v.compare("ne", v), narrow, v)

        return Numbers(e.map(x, [vectors["fill"]], function).value)
