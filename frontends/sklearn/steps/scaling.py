"""Scalers: a shift and a scale for every column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from tilework.dialects.matrix import MomentsOp, ScaleOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Array, Emitter, Features, FittedStep, Numbers, Unsupported, step


def subtract(k: KernelBuilder, v: Scalar, m: Scalar) -> Scalar:
    """v - m, in the precision of v."""
    return v - k.cast(m, v.dtype)


def divide(k: KernelBuilder, v: Scalar, s: Scalar) -> Scalar:
    """v / s, in the precision of v."""
    return v / k.cast(s, v.dtype)


def _divide_wide(k: KernelBuilder, v: Scalar, s: Scalar) -> Scalar:
    return _rounded(k, v, lambda wide: wide / s)


def _rounded(k: KernelBuilder, v: Scalar, function: Callable[[Scalar], Scalar]) -> Scalar:
    """A function of v in double precision, rounded to what v is."""
    if v.dtype == f64:
        return function(v)
    return k.cast(function(k.cast(v, f64)), f32)


@step(StandardScaler)
class Standard(FittedStep):
    """(x - mean) / scale, as two operations that round, as scikit-learn does them."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        fitted: dict[str, Array] = {}
        if estimator.with_mean:
            fitted["mean"] = np.asarray(estimator.mean_)
        if estimator.with_std:
            fitted["scale"] = np.asarray(estimator.scale_)
        return fitted

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        moments = MomentsOp.of(x.value)
        e.insert(moments)
        return {
            "mean": moments.mean,
            "variance": moments.variance,
            "count": moments.known,
            "scale": e.insert(ScaleOp.of(moments.mean, moments.variance, moments.known)),
        }

    @classmethod
    def attributes(cls, estimator: Any, vectors: dict[str, Array], rows: int) -> dict[str, Any]:
        count = vectors["count"].astype(np.int64)
        found: dict[str, Any] = {"n_samples_seen_": np.int64(rows) if (count == rows).all() else count}
        found["mean_"] = vectors["mean"] if estimator.with_mean or estimator.with_std else None
        found["var_"] = vectors["variance"] if estimator.with_std else None
        found["scale_"] = vectors["scale"] if estimator.with_std else None
        return found

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        if estimator.with_mean:
            x = e.map(x, [vectors["mean"]], subtract)
        if estimator.with_std:
            x = e.map(x, [vectors["scale"]], divide)
        return x


@step(MinMaxScaler)
class MinMax(FittedStep):
    """x * scale + min, and what is outside of the range is cut off where it says `clip`."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        return {"scale": np.asarray(estimator.scale_), "min": np.asarray(estimator.min_)}

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        low, high = estimator.feature_range

        def function(k: KernelBuilder, v: Scalar, scale: Scalar, least: Scalar) -> Scalar:
            scaled = _rounded(k, v, lambda wide: wide * scale)
            return _rounded(k, scaled, lambda wide: wide + least)

        def clipped(k: KernelBuilder, v: Scalar) -> Scalar:
            return k.min(k.max(v, float(low)), float(high))

        x = e.map(x, [vectors["scale"], vectors["min"]], function)
        return e.map(x, [], clipped) if estimator.clip else x


@step(MaxAbsScaler)
class MaxAbs(FittedStep):
    """x / scale."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        if getattr(estimator, "clip", False):
            raise Unsupported("MaxAbsScaler(clip=True)")
        return {"scale": np.asarray(estimator.scale_)}

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        return e.map(x, [vectors["scale"]], _divide_wide)
