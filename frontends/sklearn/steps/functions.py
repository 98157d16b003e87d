"""FunctionTransformer: a function of every element, of numpy or one that can be read."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import FunctionTransformer

from tilework.analysis.affine_maps import affine_of
from tilework.dialects.matrix import MapOp
from tilework.frontends.sklearn.element_function import element_function
from tilework.frontends.sklearn.emitter import Emitter, Features, Numbers, Opaque, Step, Unsupported, step


@step(FunctionTransformer)
class Function(Step):
    """f(x) for each element x; without a function, x."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        if estimator.func is None:
            return x
        if estimator.kw_args:
            raise Unsupported("FunctionTransformer(kw_args=...)")
        function = element_function(estimator.func)
        matrix = e.numbers(x)
        if matrix.source is not None:
            cls._require_wide(e, matrix.source.keys)
        if estimator.validate:
            matrix = e.refuse_missing(matrix)
        op = MapOp.by(matrix.value, [], function)
        if e.data is not None and affine_of(op) is None:
            op.erase()
            return Opaque("FunctionTransformer makes what is not affine in the columns")
        return Numbers(e.insert(op), matrix.missing)

    @classmethod
    def _require_wide(cls, e: Emitter, keys: tuple[Any, ...]) -> None:
        """Refuse columns of which numpy computes something in half precision, or in few bits."""
        for key in keys:
            if str(e.dtypes[key]) not in ("float64", "float32", "int64", "uint64"):
                raise Unsupported(f"FunctionTransformer of column {key}, which holds elements of type {e.dtypes[key]}")
