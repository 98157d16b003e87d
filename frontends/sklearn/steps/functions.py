"""FunctionTransformer: a function of every element, of those of numpy that a kernel can say."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Emitter, Features, Step, Unsupported, step

FUNCTIONS: dict[Any, str] = {
    np.abs: "abs",
    np.ceil: "ceil",
    np.exp: "exp",
    np.expm1: "expm1",
    np.floor: "floor",
    np.log: "log",
    np.log10: "log10",
    np.log1p: "log1p",
    np.log2: "log2",
    np.sqrt: "sqrt",
    np.tanh: "tanh",
}
"""numpy's functions, by what they are called at te."""


@step(FunctionTransformer)
class Function(Step):
    """f(x) for each element x; without a function, x."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        if estimator.func is None:
            return x
        if estimator.func not in FUNCTIONS or estimator.kw_args:
            raise Unsupported(f"FunctionTransformer of {getattr(estimator.func, '__name__', 'an object')}")
        name = FUNCTIONS[estimator.func]

        def function(k: KernelBuilder, v: Scalar) -> Scalar:
            return k.call(name, v)

        return e.map(e.numbers(x), [], function)
