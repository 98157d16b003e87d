"""Estimators that are made of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Branch:
    """What stands beside others in a composition; `which` of the columns it reads.

    flat: whether it is given one column as a vector, as scikit-learn does where a name stands alone.
    """

    name: str
    inner: Any
    which: list[int]
    flat: bool = False

    def convert(self, e: Emitter, x: Features) -> Features | None:
        """What it makes of its columns; None for what leaves none. Raises Unsupported."""
        if isinstance(self.inner, str) and self.inner == "drop" or not self.which:
            return None
        if self.flat:
            raise Unsupported(f"{self.name} is given one column as a vector")
        if isinstance(x, Columns):
            x = Columns(tuple(x.keys[i] for i in self.which), x.fills)
        else:
            x = e.taken(e.numbers(x), self.which)
        return x if isinstance(self.inner, str) else convert(e, self.inner, x)


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
        for branch in cls._branches(e, estimator, x):
            made = branch.convert(e, x)
            if made is not None:
                parts.append(_weighted(e, made, weights.get(branch.name)))
        if not parts:
            raise Unsupported("ColumnTransformer that leaves no column")
        return _beside(e, parts)

    @classmethod
    def _branches(cls, e: Emitter, estimator: Any, x: Features) -> list[Branch]:
        """The transformers, fitted or not yet."""
        if e.data is not None:
            return branches_of(e, estimator, x)
        indices = estimator._transformer_to_input_indices  # noqa: SLF001  the attribute that holds them all
        return [Branch(name, inner, list(indices[name])) for name, inner, _ in estimator.transformers_]


def branches_of(e: Emitter, estimator: Any, x: Features) -> list[Branch]:
    """What stands side by side in a composition that is to be fitted. Raises Unsupported."""
    if not isinstance(x, Columns):
        raise Unsupported(f"{type(estimator).__name__} behind another step is not learned")
    every = list(range(len(x.keys)))
    if is_exactly(estimator, FeatureUnion):
        return [Branch(name, inner, every) for name, inner in estimator.transformer_list]
    made: list[Branch] = []
    for name, inner, given in estimator.transformers:
        if callable(given):
            given = given(e.data.frame if e.data is not None else None)
        made.append(Branch(name, inner, _numbers_of(x, given), is_exactly(given, str) or is_exactly(given, int)))
    taken = {i for branch in made for i in branch.which}
    return [*made, Branch("remainder", estimator.remainder, [i for i in every if i not in taken])]


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


def _numbers_of(x: Columns, given: Any) -> list[int]:
    """The numbers of the columns that a transformer is given, as scikit-learn finds them."""
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
        lists = ([*estimator.transformers, ("remainder", estimator.remainder)], fitted.transformers_)
    for inner, inner_fitted in zip(*lists, strict=False):  # nothing stands for what remains where nothing does
        yield from fitted_parts(inner[1], inner_fitted[1])
