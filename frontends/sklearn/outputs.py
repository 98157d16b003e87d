"""What a ColumnTransformer notes of what its parts make, once these have learned from all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from tilework.frontends.sklearn.stand_in import StandIn, fitted_with
from tilework.frontends.sklearn.untyped import is_exactly, issparse, last_of

Ones = Callable[[Any], int | None]
"""How many numbers other than 0 a fitted encoder makes of all rows, if somebody has counted."""


def note_outputs(fitted: Any, sample: Any, rows: int, ones: Ones) -> None:
    """Note which columns each part of a ColumnTransformer makes, and whether all of them are few enough to be sparse.

    sample: a few of its rows, of which there are so many. What it makes of these few had been noted before.
    """
    if is_exactly(fitted, Pipeline):
        inner = [each for _, each in fitted.steps if each is not None and not isinstance(each, str)]
        for first in inner[:1]:  # behind another step, a ColumnTransformer is fitted to all rows
            note_outputs(first, sample, rows, ones)
    elif is_exactly(fitted, FeatureUnion):
        for _, each in fitted.transformer_list:
            note_outputs(each, sample, rows, ones)
    elif is_exactly(fitted, ColumnTransformer):
        _note(fitted, sample, rows, ones)


def _note(fitted: Any, sample: Any, rows: int, ones: Ones) -> None:
    made: list[tuple[Any, Any]] = []

    def settled(inner: Any) -> StandIn:
        def fit(own: Any, _: Any) -> tuple[Any, Any]:
            note_outputs(inner, own, rows, ones)
            made.append((inner, inner.transform(own)))
            return made[-1]

        return StandIn(fit)

    parts = {name: settled(inner) for name, inner, _ in fitted.transformers_ if not isinstance(inner, str)}
    again, _ = fitted_with(fitted, parts, sample, None)
    fitted.output_indices_ = again.output_indices_
    filled = sum(_filled(part, ones(last_of(inner)), rows) for inner, part in made)
    width = sum(part.shape[1] for _, part in made)
    fitted.sparse_output_ = any(issparse(part) for _, part in made) and filled / width < fitted.sparse_threshold


def _filled(part: Any, ones: int | None, rows: int) -> float:
    """How many numbers a row has on average that are stored, where a part makes this of a few rows."""
    if not issparse(part):
        return part.shape[1]
    return part.nnz / part.shape[0] if ones is None else ones / rows
