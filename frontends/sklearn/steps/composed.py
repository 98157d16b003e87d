"""Estimators that are made of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Columns, Emitter, Features, Opaque, Step, Unsupported, convert, step
from tilework.frontends.sklearn.untyped import is_exactly


@step(Pipeline)
class Sequence(Step):
    """One step after the other."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        for _, inner in estimator.steps:
            if inner is not None and not isinstance(inner, str):
                x = convert(e, inner, x)
        return x


@step(FeatureUnion)
class Union(Step):
    """What each of several transformers makes of the same features, side by side."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        weights: dict[str, float] = estimator.transformer_weights or {}
        parts: list[Features] = []
        for name, inner in estimator.transformer_list:
            if inner != "drop":
                made = x if isinstance(inner, str) else convert(e, inner, x)
                parts.append(_weighted(e, made, weights.get(name)))
        return _beside(e, parts)


@step(ColumnTransformer)
class PerColumn(Step):
    """Each transformer on columns of its own, side by side."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        weights: dict[str, float] = estimator.transformer_weights or {}
        parts: list[Features] = []
        for name, inner, which in cls._parts(e, estimator, x):
            if isinstance(inner, str) and inner == "drop":
                continue
            picked = cls._picked(e, x, which)
            if isinstance(picked, Columns) and not picked.keys:
                continue
            made = picked if isinstance(inner, str) else convert(e, inner, picked)
            parts.append(_weighted(e, made, weights.get(name)))
        if not parts:
            raise Unsupported("ColumnTransformer that leaves no column")
        return _beside(e, parts)

    @classmethod
    def _parts(cls, e: Emitter, estimator: Any, x: Features) -> list[tuple[str, Any, list[int]]]:
        """The names of transformers, these, and the numbers of the columns of each."""
        if e.data is None:
            indices = estimator._transformer_to_input_indices  # noqa: SLF001  the attribute that holds them all
            return [(name, inner, list(indices[name])) for name, inner, _ in estimator.transformers_]
        if not isinstance(x, Columns):
            raise Unsupported("ColumnTransformer behind another step is not learned")
        if callable(estimator.remainder) or not isinstance(estimator.remainder, str):
            raise Unsupported("ColumnTransformer with an estimator for the remainder is not learned")
        parts: list[tuple[str, Any, list[int]]] = []
        for name, inner, given in estimator.transformers:
            parts.append((name, inner, _numbers_of(e, x, given)))
        taken = {i for _, _, which in parts for i in which}
        rest = [i for i in range(len(x.keys)) if i not in taken]
        return [*parts, ("remainder", estimator.remainder, rest)]

    @classmethod
    def _picked(cls, e: Emitter, x: Features, which: list[int]) -> Features:
        if isinstance(x, Columns):
            return Columns(tuple(x.keys[i] for i in which), x.fills)
        return e.taken(e.numbers(x), which)


def _weighted(e: Emitter, x: Features, weight: float | None) -> Features:
    """Features times a number, if there is one."""
    if weight is None or isinstance(x, Opaque):
        return x

    def times(k: KernelBuilder, v: Scalar) -> Scalar:
        return v * float(weight)

    return e.map(e.numbers(x), [], times)


def _beside(e: Emitter, parts: list[Features]) -> Features:
    """Features side by side; nothing learns from them where nothing learns from some."""
    opaque = next((part for part in parts if isinstance(part, Opaque)), None)
    return opaque or e.beside([e.numbers(part) for part in parts])


def _numbers_of(e: Emitter, x: Columns, given: Any) -> list[int]:
    """The numbers of the columns that a transformer is given, as scikit-learn finds them."""
    if callable(given):
        given = given(e.data.frame if e.data is not None else None)
    try:
        if is_exactly(given, slice):
            return list(range(len(x.keys))[_between(x, given)])
        items: list[Any] = [given] if isinstance(given, str | int) else np.asarray(given).tolist()
        if all(isinstance(item, bool) for item in items):
            return [i for i, item in enumerate(items) if item]
        return [x.keys.index(item) if isinstance(item, str) else range(len(x.keys))[item] for item in items]
    except (ValueError, IndexError):
        raise Unsupported(f"ColumnTransformer of {given!r}, which are not among the columns") from None


def _between(x: Columns, given: slice) -> slice:
    """A slice of numbers for one of names, the last of which is in it. Raises ValueError for unknown names."""
    first = x.keys.index(given.start) if isinstance(given.start, str) else given.start
    stop = x.keys.index(given.stop) + 1 if isinstance(given.stop, str) else given.stop
    return slice(first, stop, given.step)


def fitted_parts(estimator: Any, fitted: Any) -> Iterator[tuple[int, Any]]:
    """The identity of an estimator, and of each inside of it, with what stands in its place in a fitted one."""
    yield id(estimator), fitted
    lists: tuple[list[Any], list[Any]] = ([], [])
    if is_exactly(estimator, Pipeline):
        lists = (estimator.steps, fitted.steps)
    elif is_exactly(estimator, FeatureUnion):
        lists = (estimator.transformer_list, fitted.transformer_list)
    elif is_exactly(estimator, ColumnTransformer):
        lists = (estimator.transformers, fitted.transformers_)
    for inner, inner_fitted in zip(*lists, strict=False):  # the last of a column transformer is what remains
        yield from fitted_parts(inner[1], inner_fitted[1])
