"""Searches over the penalties of a linear model, from sums over the rows of each fold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.learner import Learner, penalty_name, penalty_of
from tilework.frontends.sklearn.optimized import Optimized
from tilework.frontends.sklearn.sums import SUMS
from tilework.frontends.sklearn.training import SCORES
from tilework.frontends.sklearn.training_data import one_target
from tilework.frontends.sklearn.untyped import check_cv, clone, is_classifier, is_exactly
from tilework.runtime.pipelines.columns import is_partitioned
from tilework.runtime.pipelines.folding import State, joined, states_of_others


class OptimizedSearch(Optimized):
    """A search that computes from sums what it can: everything that is asked of it is as scikit-learn's."""

    def _fit(self, rows: Any, target: Any, params: Mapping[str, Any]) -> str:
        search = self.fitted
        score = _score_of(search, target, params)
        data = self._engine.rows_and_target(rows, target)
        splitter = check_cv(search.cv, data.target, classifier=is_classifier(search.estimator))
        splits = list(splitter.split(np.zeros((len(data), 1)) if is_partitioned(rows) else rows, data.target))
        folds = _folds(splits, len(data))
        candidates = _candidates(search)
        scores = np.empty((len(candidates), len(splits)))
        begun = time.perf_counter()
        learners: list[tuple[Learner, list[int], State]] = []
        for base, places in _by_penalty(search.estimator, candidates):
            estimator = clone(search.estimator).set_params(**base)
            penalties = np.array([penalty_of(estimator, candidates[i]) for i in places], np.float64)
            learner = Learner(estimator, data, len(places), score, self._engine)
            states = learner.states(folds, len(splits))
            for split, train in enumerate(states_of_others(states)):
                learner.require_all_values(train)
                learner.require_spread(train, states[split])
                scores[places, split] = learner.validate(train, states[split], penalties)
            learners.append((learner, places, reduce(joined, states)))
        spent = (time.perf_counter() - begun) / scores.size
        sizes = [len(test) for _, test in splits]
        out = [_outcome(score, spent, size) for row in scores for score, size in zip(row, sizes, strict=True)]
        self._publish(candidates, out, len(splits), learners)
        data.derived.keep()
        sums = "sums of products of each fold's rows"
        fits = f"{scores.size} fits and scores, and those of all their preprocessing, follow from {sums}"
        taken = data.derived.taken
        kept = f"; kept from a fit before: {', '.join(sorted({*taken}))}" if taken else ""
        return f"{fits}: {len(learners) - taken.count(SUMS)} pass(es) over the rows{kept}"

    def _publish(
        self, candidates: list[Any], out: list[Any], splits: int, learners: list[tuple[Learner, list[int], State]]
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
        penalty = np.full(learner.penalties, penalty_of(learner.estimator, search.best_params_))
        name = penalty_name(search.estimator)  # the learner has all other parameters, of which some may be fitted steps
        own = {key: value for key, value in search.best_params_.items() if key == name}
        search.best_estimator_ = learner.fit(total, penalty, own)
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
    if isinstance(score, list | tuple | dict):
        raise Unsupported(f"several scores, scoring={score!r}: one is known at a time, of {', '.join(SCORES)}")
    if not isinstance(score, str) or score not in SCORES:
        raise Unsupported(f"scoring={search.scoring!r} is not among {', '.join(SCORES)}")
    if search.return_train_score:
        raise Unsupported("return_train_score=True")
    if callable(search.refit) or isinstance(search.refit, str):
        raise Unsupported(f"refit={search.refit!r}")
    one_target(target)
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
        trains, is_held_out = np.zeros((2, rows), bool)
        trains[train], is_held_out[test] = True, True
        is_partition = np.array_equal(trains, ~is_held_out) and len(train) + len(test) == rows
        if (folds[test] >= 0).any() or not is_partition:
            raise Unsupported("the splits of cv are no partition of the rows into folds")
        folds[test] = number
    if (folds < 0).any() or len(splits) < 2 or np.bincount(folds).min() < 2:
        raise Unsupported("the splits of cv are no partition of the rows into folds of two rows or more")
    return folds


def _by_penalty(estimator: Any, candidates: list[Any]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Candidates that differ in the penalty alone: what else they say, and which they are."""
    name = penalty_name(estimator)
    groups: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for i, candidate in enumerate(candidates):
        rest = {key: value for key, value in candidate.items() if key != name}
        groups.setdefault(repr(sorted(rest.items(), key=str)), (rest, []))[1].append(i)
    yield from groups.values()


def _outcome(score: float, seconds: float, rows: int) -> dict[str, Any]:
    """What scikit-learn notes of one fit and score."""
    return {
        "test_scores": float(score),
        "fit_time": seconds,
        "score_time": 0.0,
        "n_test_samples": rows,
        "fit_error": None,
    }
