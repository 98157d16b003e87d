"""Searches over the penalties of a linear model, from sums over the rows of each fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from tilework.analysis.statistics_basis import ONE, Basis
from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.library import check_cv, clone, is_classifier, is_exactly, issparse
from tilework.frontends.sklearn.optimized import Optimized
from tilework.frontends.sklearn.programs import Compile, Recent, alone, key_of, optimized
from tilework.frontends.sklearn.steps.composed import fitted_parts
from tilework.frontends.sklearn.training import FIT, SCORES, VALIDATE, Training, import_training, predictor_of
from tilework.frontends.sklearn.training_data import RowsAndTarget
from tilework.interpreters.graph import evaluate_function, find_function
from tilework.runtime.module import Module
from tilework.runtime.pipelines.columns import taken
from tilework.runtime.pipelines.folding import group_sums, sums_of_others
from tilework.runtime.pipelines.interface import Input
from tilework.transforms.matrix.split_statistics import ROWS


@dataclass(frozen=True)
class Lowered:
    """The programs of an estimator once they are on sums, and what they are of data that are there."""

    estimator: Any
    training: Training
    basis: Basis
    native: Module

    def fits(self, data: RowsAndTarget) -> bool:
        """Whether these data have the same columns, with the same values and numbers missing in the same ones."""
        if (data.keys, data.dtypes) != (self.training.keys, self.training.dtypes):
            return False
        return all(_is_as(given, data) for part in self.training.parts for given in part.inputs)


def _is_as(given: Input, data: RowsAndTarget) -> bool:
    if given.dictionary is not None:
        return given.dictionary.values == data.encoded(given.key).ordered
    return given.optional == data.is_incomplete(given.key)


_LOWERED = Recent[bytes, Lowered](32)
"""Programs that have been made in this process, by what they were made of besides data."""


def lowered(estimator: Any, data: RowsAndTarget, penalties: int, score: str, compile_: Compile) -> Lowered:
    """The programs of an estimator for data, penalties and a score. Raises Unsupported."""
    key = key_of(estimator, penalties, score)
    found = None if key is None else _LOWERED.get(key)
    if found is None or not found.fits(data):
        found = _lowered(estimator, data, penalties, score, compile_)
        if key is not None:
            _LOWERED.put(key, found)
    return found


def _lowered(estimator: Any, data: RowsAndTarget, penalties: int, score: str, compile_: Compile) -> Lowered:
    training = import_training(estimator, data, penalties, score)
    optimized("optimize-training", training.module)
    rows = find_function(training.module, ROWS)
    assert rows is not None
    return Lowered(estimator, training, Basis.of(list(rows.function_type.inputs)[:-1]), compile_(alone(rows)))


class Learner:
    """An estimator that learns from data that are there, by sums over rows. Raises Unsupported."""

    def __init__(self, estimator: Any, data: RowsAndTarget, penalties: int, score: str, compile_: Compile):
        programs = lowered(estimator, data, penalties, score, compile_)
        self.estimator, self.training = programs.estimator, programs.training
        self.penalties = penalties
        self._data, self._basis, self._native = data, programs.basis, programs.native
        self._shift = self._places_of(data.shifts(self.training.parts))
        places = data.sample_places(self.training.parts)
        rows, target = taken(data.frame, places), data.target[places]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few rows may be too few for the model, whose numbers are replaced
            self._fitted = clone(self.estimator).fit(rows, target)
            if is_exactly(self._fitted, Pipeline) and issparse(self._fitted[:-1].transform(rows)):
                raise Unsupported("Ridge finds the fit to a sparse matrix by iterations, up to its tol")

    def _places_of(self, shift: list[Array]) -> Array:
        """The shift of each number of the basis."""
        placed = np.zeros((self._basis.size, 1))
        flat = np.concatenate(shift)
        placed[[place for part in self._basis.parts for place in part.values.values()], 0] = flat
        return placed

    def sums(self, groups: Array, count: int) -> list[Array]:
        """The sums over each group of rows: the only pass over them."""

        def native(arrays: Any) -> Array:
            made = self._native(*arrays, self._shift)
            assert isinstance(made, np.ndarray)
            return made

        return group_sums(self._data.blocks(self.training.parts), groups, count, native)

    def require_all_values(self, train: Array) -> None:
        """Raise Unsupported for sums of rows in which an encoder would miss a value that it has to know."""
        codes = [given for part in self.training.parts for given in part.inputs if given.dictionary is not None]
        first = self._basis.parts[0].codes.values()
        for place, given in zip(first, codes, strict=True):
            assert given.dictionary is not None
            counts = train[ONE, place : place + len(given.dictionary.values)]
            if given.dictionary.strict and not counts.all():
                raise Unsupported(f"a training set has not all values of {given.key}, which an encoder has to know")

    def validate(self, train: Array, held_out: Array, penalties: Array) -> Array:
        """The score of each penalty on rows with these sums, fitted to others."""
        return self._run(VALIDATE, train, held_out, penalties)[0]

    def fit(self, sums: Array, penalty: Array, params: Mapping[str, Any]) -> Any:
        """The estimator with these parameters, and the attributes that its fit to rows with these sums would give."""
        *vectors, coef, intercept = self._run(FIT, sums, penalty)
        fitted = self._fitted.set_params(**params)
        counterparts = dict(fitted_parts(self.estimator, fitted))
        left = iter(vectors)
        for learned in self.training.learned:
            own = {name: np.asarray(next(left)) for name in learned.vectors}
            learned.finish(counterparts[id(learned.estimator)], own, len(self._data))
        last: Any = predictor_of(fitted)
        last.coef_ = coef[0]
        last.intercept_ = float(intercept[0]) if last.fit_intercept else 0.0
        return fitted

    def _run(self, name: str, *inputs: Array) -> list[Array]:
        return evaluate_function(self.training.module, name, [self._shift, *inputs], self.training.parameters)


class OptimizedSearch(Optimized):
    """A search that computes from sums what it can: everything that is asked of it is as scikit-learn's."""

    def _fit(self, rows: Any, target: Any, params: Mapping[str, Any]) -> str:
        search = self.fitted
        score = _score_of(search, target, params)
        data = RowsAndTarget(rows, target)
        splitter = check_cv(search.cv, data.target, classifier=is_classifier(search.estimator))
        splits = list(splitter.split(rows, data.target))
        folds = _folds(splits, len(data))
        candidates = _candidates(search)
        scores = np.empty((len(candidates), len(splits)))
        begun = time.perf_counter()
        learners: list[tuple[Learner, list[int], Array]] = []
        for base, places in _by_penalty(search.estimator, candidates):
            penalties = np.array([_penalty(search.estimator, candidates[i]) for i in places], np.float64)
            learner = Learner(clone(search.estimator).set_params(**base), data, len(places), score, self._compile)
            sums = learner.sums(folds, len(splits))
            for split, train in enumerate(sums_of_others(sums)):
                learner.require_all_values(train)
                scores[places, split] = learner.validate(train, sums[split], penalties)
            learners.append((learner, places, np.sum(sums, axis=0)))
        spent = (time.perf_counter() - begun) / scores.size
        sizes = [len(test) for _, test in splits]
        out = [_outcome(score, spent, size) for row in scores for score, size in zip(row, sizes, strict=True)]
        self._publish(candidates, out, len(splits), learners)
        kept = "sums of products of each fold's rows"
        fits = f"{scores.size} fits and scores, and those of all their preprocessing, follow from {kept}"
        return f"{fits}: {len(learners)} pass(es) over the rows"

    def _publish(
        self, candidates: list[Any], out: list[Any], splits: int, learners: list[tuple[Learner, list[int], Array]]
    ) -> None:
        """Set what GridSearchCV sets."""
        search = self.fitted
        search.multimetric_ = False
        search.scorer_ = search._get_scorers()[0]  # noqa: SLF001
        search.n_splits_ = splits
        search.cv_results_ = search._format_results(candidates, splits, out)  # noqa: SLF001
        if not search.refit:
            return
        search.best_index_ = search._select_best_index(search.refit, "score", search.cv_results_)  # noqa: SLF001
        search.best_score_ = search.cv_results_["mean_test_score"][search.best_index_]
        search.best_params_ = search.cv_results_["params"][search.best_index_]
        begun = time.perf_counter()
        learner, total = next((le, total) for le, places, total in learners if search.best_index_ in places)
        penalty = np.full(learner.penalties, _penalty(search.estimator, search.best_params_))
        search.best_estimator_ = learner.fit(total, penalty, search.best_params_)
        search.refit_time_ = time.perf_counter() - begun
        if hasattr(search.best_estimator_, "feature_names_in_"):
            search.feature_names_in_ = search.best_estimator_.feature_names_in_


def _score_of(search: Any, target: Any, params: Mapping[str, Any]) -> str:
    """The score of a search. Raises Unsupported for what a search from sums does not do."""
    if not is_exactly(search, GridSearchCV) and not is_exactly(search, RandomizedSearchCV):
        raise Unsupported(f"a {type(search).__name__} is neither a GridSearchCV nor a RandomizedSearchCV")
    if params:
        raise Unsupported(f"fit is given {', '.join(params)}")
    score = "r2" if search.scoring is None else search.scoring
    if not isinstance(score, str) or score not in SCORES:
        raise Unsupported(f"scoring={search.scoring!r} is not among {', '.join(SCORES)}")
    if search.return_train_score:
        raise Unsupported("return_train_score=True")
    if callable(search.refit) or isinstance(search.refit, str):
        raise Unsupported(f"refit={search.refit!r}")
    if target is None or np.ndim(target) != 1 or np.asarray(target).dtype.kind not in "fiub":
        raise Unsupported("the target is not one number for each row")
    if is_exactly(search.estimator, Pipeline) and search.estimator.memory is not None:
        raise Unsupported("the pipeline is given a memory")
    return score


def _candidates(search: Any) -> list[Any]:
    """The parameters that a search tries; those that are drawn are drawn as scikit-learn draws them."""
    if is_exactly(search, GridSearchCV):
        return list(ParameterGrid(search.param_grid))
    return list(ParameterSampler(search.param_distributions, search.n_iter, random_state=search.random_state))


def _folds(splits: list[Any], rows: int) -> Array:
    """The fold that each row is held out in. Raises Unsupported unless each is in one, and all others train."""
    folds = np.full(rows, -1)
    for number, (train, test) in enumerate(splits):
        others = np.setdiff1d(np.arange(rows), test)
        if (folds[test] >= 0).any() or not np.array_equal(np.sort(train), others):
            raise Unsupported("the splits of cv are no partition of the rows into folds")
        folds[test] = number
    if (folds < 0).any() or len(splits) < 2 or np.bincount(folds).min() < 2:
        raise Unsupported("the splits of cv are no partition of the rows into folds of two rows or more")
    return folds


def _by_penalty(estimator: Any, candidates: list[Any]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Candidates that differ in the penalty alone: what else they say, and which they are."""
    name = _penalty_name(estimator)
    groups: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for i, candidate in enumerate(candidates):
        rest = {key: value for key, value in candidate.items() if key != name}
        groups.setdefault(repr(sorted(rest.items(), key=str)), (rest, []))[1].append(i)
    yield from groups.values()


def _penalty_name(estimator: Any) -> str:
    return f"{estimator.steps[-1][0]}__alpha" if is_exactly(estimator, Pipeline) else "alpha"


def _penalty(estimator: Any, candidate: Mapping[str, Any]) -> float:
    """The penalty of a candidate. Raises Unsupported for one that is no number."""
    last = predictor_of(estimator)
    if not is_exactly(last, Ridge):
        raise Unsupported(f"the fit of {type(last).__name__} is no sum over rows")
    value: Any = candidate.get(_penalty_name(estimator), last.alpha)
    if np.ndim(value) or np.asarray(value).dtype.kind not in "fiu" or not value > 0:
        raise Unsupported(f"alpha={value!r} is no number above 0")
    return float(value)


def _outcome(score: float, seconds: float, rows: int) -> dict[str, Any]:
    """What scikit-learn notes of one fit and score."""
    return {
        "test_scores": float(score),
        "fit_time": seconds,
        "score_time": 0.0,
        "n_test_samples": rows,
        "fit_error": None,
    }
