"""An estimator that ends in a regression, and learns from data that are there by sums over their rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from tilework.analysis.statistics_basis import ONE
from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.programs import Recent, is_watched, key_of, optimized
from tilework.frontends.sklearn.steps.composed import fitted_parts
from tilework.frontends.sklearn.steps.linear import PENALIZED, Regression
from tilework.frontends.sklearn.sums import Sums
from tilework.frontends.sklearn.training import FIT, VALIDATE, Training, import_training
from tilework.frontends.sklearn.training_data import RowsAndTarget
from tilework.frontends.sklearn.untyped import clone, is_exactly, issparse, last_of
from tilework.interpreters.graph import evaluate_function
from tilework.runtime.pipelines.columns import taken
from tilework.runtime.pipelines.folding import State
from tilework.runtime.pipelines.interface import Input, Part

LEAST_ERROR = 1e-9
"""Below this share of the target's squares about the shift a mean squared error has lost too many digits."""


@dataclass(frozen=True)
class Lowered:
    """The programs of an estimator once they are on sums, and what they are of data that are there."""

    estimator: Any
    training: Training
    sums: Sums

    def fits(self, data: RowsAndTarget) -> bool:
        """Whether these data have the same columns, with the same values and numbers missing in the same ones."""
        if (data.keys, data.dtypes) != (self.training.keys, self.training.dtypes):
            return False
        return all(_is_as(given, data) for part in self.sums.parts for given in part.inputs)


def _is_as(given: Input, data: RowsAndTarget) -> bool:
    if given.dictionary is not None:
        return given.dictionary.values == data.encoded(given.key).ordered
    return given.optional == (given.missing is not None or data.is_incomplete(given.key))


_LOWERED = Recent[bytes, Lowered](32)
"""Programs that have been made in this process, by what they were made of besides data."""


def lowered(estimator: Any, data: RowsAndTarget, penalties: int, score: str, engine: Engine) -> Lowered:
    """The programs of an estimator for data, penalties and a score. Raises Unsupported."""
    key = key_of(estimator, penalties, score)
    found = None if key is None or is_watched() else _LOWERED.get(key)
    if found is None or not found.fits(data):
        found = _lowered(estimator, data, penalties, score, engine)
        if key is not None:
            _LOWERED.put(key, found)
    return found


def _lowered(estimator: Any, data: RowsAndTarget, penalties: int, score: str, engine: Engine) -> Lowered:
    training = import_training(estimator, data, penalties, score)
    optimized("optimize-training", training.module)
    return Lowered(estimator, training, Sums.of(training.module, training.inputs, engine))


class Learner:
    """An estimator that learns from data that are there, by sums over rows. Raises Unsupported."""

    def __init__(self, estimator: Any, data: RowsAndTarget, penalties: int, score: str, engine: Engine):
        programs = lowered(estimator, data, penalties, score, engine)
        self.estimator, self.training = programs.estimator, programs.training
        self.penalties = penalties
        self._score = score
        self._engine, self._data, self._sums = engine, data, programs.sums
        self._shift = self._sums.placed(data.shifts(self._sums.parts))
        places = data.sample_places([Part((given,)) for given in self.training.inputs.values()])
        rows, target = taken(data.frame, places), data.target[data.row_numbers(places)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few rows may be too few for the model, whose numbers are replaced
            self._fitted = clone(self.estimator).fit(rows, target)
            if len(getattr(self._fitted, "steps", [])) > 1 and issparse(self._fitted[:-1].transform(rows)):
                raise Unsupported("Ridge finds the fit to a sparse matrix by iterations, up to its tol")

    def states(self, groups: Array, count: int) -> list[State]:
        """What is known of each group of rows: the only pass over them."""
        return self._sums.of_groups(self._engine, self._data, self._shift, groups, count)

    def require_all_values(self, train: State) -> None:
        """Raise Unsupported for rows in which an encoder would miss a value that it has to know, or all of a column."""
        self._sums.require_numbers(train)
        codes = [given for part in self._sums.parts for given in part.inputs if given.dictionary is not None]
        first = self._sums.basis.parts[0].codes.values()
        for place, given in zip(first, codes, strict=True):
            assert given.dictionary is not None
            counts = train[0][ONE, place : place + len(given.dictionary.values)]
            if given.dictionary.strict and not counts.all():
                raise Unsupported(f"a training set has not all values of {given.key}, which an encoder has to know")

    def require_spread(self, train: State, held_out: State) -> None:
        """Raise Unsupported where rows lie so far from the shift that a variance would be the rounding of others."""
        table, target = self._sums.basis.parts
        far = self._sums.far_from_shift(train, table)
        if far:
            raise Unsupported(
                f"a training set has nearly one value, which other rows are far from, of {', '.join(far)}"
            )
        if self._sums.far_from_shift(train, target) or (
            self._score == "r2" and self._sums.far_from_shift(held_out, target)
        ):
            raise Unsupported("the target is nearly the same for all rows of a fold, and far from that of other rows")

    def validate(self, train: State, held_out: State, penalties: Array) -> Array:
        """The score of each penalty on rows with this state, fitted to others. Raises Unsupported where it has none."""
        scores = self._run(VALIDATE, *train, *held_out, penalties)[0]
        if not np.isfinite(scores).all():
            raise Unsupported("columns are nearly sums of others in a training set, or the target is the same for all")
        errors = {"neg_mean_squared_error": -scores, "neg_root_mean_squared_error": scores**2}.get(self._score)
        least = LEAST_ERROR * self._sums.squares(held_out, self._sums.basis.parts[1])
        if errors is not None and (errors < least).any():
            raise Unsupported("the model is nearly exact, so that its error is the rounding of sums")
        return scores

    def fit(self, state: State, penalty: Array, params: Mapping[str, Any]) -> Any:
        """The estimator with these parameters, and the attributes that its fit to rows with this state would give."""
        results = iter(self._run(FIT, *state, penalty))
        fitted = self._fitted.set_params(**params)
        counterparts = dict(fitted_parts(self.estimator, fitted))
        for learned in self.training.learned:
            own = {name: np.asarray(next(results)) for name in learned.vectors}
            learned.finish(counterparts[id(learned.estimator)], own, len(self._data))
        Regression.finish(last_of(fitted), next(results), next(results), [*results])
        return fitted

    def _run(self, name: str, *inputs: Array) -> list[Array]:
        return evaluate_function(self.training.module, name, [self._shift, *inputs], self.training.parameters)


def fitted_regression(estimator: Any, data: RowsAndTarget, engine: Engine) -> Any:
    """A clone of an estimator that is fitted to all rows. Raises Unsupported."""
    penalty = np.full(1, penalty_of(estimator, {}))
    learner = Learner(clone(estimator), data, 1, "r2", engine)
    [state] = learner.states(np.zeros(len(data), int), 1)
    learner.require_all_values(state)
    return learner.fit(state, penalty, {})


def penalty_name(estimator: Any) -> str:
    return f"{estimator.steps[-1][0]}__alpha" if is_exactly(estimator, Pipeline) else "alpha"


def penalty_of(estimator: Any, candidate: Mapping[str, Any]) -> float:
    """The penalty of a candidate; 0 for what has none. Raises Unsupported for one that is no number above 0."""
    last = last_of(estimator)
    if not any(is_exactly(last, type_) for type_ in PENALIZED):
        return 0.0
    value: Any = candidate.get(penalty_name(estimator), last.alpha)
    if np.ndim(value) or np.asarray(value).dtype.kind not in "fiu" or not value > 0:
        raise Unsupported(f"alpha={value!r} is no number above 0")
    return float(value)
