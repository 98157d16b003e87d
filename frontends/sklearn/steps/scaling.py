"""Scalers: a shift and a scale for every column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from tilework.dialects import graph
from tilework.dialects.matrix import DivisorOp, ExtremesOp, MomentsOp, ScaleOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Array, Emitter, Features, FittedStep, Numbers, step


def subtract(k: KernelBuilder, v: Scalar, m: Scalar) -> Scalar:
    """v - m, in the precision of v."""
    return v - k.cast(m, v.dtype)


def divide(k: KernelBuilder, v: Scalar, s: Scalar) -> Scalar:
    """v / s, in the precision of v."""
    return v / k.cast(s, v.dtype)


def _subtract_wide(k: KernelBuilder, v: Scalar, m: Scalar) -> Scalar:
    return _rounded(k, v, lambda wide: wide - m)


def _divide_wide(k: KernelBuilder, v: Scalar, s: Scalar) -> Scalar:
    return _rounded(k, v, lambda wide: wide / s)


def _rounded(k: KernelBuilder, v: Scalar, function: Callable[[Scalar], Scalar]) -> Scalar:
    """A function of v in double precision, rounded to what v is."""
    if v.dtype == f64:
        return function(v)
    return k.cast(function(k.cast(v, f64)), f32)


def clipped(low: float, high: float) -> Callable[[KernelBuilder, Scalar], Scalar]:
    """v, cut off at both ends of a range."""
    return lambda k, v: k.min(k.max(v, low), high)


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
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        count = vectors["count"].astype(np.asarray(fitted.n_samples_seen_).dtype)
        fitted.n_samples_seen_ = count[0] if (count == count[0]).all() else count
        fitted.mean_ = vectors["mean"] if fitted.with_mean or fitted.with_std else None
        fitted.var_ = vectors["variance"] if fitted.with_std else None
        fitted.scale_ = vectors["scale"] if fitted.with_std else None

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
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        extremes = ExtremesOp.of(x.value)
        e.insert(extremes)
        least, greatest = (float(end) for end in estimator.feature_range)
        between = e.insert(graph.SubOp.of(extremes.high, extremes.low))
        width = e.parameter("minmaxscaler.width", np.full(1, greatest - least))
        scale = e.insert(graph.DivOp.of(width, e.insert(DivisorOp.of(between))))
        moved = e.insert(graph.MulOp.of(extremes.low, scale))
        begin = e.parameter("minmaxscaler.begin", np.full(1, least))
        return {
            "data_min": extremes.low,
            "data_max": extremes.high,
            "data_range": between,
            "scale": scale,
            "min": e.insert(graph.SubOp.of(begin, moved)),
        }

    @classmethod
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        fitted.n_samples_seen_ = rows
        for name, vector in vectors.items():
            setattr(fitted, f"{name}_", vector.astype(fitted.scale_.dtype))

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        low, high = estimator.feature_range

        def function(k: KernelBuilder, v: Scalar, scale: Scalar, least: Scalar) -> Scalar:
            scaled = _rounded(k, v, lambda wide: wide * scale)
            return _rounded(k, scaled, lambda wide: wide + least)

        x = e.map(x, [vectors["scale"], vectors["min"]], function)
        return e.map(x, [], clipped(float(low), float(high))) if estimator.clip else x


@step(MaxAbsScaler)
class MaxAbs(FittedStep):
    """x / scale."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        return {"scale": np.asarray(estimator.scale_)}

    @classmethod
    def learned(cls, e: Emitter, estimator: Any, x: Numbers) -> dict[str, SSAValue]:
        extremes = ExtremesOp.of(x.value)
        e.insert(extremes)
        negative = e.insert(graph.NegOp.of(extremes.low))
        largest = e.insert(graph.MaxOp.of(negative, extremes.high))
        return {"max_abs": largest, "scale": e.insert(DivisorOp.of(largest))}

    @classmethod
    def finish(cls, fitted: Any, vectors: dict[str, Array], rows: int) -> None:
        fitted.n_samples_seen_ = rows
        for name, vector in vectors.items():
            setattr(fitted, f"{name}_", vector.astype(fitted.scale_.dtype))

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        x = e.map(x, [vectors["scale"]], _divide_wide)
        return e.map(x, [], clipped(-1.0, 1.0)) if getattr(estimator, "clip", False) else x


@step(RobustScaler)
class Robust(FittedStep):
    """(x - center) / scale, as two operations that round; medians and quantiles are not learned from sums."""

    @classmethod
    def known(cls, estimator: Any) -> dict[str, Array]:
        vectors = {"center": estimator.center_, "scale": estimator.scale_}
        return {name: np.asarray(vector) for name, vector in vectors.items() if vector is not None}

    @classmethod
    def apply(cls, e: Emitter, estimator: Any, x: Numbers, vectors: dict[str, SSAValue]) -> Features:
        if "center" in vectors:
            x = e.map(x, [vectors["center"]], _subtract_wide)
        return e.map(x, [vectors["scale"]], _divide_wide) if "scale" in vectors else x
