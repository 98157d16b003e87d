"""KMeans: how far rows are from centres, and which is nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from xdsl.dialects.builtin import StringAttr, f32
from xdsl.ir import SSAValue

from tilework.dialects.matrix import AddOp, MatmulOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import (
    Array,
    Emitter,
    Features,
    FittedStep,
    Numbers,
    columns_count,
    element_of,
    step,
)
from tilework.frontends.sklearn.steps.linear import plus, require_one_type


@step(KMeans)
class Centres(FittedStep):
    """|c|^2 - 2 x c for each centre c: what of the squared distance differs between centres."""

    NARROW = True

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        centres = np.asarray(estimator.cluster_centers_)
        return {"weight": -2 * centres.T, "squares": (centres * centres).sum(axis=1)}

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        require_one_type(e, estimator, x, vectors["weight"])
        x = e.refuse_missing(x)
        product = e.insert(MatmulOp.of(x.value, vectors["weight"], origin=StringAttr("centre")))
        return e.map(Numbers(product), [vectors["squares"]], plus)


def square(k: KernelBuilder, v: Scalar) -> Scalar:
    """v^2."""
    return v * v


def distances(e: Emitter, estimator: Any, x: Features) -> Numbers:
    """How far rows are from each centre."""
    x = e.refuse_missing(e.numbers(x))
    parts = e.numbers(Centres.convert(e, estimator, x))
    squares = e.map(x, [], square)
    ones = e.parameter(
        "kmeans.ones",
        np.ones((columns_count(x), columns_count(parts))),
        "float32" if element_of(x) == f32 else "float64",
    )
    own = e.insert(MatmulOp.of(squares.value, ones, origin=StringAttr("centre")))

    def root(k: KernelBuilder, v: Scalar) -> Scalar:
        return k.call("sqrt", k.max(v, 0.0))

    return e.map(Numbers(e.insert(AddOp.of(parts.value, own))), [], root)
