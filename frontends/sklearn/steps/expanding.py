"""More columns of numbers: products of powers, and which of several ranges a number is in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.preprocessing import KBinsDiscretizer, PolynomialFeatures
from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import ExtremesOp, PairsOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import (
    Array,
    Emitter,
    Features,
    FittedStep,
    Numbers,
    Opaque,
    Step,
    Unsupported,
    columns_count,
    one,
    step,
)


@step(PolynomialFeatures)
class Polynomial(Step):
    """1, x, and products of columns, each of a column and of a product of one factor less."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        x = e.refuse_missing(e.numbers(x))
        least, most = (0, estimator.degree) if isinstance(estimator.degree, int) else estimator.degree
        count = columns_count(x)
        combinations: dict[int, list[tuple[int, ...]]] = {1: [(i,) for i in range(count)]}
        made: dict[int, Numbers] = {1: x}
        for degree in range(2, most + 1):
            before = {factors: place for place, factors in enumerate(combinations[degree - 1])}
            apart = 1 if estimator.interaction_only else 0
            now = [(i, *rest) for i in range(count) for rest in before if rest[0] >= i + apart]
            if not now:
                break
            left, right = [factors[0] for factors in now], [before[factors[1:]] for factors in now]
            pairs = PairsOp.of(x.value, made[degree - 1].value, left=ints(left), right=ints(right))
            made[degree], combinations[degree] = Numbers(e.insert(pairs)), now
        parts = [e.map(e.taken(x, [0]), [], one)] if estimator.include_bias else []
        parts += [matrix for degree, matrix in made.items() if max(1, least) <= degree <= most]
        if not parts:
            raise Unsupported("PolynomialFeatures that makes no column")
        if e.data is not None:
            return Opaque("PolynomialFeatures makes what is not affine in the columns")
        return e.beside(parts)


@step(KBinsDiscretizer)
class Bins(FittedStep):
    """The number of the range that a number is in, or a column for each range."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        if estimator.dtype is not None:
            raise Unsupported(f"KBinsDiscretizer(dtype={np.dtype(estimator.dtype).name})")
        x = e.refuse_missing(e.numbers(x))
        if e.data is None:
            return cls.apply(e, estimator, x, {})
        if estimator.strategy != "uniform":
            raise Unsupported(f"KBinsDiscretizer(strategy={estimator.strategy!r}) is not learned from sums")
        if estimator.subsample is not None and len(e.data) > estimator.subsample:
            raise Unsupported("KBinsDiscretizer learns from rows that are drawn")
        cls.vectors(e, estimator, x)
        return Opaque("KBinsDiscretizer makes what is not affine in the columns")

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        return {}

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        extremes = ExtremesOp.of(x.value)
        e.insert(extremes)
        return {"low": extremes.low, "high": extremes.high}

    @classmethod
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        names = getattr(fitted, "feature_names_in_", None)
        types = {edges.dtype for edges in fitted.bin_edges_ if np.isfinite(edges).all()}
        ends = np.stack([vectors["low"], vectors["high"]])  # all that it looks at
        fitted.fit(ends.astype(types.pop() if len(types) == 1 else np.float64))
        if names is not None:
            fitted.feature_names_in_ = names

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        edges: list[Array] = [np.asarray(inner, np.float64) for inner in estimator.bin_edges_]
        if estimator.encode == "ordinal":
            return _numbers_of_bins(e, x, edges)
        ends = [np.concatenate([[-np.inf], inner[1:-1], [np.inf]]) for inner in edges]
        places = [column for column, each in enumerate(ends) for _ in each[1:]]
        pairs = [pair for each in ends for pair in pairwise(each.tolist())]
        bounds = [e.parameter(f"kbins.{name}", np.array(side)) for name, side in zip(("low", "high"), zip(*pairs))]  # noqa: B905  both have two

        def is_in(k: KernelBuilder, v: Scalar, low: Scalar, high: Scalar) -> Scalar:
            wide = k.cast(v, f64)
            below = k.select(wide.compare("lt", high), k.constant(1.0, v.dtype), 0.0)
            last = k.select(high.compare("eq", float("inf")), k.constant(1.0, v.dtype), below)
            return k.select(wide.compare("lt", low), k.constant(0.0, v.dtype), last)

        return e.map(e.spread(x, places), bounds, is_in)


def _numbers_of_bins(e: Emitter, x: Numbers, edges: list[Array]) -> Numbers:
    """How many of its column's inner edges each number is not below."""
    most = max(len(inner) - 2 for inner in edges)
    table = np.full((most, len(edges)), np.nan)
    for column, inner in enumerate(edges):
        table[: len(inner) - 2, column] = inner[1:-1]
    vectors = [e.parameter("kbins.edge", row) for row in table]

    def count(k: KernelBuilder, v: Scalar, *limits: Scalar) -> Scalar:
        wide, found = k.cast(v, f64), k.constant(0.0, v.dtype)
        for limit in limits:
            found = found + k.select(wide.compare("ge", limit), k.constant(1.0, v.dtype), 0.0)
        return found

    return e.map(x, vectors, count)
